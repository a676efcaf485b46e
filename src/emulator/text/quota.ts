import type { TextSettings } from './options.ts'
import { TextRefusal } from './refusal.ts'

const MINUTE = 60_000
/** What the headers announce where no limit is set. */
const PLENTY = { requests: 10_000, tokens: 2_000_000 }

/** Counts calls and tokens per minute. */
export interface Quota {
  /** Notes a call, or refuses it with 429; refused calls are not counted. */
  take(model: string): void
  /** notes what an answer cost */
  spend(tokens: number): void
  /** `x-ratelimit-*` as they stand */
  headers(): Record<string, string>
}

export function createQuota({ requestsPerMinute }: TextSettings, clock: () => number): Quota {
  let taken: number[] = []
  let spent: { readonly at: number; readonly tokens: number }[] = []
  const limit = Number.isFinite(requestsPerMinute) ? requestsPerMinute : PLENTY.requests

  /** ms until the window is empty again */
  const reset = (times: readonly number[]) => Math.max(0, (times.at(-1) ?? -MINUTE) + MINUTE - clock())

  function settle(): void {
    const now = clock()
    taken = taken.filter((at) => now - at < MINUTE)
    spent = spent.filter(({ at }) => now - at < MINUTE)
  }

  function headers(): Record<string, string> {
    settle()
    const tokens = spent.reduce((sum, one) => sum + one.tokens, 0)
    return {
      'x-ratelimit-limit-requests': String(limit),
      'x-ratelimit-remaining-requests': String(Math.max(0, limit - taken.length)),
      'x-ratelimit-reset-requests': `${reset(taken)}ms`,
      'x-ratelimit-limit-tokens': String(PLENTY.tokens),
      'x-ratelimit-remaining-tokens': String(Math.max(0, PLENTY.tokens - tokens)),
      'x-ratelimit-reset-tokens': `${reset(spent.map(({ at }) => at))}ms`,
    }
  }

  return {
    take(model) {
      settle()
      if (taken.length < requestsPerMinute) return void taken.push(clock())
      const wait = Math.max(1, (taken[0] ?? clock()) + MINUTE - clock())
      const words =
        `Rate limit reached for ${model} on requests per min (RPM): Limit ${limit}, Used ${taken.length}, Requested 1. ` +
        `Please try again in ${wait}ms.`
      const retry = { 'retry-after': String(Math.ceil(wait / 1000)), 'retry-after-ms': String(wait) }
      throw new TextRefusal(429, words, { type: 'requests', code: 'rate_limit_exceeded', headers: retry })
    },
    spend: (tokens) => void spent.push({ at: clock(), tokens }),
    headers,
  }
}
