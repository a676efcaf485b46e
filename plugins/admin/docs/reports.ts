import { Type } from '@sinclair/typebox'
import { jsonBody, pathParameter } from '../../shared/plugin/openapi.ts'
import type { ActivityView, AlertsView } from '../activity.ts'
import type { VideoTaskStatus } from '../videos.ts'
import type { AuditEntryView, AuditVerificationView } from '../views/audit.ts'
import type { PendingGroupView, VideoView } from '../views/decisions.ts'
import type { SettingsView, UpstreamView } from '../views/system.ts'
import type { UsageRowView } from '../views/usage.ts'
import {
  auditQuery,
  type GroupGiftRequest,
  groupAdoptionSchema,
  groupGiftSchema,
  type PageQuery,
  pageQuery,
  usageQuery,
  verificationQuery,
  videoAdoptionSchema,
  videoQuery,
} from './requests.ts'
import {
  type Done,
  done,
  type ListPage,
  listOf,
  type One,
  objectOf,
  type ReadRoute,
  route,
  type WithId,
  type WriteRoute,
} from './route.ts'
import {
  auditEntrySchema,
  pendingGroupSchema,
  settingsSchema,
  upstreamSchema,
  usageRowSchema,
  videoSchema,
} from './schemas.ts'
import { activitySchema, alertsSchema, verificationSchema } from './server-schemas.ts'

/** The routes of reports and of pending groups below the prefix of `admin`, for Eden. */
export type ReportRoutes = {
  usage: { get: ReadRoute<ListPage<'rows', UsageRowView>, { query: UsageQuery }> }
  audit: {
    get: ReadRoute<ListPage<'entries', AuditEntryView>, { query: AuditQuery }>
    verification: {
      get: ReadRoute<Verified, { query: { readonly head?: string } }, 409>
      post: WriteRoute<Verified, { query: { readonly head?: string }; body: string }>
    }
  }
  groups: {
    adopt: { post: WriteRoute<Done, { body: GroupGiftRequest }> }
    pending: {
      get: ReadRoute<ListPage<'pending', PendingGroupView>, { query: PageQuery }>
      ':id': {
        adopt: { post: WriteRoute<Done, WithId & { body: { readonly user: string; readonly group_id: string } }> }
        release: { post: WriteRoute<Done, WithId> }
      }
    }
  }
}

type Verified = One<'verification', AuditVerificationView>

type UsageQuery = PageQuery & {
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

type AuditQuery = PageQuery & {
  readonly user?: string
  readonly action?: string
  readonly since?: string
  readonly until?: string
}

/** The routes of videos, upstreams and settings below the prefix of `admin`, for Eden. */
export type SystemRoutes = {
  videos: {
    get: ReadRoute<
      ListPage<'videos', VideoView>,
      { query: PageQuery & { readonly user?: string; readonly status?: VideoTaskStatus | 'undecided' } }
    >
    ':id': {
      adopt: { post: WriteRoute<Done, WithId & { body: { readonly upstream_id: string } }> }
      release: { post: WriteRoute<Done, WithId> }
    }
  }
  upstreams: { get: ReadRoute<One<'upstreams', readonly UpstreamView[]>> }
  settings: { get: ReadRoute<One<'settings', SettingsView>> }
  activity: { get: ReadRoute<One<'activity', ActivityView>> }
  alerts: { get: ReadRoute<{ readonly success: true } & AlertsView> }
}

const videoId = pathParameter('id', 'Id of the task')

/** Elysia options of each route of videos. */
export const videoTaskDocs = {
  list: route('read', {
    ...{ operationId: 'listAllVideoTasks', summary: 'List the video tasks of all users, newest first' },
    parameters: videoQuery,
    success: listOf('videos', videoSchema),
  }),
  adopt: route('write', {
    operationId: 'adoptVideoTask',
    summary: 'Decide that an undecided task is a certain task of the upstream',
    parameters: [videoId],
    requestBody: jsonBody(videoAdoptionSchema),
    success: done,
  }),
  release: route('write', {
    ...{ operationId: 'releaseVideoTask', summary: 'Give an undecided task up: it fails', parameters: [videoId] },
    success: done,
  }),
}

/** Elysia options of the routes of upstreams and settings. */
export const systemDocs = {
  upstreams: route('read', {
    operationId: 'readUpstreams',
    summary: 'Read the state of each upstream, with its limits and slots',
    success: objectOf('upstreams', Type.Array(upstreamSchema)),
  }),
  settings: route('read', {
    ...{ operationId: 'readSettings', summary: 'Read the settings in force, by variable, without secrets' },
    success: objectOf('settings', settingsSchema),
  }),
  activity: route('read', {
    operationId: 'readActivity',
    summary: 'Read the requests and videos of the last minute, hours and days, of all processes',
    success: objectOf('activity', activitySchema),
  }),
  alerts: route('read', {
    operationId: 'readAlerts',
    summary: 'Read which alert rules would fire now',
    success: alertsSchema,
  }),
}

const pendingId = pathParameter('id', 'Id of what is pending')

/** Elysia options of each of these routes. */
export const reportDocs = {
  usage: route('read', {
    operationId: 'sumUsage',
    summary: 'Sum the usage of all users',
    description:
      'In the order day, user, token, model. Sums by team are for the team that the user was in. Deleted teams and tokens keep their names.',
    parameters: usageQuery,
    success: listOf('rows', usageRowSchema),
    csv: true,
  }),
  audit: route('read', {
    ...{ operationId: 'listAudit', summary: 'List the audit trail, newest first', parameters: auditQuery },
    success: listOf('entries', auditEntrySchema),
  }),
  verification: route('read', {
    operationId: 'verifyAudit',
    summary: 'Verify the HMACs of the whole audit trail, one verification at a time',
    parameters: verificationQuery,
    conflicts: true,
    success: objectOf('verification', verificationSchema),
  }),
  exportVerification: route('write', {
    operationId: 'verifyAuditExport',
    summary: 'Verify the HMACs of an exported audit trail, one verification at a time',
    description: 'The lines that `admin audit` prints, at most 16 MiB. It changes nothing.',
    parameters: verificationQuery,
    requestBody: { required: true, content: { 'application/x-ndjson': { schema: Type.String() } } },
    success: objectOf('verification', verificationSchema),
  }),
}

/** Elysia options of each route of groups. */
export const groupDocs = {
  give: route('write', {
    operationId: 'giveGroup',
    summary: 'Give a group of the upstream to a user',
    requestBody: jsonBody(groupGiftSchema),
    success: done,
  }),
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
