import { type Awaitable, andThen } from '../shared/awaitable.ts'
import { Problem } from '../shared/problem.ts'
import { type Concurrency, ConcurrencyCounts, type CountedRequest, type MaxConcurrency } from './limiter.ts'

export { type InFlight, inFlightOf } from '../shared/in-flight.ts'
export type { Concurrency, MaxConcurrency } from './limiter.ts'

export interface ConcurrencyLimitsOptions extends Partial<MaxConcurrency> {
  /** Most of one user. Default 128 requests, 64 streams, 128 MiB of bodies. */
  readonly user?: Partial<MaxConcurrency>
  /** Answers what is too much for the process, before anybody knows who asks. Default as the problem renders itself. */
  readonly refuse?: (problem: Problem, request: Request) => Response
  /** Requests that are let in even then: health checks, for example. Default none. */
  readonly exempt?: (request: Request) => boolean
}

/** Answers requests, whatever listens for them. */
export type Handle = (request: Request) => Awaitable<Response>

export interface ConcurrencyLimits {
  /** The same handler, within the limits. */
  limited(handle: Handle): Handle
  /** What there is at this moment, of all callers together. */
  counts(): Concurrency
  /** Users who have anything at this moment. */
  users(): number
}

/**
 * Limits what is in flight in one process: of all callers together (by default 4,096 requests, 16,384 streams, 512 MiB of bodies) and of each user. Put it
 * between the listener and the app, whose plugins then do the rest:
 *
 *     const limits = concurrencyLimits()
 *     Bun.serve({ fetch: limits.limited((request) => app.handle(request)) })
 *
 * The plugins of this package say who asks, how much they read, and when a stream has ended. They refuse with Problem 429 what is too much for its user, and 503
 * what is too much for the process, both with `Retry-After`, in their own shape, and before a body is read. Routes of the host's own that stream say so themselves:
 * `inFlightOf(request)?.streaming()`, and `streamed()` when the stream has ended.
 */
export const concurrencyLimits = (options: ConcurrencyLimitsOptions = {}): ConcurrencyLimits => {
  const { user, refuse = (problem) => problem.toResponse(), exempt = () => false } = options
  const counts = new ConcurrencyCounts({
    process: maxima(options, { maxRequests: 4_096, maxStreams: 16_384, maxUnreadBodyBytes: 2 ** 29 }),
    user: maxima(user, { maxRequests: 128, maxStreams: 64, maxUnreadBodyBytes: 2 ** 27 }),
  })
  return {
    limited: (handle) => (request) => {
      let entered: CountedRequest
      try {
        entered = counts.enter(request, exempt)
      } catch (error) {
        if (error instanceof Problem) return refuse(error, request)
        throw error
      }
      const answered = (response: Response): Response => {
        entered.answered()
        return response
      }
      const failed = (error: unknown): never => {
        entered.answered()
        throw error
      }
      try {
        return andThen(handle(request), answered, failed)
      } catch (error) {
        return failed(error)
      }
    },
    counts: () => ({ ...counts.all }),
    users: () => counts.users.size,
  }
}

const maxima = (given: Partial<MaxConcurrency> = {}, usual: MaxConcurrency): MaxConcurrency => ({
  maxRequests: given.maxRequests ?? usual.maxRequests,
  maxStreams: given.maxStreams ?? usual.maxStreams,
  maxUnreadBodyBytes: given.maxUnreadBodyBytes ?? usual.maxUnreadBodyBytes,
})
