import { Buffer } from 'node:buffer'
import { type Awaitable, andThen } from '../awaitable.ts'
import { noteCurrentUser } from '../http/current-request.ts'
import { inFlightOf } from '../http/in-flight.ts'
import { noteTurnUser } from '../http/turn/request-turn.ts'
import { Problem } from '../problem.ts'
import type { WhenRevoked } from './revocation.ts'
import type { Role, Scope } from './scopes.ts'

/** The authenticated caller. */
export interface Identity {
  /**
   * Id of the user, who owns groups, assets and other objects. 1 to 1,024 bytes of UTF-8, without NUL and lone
   * surrogates, which databases do not keep apart.
   */
  readonly user: string
  /** Id of the credential, if a user may have several. */
  readonly token?: string
  /** What the credential may do. Undefined: everything, as for a session or a host app without scopes. */
  readonly scopes?: readonly Scope[]
  /**
   * The models that the credential may use; `*` at the end of one stands for any rest. Others do not exist for it.
   * Undefined: all.
   */
  readonly models?: readonly string[]
  /** Role of the user. Undefined: the users have no roles. */
  readonly role?: Role
  /**
   * Reports when the credential is revoked, so that a text generation stream ends within a second. If undefined, as for
   * most identities of a host app, running responses continue to their end.
   */
  readonly whenRevoked?: WhenRevoked
}

/**
 * Authenticates a request. Returns undefined for an unknown caller. A host app provides its own function.
 *
 * An object that it has returned must not change: the request uses it until its end. An identity without a user counts
 * as an unknown caller.
 */
export type Identify = (request: Request) => Awaitable<Identity | undefined>

/**
 * Returns the identity of a request, or throws Problem 401: one response for every reason, so that it reveals nothing.
 *
 * Every route with a user calls it before it reads the body. It also counts the user's concurrent requests, and throws
 * Problem 429 above the limit. Throws TypeError for a user id that is no such text: databases do not distinguish `1`
 * from `'1'`, so two users could count as one.
 *
 * @example
 * const { user } = await requireIdentity(identify, request)
 */
export const requireIdentity = (identify: Identify, request: Identified): Awaitable<Identity> =>
  andThen(identify(request), (found) => {
    if (!found?.user) throw notAuthenticated()
    checkUser(found.user)
    const known = found as Identity
    request[identity] = known
    noteTurnUser(request, known.user)
    inFlightOf(request)?.identified(known.user)
    noteCurrentUser(known.user)
    return known
  })

/** Whether a value can be the id of a user. */
export const isUserId = (user: unknown): user is string =>
  typeof user === 'string' && user !== '' && isShort(user) && user.isWellFormed() && !user.includes('\0')

/** Throws TypeError unless a value can be the id of a user. */
export const checkUser = (user: unknown): void => {
  if (!isUserId(user))
    throw new TypeError(`user must be a text of 1 to ${maxUserBytes} bytes without NUL and lone surrogates`)
}

/**
 * Longer than any id, name or address of a user. Each object of a user has the id in its row, and in an index, often
 * with a name: PostgreSQL takes 2,704 bytes there.
 */
const maxUserBytes = 1_024

/** A UTF-16 unit has at most three bytes in UTF-8. */
const isShort = (user: string): boolean =>
  user.length <= maxUserBytes / 3 || (user.length <= maxUserBytes && Buffer.byteLength(user) <= maxUserBytes)

const identity = Symbol('identity')

type Identified = Request & { [identity]?: Identity }

/**
 * The identity that `requireIdentity` has found for a request. Undefined before.
 *
 * For code that gets only the request: error hooks, which note audit events, and hooks that run before the guard of a
 * route. Other code is given the user.
 */
export const identityOf = (request: Identified): Identity | undefined => request[identity]

/** Problem 401. */
export const notAuthenticated = (): Problem => notAuthenticatedProblem

/** One shared instance: it has no cause and no event, and creating an error costs more than throwing it. */
const notAuthenticatedProblem = new Problem(401, 'not authenticated', { headers: { 'www-authenticate': 'Bearer' } })
