import { noLog } from '../../plugins/shared/problem.ts'
import { RateLimiter } from '../../plugins/upstream-proxy/rate-limit/limiter.ts'
import { memoryRateLimitStore } from '../../plugins/upstream-proxy/rate-limit/memory-store.ts'
import { type RateLimitStore, rateLimitOf } from '../../plugins/upstream-proxy/rate-limit/store.ts'
import { StoreClock } from '../support/store-clock.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

export interface Arrival {
  readonly user: string
  readonly at: number
}

export interface Scenario {
  readonly perSecond: number
  /** For each user the processes that he calls: `[0]`, `[1]`, or both. */
  readonly users: readonly (readonly number[])[]
  /** Concurrent calls of each user to each of his processes. */
  readonly atOnce: number
  /** Milliseconds of a request and of its response on the network. */
  readonly latency: () => readonly [number, number]
  readonly seconds: number
  /** Two connections to one store. Default: one in memory. */
  readonly stores?: readonly [RateLimitStore, RateLimitStore]
}

/** Two processes with one rate limit store, in virtual time. Resolves with the calls that arrive upstream. */
export const simulate = async (scenario: Scenario): Promise<readonly Arrival[]> => {
  const { perSecond, users, atOnce, latency, seconds } = scenario
  const clock = scenario.stores ? new StoreClock() : new VirtualClock()
  const memory = memoryRateLimitStore()
  const rate = rateLimitOf('Simulated', perSecond)
  const limiters = (scenario.stores ?? [memory, memory]).map((shared) => {
    const store = clock instanceof StoreClock ? clock.watched(shared) : shared
    return new RateLimiter({ rate, store, queueMs: 5_000, callMs: 30_000, clock, log: noLog })
  })
  const arrivals: Arrival[] = []
  const end = clock.now() + seconds * 1000

  const ask = async (user: string, limiter: RateLimiter) => {
    while (clock.now() < end) {
      const permit = await limiter.acquire(user).catch(() => undefined)
      if (!permit) {
        await clock.sleep(300)
        continue
      }
      const [there, back] = latency()
      await clock.sleep(there)
      arrivals.push({ user, at: clock.now() })
      await clock.sleep(back)
      limiter.release(permit, true)
    }
  }
  for (const [nth, processes] of users.entries()) {
    for (const process of processes) {
      const limiter = limiters[process]
      for (let call = 0; limiter && call < atOnce; call++) void ask(`user ${nth}`, limiter)
    }
  }
  await clock.pass(seconds * 1000 + 10_000)
  return arrivals
}

/** The largest number of arrivals in any half-open interval of `ms` milliseconds. */
export const maxArrivals = (arrivals: readonly Arrival[], ms: number): number => {
  const times = arrivals.map(({ at }) => at).sort((a, b) => a - b)
  return Math.max(0, ...times.map((from, at) => times.slice(at).filter((time) => time < from + ms).length))
}

/** The smallest number of arrivals of a user, relative to an equal share. */
export const minShare = (arrivals: readonly Arrival[], users: number): number => {
  const counts = new Map<string, number>()
  for (const { user } of arrivals) counts.set(user, (counts.get(user) ?? 0) + 1)
  return counts.size < users ? 0 : (Math.min(...counts.values()) * users) / arrivals.length
}

/** Users of the first process only, of the second one only, and of both. */
export const spread = (first: number, second: number, both = 0) => [
  ...Array.from({ length: first }, () => [0]),
  ...Array.from({ length: second }, () => [1]),
  ...Array.from({ length: both }, () => [0, 1]),
]
