import { OpenAIError } from './openai-error.ts'
import type { TextSettings } from './options.ts'

const minute = 60_000
/** The limits in the headers when no limit is set. */
const defaultLimits = { requests: 10_000, tokens: 2_000_000 }

/** Rate limiter for calls, and counter of tokens, per minute. */
export interface Quota {
  /** Counts a call, or throws 429. Rejected calls do not count. */
  take(model: string): void
  /** counts the tokens of a response */
  spend(tokens: number): void
  /** the current `x-ratelimit-*` headers */
  headers(): Record<string, string>
}

/** Creates the rate limiter. `clock` returns ms since 1970. */
export const createQuota = ({ requestsPerMinute }: TextSettings, clock: () => number): Quota => {
  let taken: number[] = []
  let spent: { readonly at: number; readonly tokens: number }[] = []
  const limit = Number.isFinite(requestsPerMinute) ? requestsPerMinute : defaultLimits.requests

  /** ms until the window is empty again */
  const reset = (times: readonly number[]) => Math.max(0, (times.at(-1) ?? -minute) + minute - clock())

  const dropExpired = (): void => {
    const now = clock()
    taken = taken.filter((at) => now - at < minute)
    spent = spent.filter(({ at }) => now - at < minute)
  }

  const headers = (): Record<string, string> => {
    dropExpired()
    const tokens = spent.reduce((sum, one) => sum + one.tokens, 0)
    return {
      'x-ratelimit-limit-requests': String(limit),
      'x-ratelimit-remaining-requests': String(Math.max(0, limit - taken.length)),
      'x-ratelimit-reset-requests': `${reset(taken)}ms`,
      'x-ratelimit-limit-tokens': String(defaultLimits.tokens),
      'x-ratelimit-remaining-tokens': String(Math.max(0, defaultLimits.tokens - tokens)),
      'x-ratelimit-reset-tokens': `${reset(spent.map(({ at }) => at))}ms`,
    }
  }

  return {
    take(model) {
      dropExpired()
      if (taken.length < requestsPerMinute) return void taken.push(clock())
      const wait = Math.max(1, (taken[0] ?? clock()) + minute - clock())
      const errorMessage =
        `Rate limit reached for ${model} on requests per min (RPM): Limit ${limit}, Used ${taken.length}, Requested 1. ` +
        `Please try again in ${wait}ms.`
      const retry = { 'retry-after': String(Math.ceil(wait / 1000)), 'retry-after-ms': String(wait) }
      throw new OpenAIError(429, errorMessage, { type: 'requests', code: 'rate_limit_exceeded', headers: retry })
    },
    spend: (tokens) => void spent.push({ at: clock(), tokens }),
    headers,
  }
}
