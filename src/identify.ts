import { tokenOf } from '../plugins/api-token/token.ts'
import type { Identify } from '../plugins/shared/identify.ts'

/**
 * Identifies a caller who may use an API token or a session. A request with a token is never identified by a cookie.
 *
 * It does not check the origin: a route that changes something also needs `identifySameOrigin` for the callers with a session.
 */
export const identifyByEither =
  (byToken: Identify, bySession: Identify): Identify =>
  (request) =>
    tokenOf(request.headers) === undefined && !request.headers.has('authorization')
      ? bySession(request)
      : byToken(request)
