import { type AnyElysia, Elysia } from 'elysia'
import { createToken, hashToken, tokenStart } from '../api-token/index.ts'
import { createIdempotency, type IdempotencyStore } from '../idempotency/index.ts'
import { type Audit, noAudit } from '../shared/audit.ts'
import type { Awaitable } from '../shared/awaitable.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { createDocumentSigner } from '../shared/consent/signature.ts'
import { createErrorHandler, type ErrorsOption, type HandlerContext } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { type PublicUrl, publicBase } from '../shared/http/origin.ts'
import type { Identify } from '../shared/identity/identify.ts'
import { createTextSigner } from '../shared/identity/signed-text.ts'
import {
  checkCollaborator,
  checkElysia,
  checkIdentify,
  checkPath,
  checkPublicUrl,
  checkSecrets,
  signingSecret,
} from '../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import type { Log } from '../shared/problem.ts'
import { type LimitReport, parseLimits } from '../usage-limits/index.ts'
import { hashPassword } from '../web-session/index.ts'
import type { ActivityView, AlertsView } from './activity.ts'
import { type AssetBatchRoutes, assetBatchDocs } from './docs/asset-batches.ts'
import { adminConsentDocs, type ConsentRoutes } from './docs/consents.ts'
import { adminTokenDocs, type PeopleRoutes, teamDocs, userDocs } from './docs/people.ts'
import {
  groupDocs,
  type ReportRoutes,
  reportDocs,
  type SystemRoutes,
  systemDocs,
  videoTaskDocs,
} from './docs/reports.ts'
import { type Area, createAccess } from './http/access.ts'
import { assetBatchRoutes } from './http/asset-batches.ts'
import type { AdminCall, AdminHandler } from './http/call.ts'
import { adminConsentRoutes } from './http/consents.ts'
import { createOnceWith } from './http/create-once.ts'
import { teamRoutes, tokenRoutes, userRoutes } from './http/people.ts'
import {
  auditExportRoute,
  auditRoute,
  auditVerificationRoute,
  groupRoutes,
  usageRoute,
  videoTaskRoutes,
} from './http/reports.ts'
import { systemRoutes } from './http/system.ts'
import { createOperations, type OperationsStore } from './operations/operations.ts'
import { importRoute } from './user-import/route.ts'
import { type AdminVideos, noVideos } from './videos.ts'
import type { SettingsView, UpstreamView } from './views/system.ts'

export type { Audit, AuditEvent } from '../shared/audit.ts'
export type { ErrorsOption } from '../shared/http/error-handler.ts'
export type { Identify, Identity } from '../shared/identity/identify.ts'
export type { Role, Scope } from '../shared/identity/scopes.ts'
export type { ActivityCounts, ActivityView, AlertsView, AlertView } from './activity.ts'
export type { AdminAssetBatch, AssetBatchFilter, AssetBatchRecords } from './asset-batches.ts'
export type { AuditPageStore, AuditRecord, AuditVerification } from './audit-pages.ts'
export type { AdminConsent, ConsentFilter, ConsentRecords } from './consents.ts'
export type { AddedUser, InvitationLink, IssuedTokenResponse, PeopleRoutes } from './docs/people.ts'
export type { ReportRoutes, SystemRoutes } from './docs/reports.ts'
export type { AdminTokenRequest, NewUserRequest, TeamRequest, UserChangeRequest } from './docs/requests.ts'
export type { OperationsStore } from './operations/operations.ts'
export type { PendingGroup, PendingGroupStore } from './pending-groups.ts'
export type {
  AddUserFailure,
  AdminStore,
  AdminToken,
  AdminUser,
  ChangeConditions,
  ChangeUserOutcome,
  NewAdminToken,
  NewAdminUser,
  NewInvitation,
  PageOf,
  PagePlace,
  PageRequest,
  Team,
  TokenChange,
  TokenConditions,
  TokenFilter,
  TokenOutcome,
  TokenRotation,
  TokenState,
  UserChange,
  UserFilter,
} from './store.ts'
export type {
  UsageDimension,
  UsageSumFilter,
  UsageSumKey,
  UsageSumRequest,
  UsageSumStore,
  UsageTotal,
} from './usage-sums.ts'
export type { ImportedUser, RejectedUser, UserImportStore } from './user-import/store.ts'
export type { AdminVideo, AdminVideoFilter, AdminVideos, VideoTaskStatus } from './videos.ts'
export type { AdminAssetBatchView } from './views/asset-batches.ts'
export type { AuditEntryView, AuditVerificationView } from './views/audit.ts'
export type { AdminConsentView } from './views/consents.ts'
export type { PendingGroupView, VideoView } from './views/decisions.ts'
export type { TeamView, TokenView, UserView } from './views/people.ts'
export type { SettingsView, UpstreamView } from './views/system.ts'
export type { UsageRowView } from './views/usage.ts'

/** Options of `admin`. */
export interface AdminOptions {
  readonly store: OperationsStore
  /**
   * Identifies the caller by a session, a token, or both. Only an identity of the role `admin` is admitted: without
   * `token`, or with the scope `admin` or `provision`. What an identity does not say is not granted.
   */
  readonly identify: Identify
  /** The URL that browsers use. Changes that a cookie authenticates must come from a page of its origin. */
  readonly publicUrl: PublicUrl
  /**
   * Sign the cursors of lists, and exported consents as those of `assetLibrary`: texts of at least 16 characters. The
   * first signs, all verify.
   */
  readonly secrets: readonly string[]
  /** Base path of the routes. Default `/api/admin`. */
  readonly prefix?: string
  /** Keeps `Idempotency-Key`s, so that a repeated create creates nothing. Default: the header is ignored. */
  readonly idempotency?: IdempotencyStore
  /** The link with the secret of an invitation. Default: `{publicUrl}/console#/invitation/{secret}`. */
  readonly invitationUrl?: (secret: string) => string
  /** Reports the limits of a user. Default: there are none. */
  readonly limits?: (user: string) => Promise<readonly LimitReport[]>
  /** The video tasks of all users. Default: there are none. */
  readonly videos?: AdminVideos
  /** Reports the state of each upstream. Default: there are none. */
  readonly upstreams?: (() => Awaitable<readonly UpstreamView[]>) | undefined
  /** The settings in force, by variable. Secrets must be `set` or `unset`. Default: there are none. */
  readonly settings?: () => SettingsView
  /** What the server has done lately. Default: the route responds with 404. */
  readonly activity?: (() => Awaitable<ActivityView>) | undefined
  /** The alerts of the server's rules. Default: there are none. */
  readonly alerts?: (() => Awaitable<AlertsView>) | undefined
  /** The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `problemBody()`. */
  readonly errors?: ErrorsOption
  /** Default: the system clock. */
  readonly clock?: Clock
  readonly log?: Log
  /** Receives an event for each change, and for each look at data of others. Default: none. */
  readonly audit?: Audit
}

/** The routes of `admin` below its prefix, for Eden. */
export type AdminRoutes = PeopleRoutes & ReportRoutes & SystemRoutes & ConsentRoutes & AssetBatchRoutes

/**
 * The routes of operators: users, teams, tokens, usage, the audit trail, groups and videos that need a decision, the
 * state of the upstreams, and the settings.
 *
 * A caller who is not known gets 401 for every path below the prefix, and every other one who is no admin 403. Throws
 * TypeError for a wrong `prefix`, `store`, `identify`, `publicUrl` or `secrets`.
 *
 * @example
 * new Elysia().use(admin({ store, identify, publicUrl, secrets }))
 */
export const admin = <const Prefix extends string = '/api/admin'>(
  options: AdminOptions & { readonly prefix?: Prefix },
): RoutesPlugin<RoutesAt<Prefix, AdminRoutes>> => {
  checkElysia(Elysia)
  const prefix = checkPath('prefix', options.prefix ?? '/api/admin')
  const { store, identify, publicUrl, secrets, audit = noAudit, clock = systemClock, log } = options
  checkCollaborator('store', store)
  checkIdentify(identify)
  checkPublicUrl(publicUrl)
  checkSecrets(secrets)
  const { invitationUrl = (secret: string) => `${publicBase(publicUrl)}/console#/invitation/${secret}` } = options
  const consentSigner = createDocumentSigner(secrets)
  const operations = createOperations(
    store,
    {
      videos: options.videos ?? noVideos,
      upstreams: options.upstreams,
      settings: options.settings,
      activity: options.activity,
      alerts: options.alerts,
      consentSigner: () => consentSigner,
    },
    {
      clock,
      hashPassword,
      createToken,
      hashToken,
      tokenStart,
      parseLimits,
    },
  )
  const signer = createTextSigner(secrets)
  const idempotency = options.idempotency && createIdempotency({ store: options.idempotency, clock, log })
  const createOnce = createOnceWith(idempotency, signingSecret(secrets), clock)
  const people = { ...operations, limits: options.limits, invitationUrl, createOnce, signer }
  const [users, teams, tokens] = [userRoutes(people), teamRoutes(people), tokenRoutes(people)]
  const groups = groupRoutes(operations.groups, signer)
  const assetBatches = assetBatchRoutes(operations.assetBatches, signer)
  const consents = adminConsentRoutes(operations.consents, signer)
  const videos = videoTaskRoutes(operations.videos, signer)
  const system = systemRoutes(operations.system)
  const errors = createErrorHandler(options)
  const access = createAccess({ identify, publicUrl, audit })

  /** The handler of a route: admits the caller first. */
  const of =
    (area: Area, handler: AdminHandler) =>
    async ({ request, params, set }: HandlerContext & Pick<AdminCall, 'params'>) =>
      errors.handle({ request, set }, async () => handler({ request, params, ...(await access(request, area)) }))

  const plugin: AnyElysia = new Elysia({ name: 'sluice/admin', seed: seedOf(options), prefix })
    .get('/users', of('people', users.list), userDocs.list)
    .post('/users', of('people', users.add), userDocs.add)
    .post('/users/import', of('operation', importRoute({ store, clock, createOnce })), userDocs.import)
    .get('/users/:id', of('people', users.get), userDocs.get)
    .patch('/users/:id', of('people', users.change), userDocs.change)
    .post('/users/:id/invitation', of('people', users.invite), userDocs.invite)
    .delete('/users/:id/sessions', of('people', users.endSessions), userDocs.endSessions)
    .get('/users/:id/limits', of('people', users.limits), userDocs.limits)
    .get('/users/:id/tokens', of('people', tokens.list), adminTokenDocs.list)
    .post('/users/:id/tokens', of('people', tokens.add), adminTokenDocs.add)
    .get('/teams', of('people', teams.list), teamDocs.list)
    .post('/teams', of('people', teams.add), teamDocs.add)
    .patch('/teams/:id', of('people', teams.change), teamDocs.change)
    .delete('/teams/:id', of('people', teams.remove), teamDocs.remove)
    .get('/tokens', of('people', tokens.listAll), adminTokenDocs.listAll)
    .patch('/tokens/:id', of('people', tokens.change), adminTokenDocs.change)
    .delete('/tokens/:id', of('people', tokens.revoke), adminTokenDocs.revoke)
    .post('/tokens/:id/rotate', of('people', tokens.rotate), adminTokenDocs.rotate)
    .get('/usage', of('operation', usageRoute(operations.usage, signer)), reportDocs.usage)
    .get('/audit', of('operation', auditRoute(operations.audit, signer)), reportDocs.audit)
    .get('/audit/verification', of('operation', auditVerificationRoute(operations.audit)), reportDocs.verification)
    .post('/audit/verification', of('operation', auditExportRoute(operations.audit)), reportDocs.exportVerification)
    .post('/groups/adopt', of('operation', groups.give), groupDocs.give)
    .get('/groups/pending', of('operation', groups.pending), groupDocs.pending)
    .post('/groups/pending/:id/adopt', of('operation', groups.adopt), groupDocs.adopt)
    .post('/groups/pending/:id/release', of('operation', groups.release), groupDocs.release)
    .get('/batches', of('operation', assetBatches.list), assetBatchDocs.list)
    .post('/batches/:id/cancel', of('operation', assetBatches.cancel), assetBatchDocs.cancel)
    .get('/consents', of('operation', consents.list), adminConsentDocs.list)
    .get('/consents/:id', of('operation', consents.get), adminConsentDocs.get)
    .post('/consents/:id/withdraw', of('operation', consents.withdraw), adminConsentDocs.withdraw)
    .post('/consents/:id/delete', of('operation', consents.remove), adminConsentDocs.remove)
    .get('/consents/:id/export', of('operation', consents.export), adminConsentDocs.export)
    .get('/videos', of('operation', videos.list), videoTaskDocs.list)
    .post('/videos/:id/adopt', of('operation', videos.adopt), videoTaskDocs.adopt)
    .post('/videos/:id/release', of('operation', videos.release), videoTaskDocs.release)
    .get('/upstreams', of('operation', system.upstreams), systemDocs.upstreams)
    .get('/settings', of('operation', system.settings), systemDocs.settings)
    .get('/activity', of('operation', system.activity), systemDocs.activity)
    .get('/alerts', of('operation', system.alerts), systemDocs.alerts)
    .use(fallbackRoutes(errors, undefined, (request) => access(request, 'operation')))
  return plugin
}
