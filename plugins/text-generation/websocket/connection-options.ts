import type { Clock } from '../../shared/clock.ts'
import type { InFlight } from '../../shared/http/in-flight.ts'
import type { WhenRevoked } from '../../shared/identity/revocation.ts'
import type { Log, Problem } from '../../shared/problem.ts'

export interface ResponsesConnectionOptions {
  /**
   * Called before a message is handled. Undefined: it may be handled now. Otherwise wait: the promise resolves with
   * Problem when it must not be.
   */
  readonly takeTurn: (hasLeft: () => boolean) => Promise<Problem | undefined> | undefined
  /** Creates the HTTP request for a message. */
  readonly requestFor: (body: Uint8Array, signal: AbortSignal) => Request
  /** Counts the connection as a stream of its user. */
  readonly inFlight: InFlight | undefined
  readonly whenRevoked: WhenRevoked | undefined
  readonly maxBodyBytes: number
  readonly clock: Clock
  readonly log: Log
}
