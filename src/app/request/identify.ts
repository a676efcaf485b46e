import { tokenOf } from '../../../plugins/api-token/token.ts'
import { type PublicUrl, type RequireSameOrigin, requireSameOrigin } from '../../../plugins/shared/http/origin.ts'
import type { Identify } from '../../../plugins/shared/identity/identify.ts'

/**
 * Identifies a caller who may use an API token or a session. A request with a token is never identified by a cookie.
 *
 * It does not check the origin: a route that changes something also needs `sessionsOfSameOrigin`.
 */
export const identifyByEither =
  (byToken: Identify, bySession: Identify): Identify =>
  (request) =>
    usesToken(request) ? byToken(request) : bySession(request)

/** The origin check for such callers: only a cookie is sent by pages of other origins. */
export const sessionsOfSameOrigin =
  (publicUrl: PublicUrl): RequireSameOrigin =>
  (request) => {
    if (!usesToken(request)) requireSameOrigin(request, publicUrl)
  }

const usesToken = ({ headers }: Request): boolean => tokenOf(headers) !== undefined || headers.has('authorization')
