import { type Awaitable, andThen } from './awaitable.ts'
import { inFlightOf } from './in-flight.ts'
import { Problem } from './problem.ts'
import type { WhenRevoked } from './revocation.ts'

/** Who is calling. */
export interface Identity {
  /** Whoever has the same user has the same groups and assets. */
  readonly user: string
  /** Id of the credential, where one user may have several. */
  readonly token?: string
  /**
   * Tells when the credential has ceased to hold, for answers that outlast it: a stream of text generation ends within a second of it. Undefined, as for most
   * identities of a host app: whatever has begun goes on to its end.
   */
  readonly whenRevoked?: WhenRevoked
}

/** Says who is calling; undefined when nobody that is known. A host app hands over its own. */
export type Identify = (request: Request) => Awaitable<Identity | undefined>

/**
 * The identity, or Problem 401: one answer for every reason, so that nothing can be learned from it. Every route that has a user asks here, before it reads anything:
 * so the user's requests are counted, and Problem 429 is thrown, in one place.
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

/** Who a request has turned out to be from, for whatever is handed nothing but the request. Undefined before `requireIdentity`. */
export const identityOf = (request: Identified): Identity | undefined => request[identity]

export const notAuthenticated = (): Problem => nobody

/** One for all: it has no cause and no event, and making an error costs more than throwing it. */
const nobody = new Problem(401, 'not authenticated', { headers: { 'www-authenticate': 'Bearer' } })
