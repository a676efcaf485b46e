import { type AnyElysia, Elysia } from 'elysia'
import { type Audit, noAudit } from '../shared/audit.ts'
import { type BackgroundOption, backgroundOf } from '../shared/background/background.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { linkSecretOf } from '../shared/consent/link.ts'
import { createErrorHandler, decodedParameter, type ErrorsOption, routesOf } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { asPlainText } from '../shared/http/headers.ts'
import { noStoreJson } from '../shared/http/no-store.ts'
import { publicBase } from '../shared/http/origin.ts'
import { type Identify, requireIdentity } from '../shared/identity/identify.ts'
import { checkAbove0, checkCollaborator, checkIdentify, checkPath, checkPublicUrl } from '../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { type Log, noLog, problemBody } from '../shared/problem.ts'
import type { Upstream, VerificationKind } from '../upstream-proxy/index.ts'
import type { UsageLimits } from '../usage-limits/index.ts'
import { personDocs } from './consent/openapi.ts'
import { type PersonConsentOptions, personRoutes } from './consent/person-routes.ts'
import type { FaceContext } from './context.ts'
import { arkDriver } from './drivers/ark.ts'
import { type CreateFaceDriver, noneDriver } from './drivers/driver.ts'
import { restDriver } from './drivers/rest.ts'
import { type FaceRoutes, faceDocs } from './openapi.ts'
import { type ReconcileVerificationsOptions, reconcileVerifications } from './reconcile.ts'
import { withReservation } from './reservation.ts'
import type { FaceGroupStore, VerificationStore } from './store.ts'
import { findOwnTask } from './task-lease.ts'

export type { Audit, AuditEvent } from '../shared/audit.ts'
export type { ErrorsOption } from '../shared/http/error-handler.ts'
export type { Identify, Identity } from '../shared/identity/identify.ts'
export type { VerificationKind } from '../upstream-proxy/index.ts'
export type { PersonConsentOptions } from './consent/person-routes.ts'
export type { CreatedVerification, FaceRoutes, VerificationState } from './openapi.ts'
export type { ReconcileVerificationsOptions } from './reconcile.ts'
export { isEnded, type StatusPath, statusPathTo, type VerificationStatus, verificationStatuses } from './status.ts'
export type { FaceGroupStore, NewVerification, Verification, VerificationStore } from './store.ts'

export interface FaceVerificationOptions {
  /** The client of the asset library. Its `faceVerification` chooses the driver. */
  readonly upstream: Upstream
  readonly store: VerificationStore & FaceGroupStore
  /**
   * Identifies the caller by a session: `identifyBySession`, or a function of the host app. Not `identifyByToken`:
   * these routes accept no API tokens.
   */
  readonly identify: Identify
  /**
   * The address that browsers use for this app. A function when the address is known only after the start.
   *
   * `ark` redirects phones to a page below it, at the path of the request that creates the task: also below the
   * prefixes of host apps around this plugin. What a proxy or Elysia's `mount` removes from the path must be part of
   * this address.
   */
  readonly publicUrl: string | (() => string)
  /**
   * The account of the upstream for the verifications of a user: `assetLibrary(…).accountFor`. Default: the first, or
   * the only one.
   */
  readonly accountFor?: ((user: string) => Promise<string | undefined>) | undefined
  /**
   * Throws when a page of another origin sends the request, as `requireSameOrigin` of `web-session` does. Default: no
   * check, for hosts without cookies.
   */
  readonly requireSameOrigin?: (request: Request) => void
  /** Base path of the routes. Default `/api/media/face-verifications`. */
  readonly prefix?: string
  /**
   * The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default:
   * `problemBody('media_proxy_error')`.
   */
  readonly errors?: ErrorsOption
  /**
   * Lifetime of a task.
   *
   * With `ark`, the upstream may name a shorter one; with `rest`, its `expires_at` takes precedence. Milliseconds,
   * default 30 minutes.
   */
  readonly taskMs?: number
  /** How long a process holds the lease of a task while it polls the upstream. Milliseconds, default 45,000. */
  readonly leaseMs?: number
  /** Verifications that one user may have open at once; one more gets 429. Default 5. */
  readonly maxOpen?: number
  /**
   * Limits on the groups that users have: a verification above one is rejected with 429, because it makes a group.
   * Default: none.
   */
  readonly usageLimits?: UsageLimits | undefined
  /**
   * Records the consent of each person who was verified, and serves the pages on which the person withdraws it: `ark`
   * shows the link when the person comes back. Default: no ledger.
   */
  readonly consents?: PersonConsentOptions | undefined
  /** Largest request body in bytes; a larger one gets 413. Default 1 MiB. */
  readonly maxBodyBytes?: number
  readonly clock?: Clock
  readonly log?: Log
  /**
   * Receives an event for every verification created, every group recorded and every rejected request. Default: no
   * audit.
   */
  readonly audit?: Audit
  /**
   * Polls open tasks. Undefined: this process does not; if none does, a verification is lost when the user closes the
   * tab.
   */
  readonly background?: BackgroundOption
  /** Options of that polling. */
  readonly polling?: ReconcileVerificationsOptions
}

/** The driver for each way in which an upstream verifies faces. */
const drivers: Readonly<Record<VerificationKind, CreateFaceDriver>> = {
  rest: restDriver,
  ark: arkDriver,
  none: noneDriver,
}

const documentedErrors = problemBody('media_proxy_error')

/**
 * Face verification: routes to start a verification and to query its status. Both need a session.
 *
 * With some upstreams (`ark`) it also serves the callback page, to which the upstream redirects the phone's browser.
 * That page needs no session.
 *
 * Throws TypeError for a wrong `prefix`, `identify`, `publicUrl` or `maxOpen`, without `upstream` or `store`, and when
 * `taskMs`, `leaseMs` or `maxBodyBytes` is not above 0.
 *
 * @example
 * const { gateway, upstream } = assetLibrary({ kind, store, identify, secrets })
 * new Elysia().use(gateway).use(faceVerification({ upstream, store, identify, publicUrl, background: true }))
 */
export const faceVerification = <const Prefix extends string = '/api/media/face-verifications'>(
  options: FaceVerificationOptions & { readonly prefix?: Prefix },
): RoutesPlugin<RoutesAt<Prefix, FaceRoutes>> => {
  const { upstream, store, identify, publicUrl } = options
  const { clock = systemClock, log = noLog, audit = noAudit } = options
  const { taskMs = 1_800_000, leaseMs = 45_000, maxOpen = 5, maxBodyBytes = 2 ** 20 } = options
  checkAbove0({ taskMs, leaseMs, maxBodyBytes })
  if (!(maxOpen >= 1)) throw new TypeError('maxOpen must be at least 1')
  const prefix = checkPath('prefix', options.prefix ?? '/api/media/face-verifications')
  checkCollaborator('upstream', upstream)
  checkCollaborator('store', store)
  checkIdentify(identify)
  checkPublicUrl(publicUrl)
  const context: FaceContext = {
    upstream,
    store,
    clock,
    log,
    audit,
    taskMs,
    leaseMs,
    maxOpen,
    maxBodyBytes,
    accountFor: options.accountFor ?? (async () => upstream.accounts?.names[0]),
    usageLimits: options.usageLimits,
    consents: options.consents?.store,
  }
  // The path by which Elysia has found the route, with what host apps put before it. That of the URL may be another
  // one: by default Elysia searches the path from the 11th character on, so that a short Host header puts segments
  // before it. A slash at the end matches the route too.
  const callbackUrl = (path: string) => `${publicBase(publicUrl)}${path.replace(/\/$/, '')}/callback`
  const kind = upstream.faceVerification
  const driver = drivers[kind](context)
  const background = backgroundOf(options.background)
  if (background) reconcileVerifications(context, kind, driver.poll, background, options.polling)

  const create = async (request: Request, path: string): Promise<Response> => {
    const { user, token } = await requireIdentity(identify, request)
    options.requireSameOrigin?.(request)
    const caller = { user, token, signal: request.signal }
    return asPlainText(
      await withReservation(context, caller, (reserved) => driver.create(request, user, reserved, callbackUrl(path))),
    )
  }

  const query = async (request: Request, id: string): Promise<Response> => {
    const { user } = await requireIdentity(identify, request)
    return asPlainText(await driver.query(await findOwnTask(context, kind, user, id), request))
  }

  const errors = createErrorHandler({ ...options, errors: options.errors ?? documentedErrors, finish: asPlainText })
  const routes: AnyElysia = new Elysia({ name: 'sluice/face-verification', seed: seedOf(options), prefix })
    .post(
      '',
      async ({ request, path, set }) => errors.handle({ request, set }, () => create(request, path)),
      faceDocs.create,
    )
    .get('/:verification_id', routesOf(errors)(query, 'verification_id'), faceDocs.query)
  const { callback } = driver
  const { consents } = options
  const consentUrl = (path: string, secret: string) =>
    `${publicBase(publicUrl)}${path.replace(/\/(?:callback|consent)\/[^/]+(?:\/[^/]*)?$/, '')}/consent/${secret}`
  if (callback) {
    const page = (request: Request, state: string, path: string) =>
      callback(request, state, consents && consentUrl(path, linkSecretOf(state)))
    routes.get(
      '/callback/:state',
      ({ request, params, path }) => page(request, decodedParameter(params.state), path),
      faceDocs.callback,
    )
  }
  if (consents) {
    const person = personRoutes(consents, { audit, clock, log, urlOf: consentUrl })
    routes
      .get('/consent-keys', () => noStoreJson({ keys: person.keys }), personDocs.keys)
      .get(
        '/consent/:secret',
        ({ request, params, path }) => person.get(request, decodedParameter(params.secret), path),
        personDocs.get,
      )
      .post(
        '/consent/:secret/withdraw',
        ({ request, params, path }) => person.withdraw(request, decodedParameter(params.secret), path),
        personDocs.withdraw,
      )
      .post(
        '/consent/:secret/delete',
        ({ request, params, path }) => person.remove(request, decodedParameter(params.secret), path),
        personDocs.remove,
      )
      .get(
        '/consent/:secret/export',
        async ({ request, params, set }) =>
          errors.handle({ request, set }, () => person.export(request, decodedParameter(params.secret))),
        personDocs.export,
      )
  }
  return routes.use(fallbackRoutes(errors))
}
