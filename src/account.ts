import { Elysia } from 'elysia'
import { consoleTokens } from '../plugins/api-token/index.ts'
import { consolePages } from '../plugins/console/index.ts'
import { type FaceVerificationOptions, faceVerification } from '../plugins/face-verification/index.ts'
import { type Audit, noAudit } from '../plugins/shared/audit.ts'
import { type ClientAddressOf, createClientAddressOf } from '../plugins/shared/client-address.ts'
import type { Clock } from '../plugins/shared/clock.ts'
import { fallbackRoutes } from '../plugins/shared/fallback-routes.ts'
import { noStore } from '../plugins/shared/no-store.ts'
import { type Log, problemBody, renderProblems } from '../plugins/shared/problem.ts'
import { seedOf } from '../plugins/shared/seed.ts'
import {
  identifyBySession,
  type PublicUrl,
  requireSameOrigin,
  type WebSessionOptions,
  webSession,
} from '../plugins/web-session/index.ts'
import { listUsage } from './routes/usage.ts'
import type { Store } from './store/index.ts'

export interface AccountOptions extends Pick<WebSessionOptions, 'secrets' | 'cookieName' | 'throttle' | 'maxSessions'> {
  /** Active tokens that one user may have. Default 100. */
  readonly maxTokens?: number
  readonly store: Store
  /** The address that browsers use. */
  readonly publicUrl: PublicUrl
  /** The client address of a request. Default: the address of the connection's peer. */
  readonly addressOf?: ClientAddressOf
  /** The upstream for face verification, and its options. */
  readonly face: Pick<
    FaceVerificationOptions,
    'upstream' | 'taskMs' | 'maxOpen' | 'maxBodyBytes' | 'reconcile' | 'reconciling'
  >
  /** The product word in the type of errors. Default `media`. */
  readonly segment?: string
  /** Default: the system clock. */
  readonly clock?: Clock
  readonly log: Log
  /** Receives audit events. Default: no audit. */
  readonly audit?: Audit
}

/** The routes for people with a browser: login, API tokens, their usage, face verification, and the console. */
export const account = (options: AccountOptions) => {
  const { store, publicUrl, addressOf = createClientAddressOf(), segment = 'media', log, audit = noAudit } = options
  const session = {
    ...{ store, publicUrl },
    ...{ secrets: options.secrets, cookieName: options.cookieName },
    ...{ maxSessions: options.maxSessions, clock: options.clock },
  }
  const identify = identifyBySession(session)
  const render = renderProblems(problemBody(`${segment}_proxy_error`), log, audit)
  return new Elysia({ name: 'sluice/account', seed: seedOf(options) })
    .use(webSession({ ...session, throttle: options.throttle, addressOf, segment, log, audit }))
    .use(
      new Elysia({ prefix: '/api/tokens' }).use(
        consoleTokens({
          store,
          identify,
          publicUrl,
          maxTokens: options.maxTokens,
          segment,
          clock: options.clock,
          log,
          audit,
        }),
      ),
    )
    .use(
      new Elysia({ prefix: '/api/usage' })
        .onError(({ error, code, request }) => noStore(render({ error, code, request })))
        .get('', listUsage(store, identify), { detail: { hide: true } })
        .use(fallbackRoutes),
    )
    .use(
      faceVerification({
        ...options.face,
        store,
        identify,
        publicUrl,
        requireSameOrigin: (request) => requireSameOrigin(request, publicUrl),
        segment,
        clock: options.clock,
        log,
        audit,
      }),
    )
    .use(consolePages({ segment }))
}
