import { Type } from '@sinclair/typebox'
import { consentExportSchema, type SignedConsent } from '../../shared/consent/schema.ts'
import { nullable, pathParameter, type SchemaOf } from '../../shared/plugin/openapi.ts'
import type { AdminConsentView } from '../views/consents.ts'
import { consentQuery, type PageQuery } from './requests.ts'
import {
  type ListPage,
  listOf,
  type One,
  objectOf,
  type ReadRoute,
  route,
  type WithId,
  type WriteRoute,
} from './route.ts'

type Change = { post: WriteRoute<One<'consent', AdminConsentView>, WithId> }

/** The routes of consents below the prefix of `admin`, for Eden. */
export type ConsentRoutes = {
  consents: {
    get: ReadRoute<ListPage<'consents', AdminConsentView>, { query: PageQuery & { readonly state?: 'withdrawn' } }>
    ':id': {
      get: ReadRoute<One<'consent', AdminConsentView>, WithId>
      withdraw: Change
      delete: Change
      export: { get: ReadRoute<SignedConsent, WithId> }
    }
  }
}

const time = Type.String({ description: 'ISO 8601, in UTC' })
const count = Type.Integer({ minimum: 0 })

const act = {
  at: time,
  by: Type.Union([Type.Literal('person'), Type.Literal('owner'), Type.Literal('admin')]),
  user: nullable(Type.String({ description: 'Id of the user. Null: the person, or an admin at the command line' })),
  link_from: nullable(
    Type.String({ description: "Id of the user who has made the person's link. Null: the face verification" }),
  ),
}

const consentSchema: SchemaOf<AdminConsentView> = Type.Object(
  {
    group: Type.String({ description: 'Id of the group' }),
    owner: Type.String({ description: 'Id of its user, or of the last one' }),
    owner_name: nullable(Type.String({ description: 'Null: a user of a host app' })),
    status: Type.Union([
      Type.Literal('active'),
      Type.Literal('withdrawn'),
      Type.Literal('deleting'),
      Type.Literal('deleted'),
    ]),
    invitation: nullable(Type.Object({ verification: Type.String(), user: Type.String(), at: time })),
    verified_at: nullable(time),
    used_at: nullable(time),
    withdrawal: nullable(Type.Object(act)),
    deletion: nullable(
      Type.Object({
        ...act,
        ...{ assets_at: nullable(time), results_at: nullable(time), group_at: nullable(time) },
        ...{ assets: count, results: count, uses: count },
      }),
    ),
  },
  { title: 'AdminConsent' },
)

const shared = {
  parameters: [pathParameter('id', 'Id of a group of type LivenessFace, also of a deleted one')],
  success: objectOf('consent', consentSchema),
}

/** Elysia options of the routes of consents. */
export const adminConsentDocs = {
  list: route('read', {
    ...{ operationId: 'listConsents', summary: 'List the consents of persons, by the ids of their groups' },
    parameters: consentQuery,
    success: listOf('consents', consentSchema),
  }),
  get: route('read', { operationId: 'readConsent', summary: 'Get the consent of the person of a group', ...shared }),
  withdraw: route('write', {
    ...{ operationId: 'withdrawConsentFor', summary: 'Withdraw the consent of a person, for the person', ...shared },
  }),
  remove: route('write', {
    operationId: 'deleteConsentedDataFor',
    summary: 'Withdraw a consent and delete the assets, results and group, for the person',
    ...shared,
  }),
  export: route('read', {
    operationId: 'exportConsentFor',
    summary: 'Get a consent and its uses as a signed document',
    parameters: shared.parameters,
    success: consentExportSchema,
  }),
}
