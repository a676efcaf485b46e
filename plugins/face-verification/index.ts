import { type AnyElysia, Elysia } from 'elysia'
import { type Audit, noAudit } from '../shared/audit.ts'
import { type RunUntil, signalOf } from '../shared/background.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { fallbackRoutes } from '../shared/fallback-routes.ts'
import { asPlainText } from '../shared/headers.ts'
import { type Identify, requireIdentity } from '../shared/identify.ts'
import { noStore } from '../shared/no-store.ts'
import type { RoutesPlugin } from '../shared/plugin.ts'
import { type Log, noLog, problemBody, renderProblems } from '../shared/problem.ts'
import { seedOf } from '../shared/seed.ts'
import type { Upstream, VerificationKind } from '../upstream-proxy/index.ts'
import { arkDriver } from './ark.ts'
import type { FaceContext } from './context.ts'
import type { CreateFaceDriver } from './driver.ts'
import { noneDriver } from './none.ts'
import { faceDocs } from './openapi.ts'
import { type ReconcileVerificationsOptions, reconcileVerifications } from './reconcile.ts'
import { withReservation } from './reservation.ts'
import { restDriver } from './rest.ts'
import type { FaceGroupStore, VerificationStore } from './store.ts'
import { findOwnTask } from './task-lease.ts'

export type { Audit, AuditEvent } from '../shared/audit.ts'
export type { Identify, Identity } from '../shared/identify.ts'
export type { VerificationKind } from '../upstream-proxy/index.ts'
export type { ReconcileVerificationsOptions } from './reconcile.ts'
export { isEnded, type StatusPath, statusPathTo, type VerificationStatus, verificationStatuses } from './status.ts'
export type { FaceGroupStore, NewVerification, Verification, VerificationStore } from './store.ts'

export interface FaceVerificationOptions {
  /** The client of the asset library. Its `faceVerification` chooses the driver. */
  readonly upstream: Upstream
  readonly store: VerificationStore & FaceGroupStore
  /** Identifies the caller by a session: `identifyBySession`, or a function of the host app. Not `identifyByToken`: these routes accept no API tokens. */
  readonly identify: Identify
  /** The address that browsers use for this app. `ark` redirects phones to it. A function when the address is known only after the start. */
  readonly publicUrl: string | (() => string)
  /** Throws when a page of another origin sends the request, as `requireSameOrigin` of `web-session` does. Default: no check, for hosts without cookies. */
  readonly requireSameOrigin?: (request: Request) => void
  /** The product word in the paths and in the type of errors. Default `media`. */
  readonly segment?: string
  /**
   * Lifetime of a task.
   *
   * With `ark`, the upstream may name a shorter one; with `rest`, its `expires_at` takes precedence. Milliseconds, default 30 minutes.
   */
  readonly taskMs?: number
  /** How long a process holds the lease of a task while it polls the upstream. Milliseconds, default 45,000. */
  readonly leaseMs?: number
  /** Verifications that one user may have open at once; one more gets 429. Default 5. */
  readonly maxOpen?: number
  /** Largest request body in bytes; a larger one gets 413. Default 1 MiB. */
  readonly maxBodyBytes?: number
  readonly clock?: Clock
  readonly log?: Log
  /** Receives an event for every verification created, every group recorded and every rejected request. Default: no audit. */
  readonly audit?: Audit
  /**
   * Polls open tasks in the background until this signal aborts; `true`: always.
   *
   * Undefined: no background polling; then a verification is lost when the user closes the tab.
   */
  readonly reconcile?: RunUntil
  /** Options of the background polling. */
  readonly reconciling?: ReconcileVerificationsOptions
}

/** The driver for each way in which an upstream verifies faces. */
const drivers: Readonly<Record<VerificationKind, CreateFaceDriver>> = {
  rest: restDriver,
  ark: arkDriver,
  none: noneDriver,
}

/**
 * Face verification: routes to start a verification and to query its status. Both need a session.
 *
 * With some upstreams (`ark`) it also serves the callback page, to which the upstream redirects the phone's browser. That page needs no
 * session.
 *
 * Throws TypeError when `taskMs` or `leaseMs` is not above 0.
 */
export const faceVerification = (options: FaceVerificationOptions): RoutesPlugin => {
  const { upstream, store, segment = 'media', identify, publicUrl } = options
  const { clock = systemClock, log = noLog, audit = noAudit } = options
  const { taskMs = 1_800_000, leaseMs = 45_000, maxOpen = 5, maxBodyBytes = 2 ** 20 } = options
  if (!(taskMs > 0 && leaseMs > 0)) throw new TypeError('taskMs and leaseMs must be above 0')
  const prefix = `/api/${segment}/face-verifications`
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
  }
  const base = () => (typeof publicUrl === 'string' ? publicUrl : publicUrl()).replace(/\/+$/, '')
  const kind = upstream.faceVerification
  const driver = drivers[kind](context, () => `${base()}${prefix}/callback`)
  const until = signalOf(options.reconcile)
  if (until) void reconcileVerifications(context, kind, driver.poll, until, options.reconciling)

  const render = renderProblems(problemBody(`${segment}_proxy_error`), log, audit)
  const routes: AnyElysia = new Elysia({ name: 'sluice/face-verification', seed: seedOf(options), prefix })
    .onError(({ error, code, request }) => asPlainText(noStore(render({ error, code, request }))))
    .post(
      '',
      async ({ request }) => {
        const { user } = await requireIdentity(identify, request)
        options.requireSameOrigin?.(request)
        return asPlainText(await withReservation(context, user, (reserved) => driver.create(request, user, reserved)))
      },
      faceDocs.create,
    )
    .get(
      '/:verification_id',
      async ({ request, params }) => {
        const { user } = await requireIdentity(identify, request)
        return asPlainText(await driver.query(await findOwnTask(context, kind, user, params.verification_id), request))
      },
      faceDocs.query,
    )
  const { callback } = driver
  if (callback)
    routes.get('/callback/:state', ({ request, params }) => callback(request, params.state), faceDocs.callback)
  return routes.use(fallbackRoutes)
}
