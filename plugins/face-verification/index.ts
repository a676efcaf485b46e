import { Elysia } from 'elysia'
import { type Audit, noAudit } from '../shared/audit.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { asText } from '../shared/headers.ts'
import { type Identify, requireIdentity } from '../shared/identify.ts'
import { identity } from '../shared/identity.ts'
import { type Log, problemBody, renderProblems, silent } from '../shared/problem.ts'
import { unkept } from '../shared/unkept.ts'
import { refuseUnknown } from '../shared/unknown.ts'
import type { Upstream } from '../upstream-proxy/index.ts'
import { arkDriver } from './ark.ts'
import { isPrefetch, takeCallback } from './callback.ts'
import type { FaceContext } from './context.ts'
import { openapi } from './openapi.ts'
import { notYet, type PageOutcome, pageOf } from './page.ts'
import { type ReconcileVerificationsOptions, reconcileVerifications } from './reconcile.ts'
import { withReservation } from './reservation.ts'
import { restDriver } from './rest.ts'
import type { FaceGroupStore, VerificationKind, VerificationStore } from './store.ts'
import { ownTask } from './task-lease.ts'

export type { Audit, AuditEvent } from '../shared/audit.ts'
export type { Identify, Identity } from '../shared/identify.ts'
export type { ReconcileVerificationsOptions } from './reconcile.ts'
export { isEnded, type StatusPath, statusPathTo, type VerificationStatus, verificationStatuses } from './status.ts'
export type { FaceGroupStore, NewVerification, Verification, VerificationKind, VerificationStore } from './store.ts'

export interface FaceVerificationOptions {
  /** Who runs the states: `rest`, an upstream of these same paths; `ark`, the gateway, on the vendor's sessions. That of `upstream`. */
  readonly kind: VerificationKind
  readonly upstream: Upstream
  readonly store: VerificationStore & FaceGroupStore
  /** Who has a session: `identifyBySession`, or the host app's own. Not `identifyByToken`: the document accepts no tokens here. */
  readonly identify: Identify
  /** The address of this app for browsers, without a slash at its end: `ark` sends phones back there. A function where it is known only later. */
  readonly publicUrl: string | (() => string)
  /** Refuses what a foreign page sends, by throwing: `requireSameOrigin` of `web-session`. Default: nothing is refused, for hosts without cookies. */
  readonly requireSameOrigin?: (request: Request) => void
  /** The product word in the paths and in the type of errors. Default `media`. */
  readonly segment?: string
  /** `ark`: life of a task, unless the upstream names a shorter one. Milliseconds, default 30 minutes. */
  readonly taskMs?: number
  /** How long one process may take to ask for a result before another one may. Milliseconds, default 45,000. */
  readonly leaseMs?: number
  /** Verifications that one user may have open at once; beyond them 429. Default 5. */
  readonly maxOpen?: number
  /** Largest request body in bytes; beyond it 413. Default 1 MiB. */
  readonly maxBodyBytes?: number
  readonly clock?: Clock
  readonly log?: Log
  /** Told of every verification that begins, every group that comes of one, and every refusal. Default: nobody is. */
  readonly audit?: Audit
  /** Looks after tasks that nobody asks about until it is aborted. Undefined: nobody does, and a verification whose tab was closed is lost. */
  readonly settleUntil?: AbortSignal
  readonly settling?: ReconcileVerificationsOptions
}

/** A person waits for the page; the result may take longer. */
const pageMs = 3_000

/**
 * Face verification: start one, ask how it stands, both with a session; and for `ark` the page that the phone's browser comes back to, which needs none.
 *
 * Throws TypeError when a life or lease is not above 0.
 */
export const faceVerification = (options: FaceVerificationOptions) => {
  const { kind, segment = 'media', identify, publicUrl, clock = systemClock, log = silent, audit = noAudit } = options
  const { taskMs = 1_800_000, leaseMs = 45_000, maxOpen = 5, maxBodyBytes = 2 ** 20 } = options
  if (!(taskMs > 0 && leaseMs > 0))
    throw new TypeError('a face verification and its lease must live for more than nothing')
  const prefix = `/api/${segment}/face-verifications`
  const means: FaceContext = {
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
  const faces = kind === 'ark' ? arkDriver(means, () => `${base()}${prefix}/callback`) : restDriver(means)
  if (options.settleUntil) void reconcileVerifications(means, kind, faces.look, options.settleUntil, options.settling)

  /** Until the result is there, or the person has waited long enough; it goes on without them. */
  const waitFor = (id: string): Promise<void> =>
    new Promise((resolve) => {
      const stop = clock.at(clock.now() + pageMs, resolve)
      faces
        .look(id)
        .catch((err: unknown) => log.warn({ err, verification: id }, 'face verification could not be looked at'))
        .finally(() => {
          stop()
          resolve()
        })
    })

  const callback = async (request: Request, state: string): Promise<Response> => {
    // Elysia takes HEAD for GET: that, too, only looks ahead.
    if (request.method !== 'GET' || isPrefetch(request.headers)) return notYet()
    const query = new URLSearchParams(request.url.split('?').slice(1).join('?'))
    const outcome = await takeCallback(means, state, query, ({ id }) => waitFor(id)).catch(
      (err: unknown): PageOutcome => {
        log.error({ err }, 'callback of a face verification could not be taken in')
        return 'trouble'
      },
    )
    return pageOf(outcome, request.headers.get('accept-language'))
  }

  const render = renderProblems(problemBody(`${segment}_proxy_error`), log, audit)
  const routes = new Elysia({ name: 'sluice/face-verification', seed: identity(options), prefix })
    .onError(({ error, code, request }) => asText(unkept(render({ error, code, request }))))
    .post(
      '',
      async ({ request }) => {
        const { user } = await requireIdentity(identify, request)
        options.requireSameOrigin?.(request)
        return asText(await withReservation(means, user, (reserved) => faces.create(request, user, reserved)))
      },
      openapi.create,
    )
    .get(
      '/:verification_id',
      async ({ request, params }) => {
        const { user } = await requireIdentity(identify, request)
        return asText(await faces.query(await ownTask(means, kind, user, params.verification_id), request))
      },
      openapi.query,
    )
  if (kind === 'ark')
    routes.get('/callback/:state', ({ request, params }) => callback(request, params.state), openapi.callback)
  return routes.use(refuseUnknown)
}
