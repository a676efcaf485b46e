import { type ErrorBody, jsonBody, pathParameter } from '../../shared/plugin/openapi.ts'
import type { Responses, Route } from '../../shared/plugin/plugin.ts'
import type { AuditEntryView, PendingGroupView, UsageRowView } from '../views.ts'
import { auditQuery, groupAdoptionSchema, type PageQuery, pageQuery, usageQuery } from './requests.ts'
import { type Done, done, type ListPage, listOf, type ReadErrors, route, type WriteErrors } from './route.ts'
import { auditEntrySchema, pendingGroupSchema, usageRowSchema } from './schemas.ts'

type Id = { params: { id: string } }

/** The routes of reports and of pending groups below the prefix of `admin`, for Eden. */
export type ReportRoutes = {
  usage: {
    get: Route<
      Responses<ListPage<'rows', UsageRowView>, ErrorBody, ReadErrors>,
      {
        query: PageQuery & {
          readonly since?: string
          readonly until?: string
          readonly user?: string
          readonly team?: string
          readonly token?: string
          readonly model?: string
          readonly kind?: 'text' | 'video'
          readonly group_by?: string
          readonly format?: 'json' | 'csv'
        }
      }
    >
  }
  audit: {
    get: Route<
      Responses<ListPage<'entries', AuditEntryView>, ErrorBody, ReadErrors>,
      {
        query: PageQuery & {
          readonly user?: string
          readonly action?: string
          readonly since?: string
          readonly until?: string
        }
      }
    >
  }
  groups: {
    pending: {
      get: Route<Responses<ListPage<'pending', PendingGroupView>, ErrorBody, ReadErrors>, { query: PageQuery }>
      ':id': {
        adopt: {
          post: Route<
            Responses<Done, ErrorBody, WriteErrors>,
            Id & { body: { readonly user: string; readonly group_id: string } }
          >
        }
        release: { post: Route<Responses<Done, ErrorBody, WriteErrors>, Id> }
      }
    }
  }
}

const pendingId = pathParameter('id', 'Id of what is pending')

/** Elysia options of each of these routes. */
export const reportDocs = {
  usage: route('read', {
    operationId: 'sumUsage',
    summary: 'Sum the usage of all users',
    description:
      'In the order day, user, token, model. Sums by team are for the team that the user was in. Names of what was deleted stay.',
    parameters: usageQuery,
    success: listOf('rows', usageRowSchema),
    csv: true,
  }),
  audit: route('read', {
    ...{ operationId: 'listAudit', summary: 'List the audit trail, newest first', parameters: auditQuery },
    success: listOf('entries', auditEntrySchema),
  }),
}

/** Elysia options of each route of pending groups. */
export const groupDocs = {
  pending: route('read', {
    operationId: 'listPendingGroups',
    summary: 'List group creations and renames whose outcome is not known, oldest first',
    parameters: pageQuery,
    success: listOf('pending', pendingGroupSchema),
  }),
  adopt: route('write', {
    operationId: 'adoptPendingGroup',
    summary: 'Give the group that the upstream has created to a user',
    parameters: [pendingId],
    requestBody: jsonBody(groupAdoptionSchema),
    success: done,
  }),
  release: route('write', {
    operationId: 'releasePendingGroup',
    summary: 'Forget a creation or renaming: no group came of it',
    parameters: [pendingId],
    success: done,
  }),
}
