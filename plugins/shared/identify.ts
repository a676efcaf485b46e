import { type Awaitable, andThen } from './awaitable.ts'
import { inFlightOf } from './in-flight.ts'
import { Problem } from './problem.ts'
import type { WhenRevoked } from './revocation.ts'

/** The authenticated caller. */
export interface Identity {
  /** Id of the user, who owns groups, assets and other objects. */
  readonly user: string
  /** Id of the credential, if a user may have several. */
  readonly token?: string
  /**
   * Reports when the credential is revoked, so that a text generation stream ends within a second. If undefined, as for most
   * identities of a host app, running responses continue to their end.
   */
  readonly whenRevoked?: WhenRevoked
}

/** Authenticates a request. Returns undefined for an unknown caller. A host app provides its own function. */
export type Identify = (request: Request) => Awaitable<Identity | undefined>

/**
 * Returns the identity of a request, or throws Problem 401: one response for every reason, so that it reveals nothing.
 *
 * Every route with a user calls it before it reads the body. It also counts the user's concurrent requests, and throws Problem 429
 * above the limit.
 */
export const requireIdentity = (identify: Identify, request: Identified): Awaitable<Identity> =>
  andThen(identify(request), (found) => {
    if (!found) throw notAuthenticated()
    request[identity] = found
    inFlightOf(request)?.identified(found.user)
    return found
  })

const identity = Symbol('identity')

type Identified = Request & { [identity]?: Identity }

/**
 * The identity that `requireIdentity` has found for a request. Undefined before.
 *
 * For code that gets only the request: error hooks, which note audit events, and hooks that run before the guard of a route. Other code is given the user.
 */
export const identityOf = (request: Identified): Identity | undefined => request[identity]

/** Problem 401. */
export const notAuthenticated = (): Problem => notAuthenticatedProblem

/** One shared instance: it has no cause and no event, and creating an error costs more than throwing it. */
const notAuthenticatedProblem = new Problem(401, 'not authenticated', { headers: { 'www-authenticate': 'Bearer' } })
