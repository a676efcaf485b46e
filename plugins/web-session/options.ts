import type { Audit } from '../shared/audit.ts'
import type { ErrorsOption } from '../shared/http/error-handler.ts'
import type { Log } from '../shared/problem.ts'
import type { Verify } from './login.ts'
import type { SessionOptions } from './session.ts'
import type { AttemptStore, SessionStore } from './store.ts'
import type { ThrottleOptions } from './throttle.ts'

/** Options of `webSession`. */
export interface WebSessionOptions extends SessionOptions {
  readonly store: SessionStore & AttemptStore
  /**
   * The client address of a request, to count failures by network.
   *
   * Must not trust a header that callers can set. Default: failures are counted by name only.
   */
  readonly addressOf?: (request: Request) => string | undefined
  readonly throttle?: ThrottleOptions
  /**
   * Checks a password. May throw a Problem, which does not count as a failed login. Default: `verifyPassword`, for
   * hashes of `hashPassword`.
   */
  readonly verify?: Verify
  /**
   * Whether users log in with a password. False: to log in, to change the password and to set one by an invitation are
   * 403. For an app whose users log in
   * in another way, see `beginSession`. Default true.
   */
  readonly passwordLogin?: boolean
  /** Base path of the routes. Default `/api/session`. */
  readonly prefix?: string
  /** The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `problemBody()`. */
  readonly errors?: ErrorsOption
  readonly log?: Log
  /** Receives an event for every login, logout, failed login and lockout. Default: no audit. */
  readonly audit?: Audit
}
