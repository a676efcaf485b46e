import { type Awaitable, andThen } from '../shared/awaitable.ts'
import { disconnectionOf } from '../shared/http/disconnection.ts'
import { requestTurn, requestTurnCounts } from '../shared/http/turn/request-turn.ts'
import { checkAbove0 } from '../shared/plugin/options.ts'
import { Problem } from '../shared/problem.ts'
import { type Concurrency, ConcurrencyCounts, type CountedRequest, type MaxConcurrency } from './counts.ts'

export { type InFlight, inFlightOf } from '../shared/http/in-flight.ts'
export type { Concurrency, MaxConcurrency } from './counts.ts'

/** Options of `concurrencyLimits`: the limits of the process, and of each user. */
export interface ConcurrencyLimitsOptions extends Partial<MaxConcurrency> {
  /** Limits of each user. Default: 128 requests, 64 streams, 128 MiB of bodies. */
  readonly user?: Partial<MaxConcurrency>
  /**
   * Creates the response to a request that the process limit on requests rejects, before the app sees it. Default: the
   * problem's own response.
   *
   * Every other limit throws inside of the app: there the option `errors` of the plugin, or the `onError` of the host
   * app, creates the response.
   */
  readonly renderRejection?: (problem: Problem, request: Request) => Response
  /** Whether the process limit on requests does not apply, for example to health checks. Default: it applies to all. */
  readonly exempt?: (request: Request) => boolean
}

/** A request handler. */
export type FetchHandler = (request: Request) => Awaitable<Response>

/** Current counts of a process. */
export interface ProcessConcurrency extends Concurrency {
  /** Requests that wait until the process handles them. They do not count as `requests` yet. */
  readonly waiting: number
  /** Requests since the start of the process that were rejected because too many waited. */
  readonly refused: number
}

/** The limits of one process. */
export interface ConcurrencyLimits {
  /** Wraps a handler with the limits. */
  limited(handle: FetchHandler): FetchHandler
  /** The current counts of all callers together. */
  counts(): ProcessConcurrency
  /** Number of users with a request, a stream or buffered bytes at this moment. */
  users(): number
}

/**
 * Limits what is in flight in one process, in total and for each user. By default the total is 4,096 requests, 16,384
 * streams and 512 MiB of bodies.
 *
 * Put it between the listener and the app:
 *
 *     const limits = concurrencyLimits()
 *     Bun.serve({ fetch: limits.limited((request) => app.handle(request)) })
 *
 * The plugins of this package report the user, the bytes of bodies, and the end of streams. Above a user's limit they
 * throw Problem 429, above a limit of the process Problem 503, both with `Retry-After`, before they read a body. Routes
 * of the host app report the same: `inFlightOf(request)?.identified(user)` when the caller is known, and for a stream
 * `streaming()`, and `streamed()` when it has ended.
 *
 * Throws TypeError for a limit that is not above 0.
 *
 * @example
 * const { limited } = concurrencyLimits({ maxRequests: 1_000, user: { maxRequests: 50 } })
 * const handle = limited((request) => app.fetch(request))
 */
export const concurrencyLimits = (options: ConcurrencyLimitsOptions = {}): ConcurrencyLimits => {
  const { user, renderRejection = (problem) => problem.toResponse(), exempt = () => false } = options
  const counts = new ConcurrencyCounts({
    process: withDefaults(options, { maxRequests: 4_096, maxStreams: 16_384, maxUnreadBodyBytes: 2 ** 29 }),
    user: withDefaults(user, { maxRequests: 128, maxStreams: 64, maxUnreadBodyBytes: 2 ** 27 }),
  })
  const handleCounted = (handle: FetchHandler, request: Request): Awaitable<Response> => {
    let counted: CountedRequest
    try {
      counted = counts.enter(request, exempt)
    } catch (error) {
      if (error instanceof Problem) return renderRejection(error, request)
      throw error
    }
    const onResponse = (response: Response): Response => {
      counted.responded()
      return response
    }
    const onError = (error: unknown): never => {
      counted.responded()
      throw error
    }
    try {
      return andThen(handle(request), onResponse, onError)
    } catch (error) {
      return onError(error)
    }
  }
  return {
    limited: (handle) => (request) => {
      // The servers of this package have waited for it already.
      const turn = requestTurn(request, () => disconnectionOf(request).aborted)
      if (!turn) return handleCounted(handle, request)
      return turn.then((refusal) => (refusal ? renderRejection(refusal, request) : handleCounted(handle, request)))
    },
    counts: () => ({ ...counts.all, ...requestTurnCounts() }),
    users: () => counts.users.size,
  }
}

const withDefaults = (given: Partial<MaxConcurrency> = {}, defaults: MaxConcurrency): MaxConcurrency => {
  const limits = {
    maxRequests: given.maxRequests ?? defaults.maxRequests,
    maxStreams: given.maxStreams ?? defaults.maxStreams,
    maxUnreadBodyBytes: given.maxUnreadBodyBytes ?? defaults.maxUnreadBodyBytes,
  }
  checkAbove0(limits)
  return limits
}
