import { Elysia } from 'elysia'
import { type Audit, noAudit } from '../shared/audit.ts'
import { type RunUntil, signalOf } from '../shared/background.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { fallbackRoutes } from '../shared/fallback-routes.ts'
import { asPlainText } from '../shared/headers.ts'
import { type Identify, requireIdentity } from '../shared/identify.ts'
import { noStore } from '../shared/no-store.ts'
import { type Log, noLog, problemBody, renderProblems } from '../shared/problem.ts'
import { seedOf } from '../shared/seed.ts'
import type { Upstream } from '../upstream-proxy/index.ts'
import { arkDriver } from './ark.ts'
import { isPrefetch, processCallback } from './callback.ts'
import type { FaceContext } from './context.ts'
import { openapi } from './openapi.ts'
import { type PageOutcome, pageOf, prefetchResponse } from './page.ts'
import { type ReconcileVerificationsOptions, reconcileVerifications } from './reconcile.ts'
import { withReservation } from './reservation.ts'
import { restDriver } from './rest.ts'
import type { FaceGroupStore, VerificationKind, VerificationStore } from './store.ts'
import { findOwnTask } from './task-lease.ts'

export type { Audit, AuditEvent } from '../shared/audit.ts'
export type { Identify, Identity } from '../shared/identify.ts'
export type { ReconcileVerificationsOptions } from './reconcile.ts'
export { isEnded, type StatusPath, statusPathTo, type VerificationStatus, verificationStatuses } from './status.ts'
export type { FaceGroupStore, NewVerification, Verification, VerificationKind, VerificationStore } from './store.ts'

export interface FaceVerificationOptions {
  /**
   * The kind of `upstream`.
   *
   * `rest`: it serves these same paths and keeps the status of tasks. `ark`: it serves the vendor's sessions, and the gateway keeps the
   * status.
   */
  readonly kind: VerificationKind
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

/** How long the callback page waits for the result. The task is resolved in the background when that takes longer. */
const maxPageWaitMs = 3_000

/**
 * Face verification: routes to start a verification and to query its status. Both need a session.
 *
 * With `ark` it also serves the callback page, to which the upstream redirects the phone's browser. That page needs no session.
 *
 * Throws TypeError when `taskMs` or `leaseMs` is not above 0.
 */
export const faceVerification = (options: FaceVerificationOptions) => {
  const { kind, segment = 'media', identify, publicUrl, clock = systemClock, log = noLog, audit = noAudit } = options
  const { taskMs = 1_800_000, leaseMs = 45_000, maxOpen = 5, maxBodyBytes = 2 ** 20 } = options
  if (!(taskMs > 0 && leaseMs > 0)) throw new TypeError('taskMs and leaseMs must be above 0')
  const prefix = `/api/${segment}/face-verifications`
  const context: FaceContext = {
    upstream: options.upstream,
    store: options.store,
    clock,
    log,
    audit,
    taskMs,
    leaseMs,
    maxOpen,
    maxBodyBytes,
  }
  const base = () => (typeof publicUrl === 'string' ? publicUrl : publicUrl()).replace(/\/+$/, '')
  const driver = kind === 'ark' ? arkDriver(context, () => `${base()}${prefix}/callback`) : restDriver(context)
  const until = signalOf(options.reconcile)
  if (until) void reconcileVerifications(context, kind, driver.poll, until, options.reconciling)

  /** Polls the upstream. Resolves with the poll's end, or after `maxPageWaitMs`; then the poll continues in the background. */
  const poll = (id: string): Promise<void> =>
    new Promise((resolve) => {
      const cancelTimer = clock.at(clock.now() + maxPageWaitMs, resolve)
      driver
        .poll(id)
        .catch((err: unknown) => log.warn({ err, verification: id }, 'face verification could not be polled'))
        .finally(() => {
          cancelTimer()
          resolve()
        })
    })

  const callback = async (request: Request, state: string): Promise<Response> => {
    // Elysia routes HEAD to the GET handler. A HEAD request must not use up the state either.
    if (request.method !== 'GET' || isPrefetch(request.headers)) return prefetchResponse()
    const query = new URLSearchParams(request.url.split('?').slice(1).join('?'))
    const outcome = await processCallback(context, state, query, ({ id }) => poll(id)).catch(
      (err: unknown): PageOutcome => {
        log.error({ err }, 'the callback of a face verification could not be processed')
        return 'trouble'
      },
    )
    return pageOf(outcome, request.headers.get('accept-language'))
  }

  const render = renderProblems(problemBody(`${segment}_proxy_error`), log, audit)
  const routes = new Elysia({ name: 'sluice/face-verification', seed: seedOf(options), prefix })
    .onError(({ error, code, request }) => asPlainText(noStore(render({ error, code, request }))))
    .post(
      '',
      async ({ request }) => {
        const { user } = await requireIdentity(identify, request)
        options.requireSameOrigin?.(request)
        return asPlainText(await withReservation(context, user, (reserved) => driver.create(request, user, reserved)))
      },
      openapi.create,
    )
    .get(
      '/:verification_id',
      async ({ request, params }) => {
        const { user } = await requireIdentity(identify, request)
        return asPlainText(await driver.query(await findOwnTask(context, kind, user, params.verification_id), request))
      },
      openapi.query,
    )
  if (kind === 'ark')
    routes.get('/callback/:state', ({ request, params }) => callback(request, params.state), openapi.callback)
  return routes.use(fallbackRoutes)
}
