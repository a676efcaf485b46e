import type { AssetAction } from './action-names.ts'
import { ArkError } from './api/ark-error.ts'

/** Rate limits of an account in calls per second, by action. An action without a limit is unlimited. */
export type RateLimits = { readonly [Action in AssetAction]?: number }

/** The limits that the vendor documents (vendor pages 2318270 to 2318278, 2341606, 2333587, 2333588). */
export const documentedLimits: RateLimits = {
  CreateAssetGroup: 10,
  // documented as 300 per minute
  CreateAsset: 5,
  ListAssetGroups: 10,
  ListAssets: 10,
  GetAsset: 100,
  GetAssetGroup: 10,
  UpdateAsset: 10,
  UpdateAssetGroup: 10,
  DeleteAsset: 10,
  DeleteAssetGroup: 5,
  CreateVisualValidateSession: 3,
  GetVisualValidateResult: 3,
}

/** The rate limiter of an account. */
export interface Limits {
  /** Counts a call of an action, or throws 429 `RateLimitExceeded`. Rejected calls do not count. */
  take(action: AssetAction): void
}

/**
 * Creates a rate limiter: at most `limit` calls in any sliding window of one second, the strictest reading of "per
 * second". A fractional limit changes the window: 2.5 means 2 in 800 ms, 0.05 means 1 in 20 s.
 */
export const createLimits = (limits: RateLimits, clock: () => number): Limits => {
  const taken = new Map<string, number[]>()
  return {
    take(action) {
      const limit = limits[action]
      if (limit === undefined) return
      const maxCalls = limit < 1 ? 1 : Math.floor(limit)
      const windowMs = (maxCalls / limit) * 1000
      const now = clock()
      const recent = (taken.get(action) ?? []).filter((at) => now - at < windowMs)
      taken.set(action, recent)
      if (limit <= 0 || recent.length >= maxCalls) {
        throw new ArkError(429, 'RateLimitExceeded', `The request rate of ${action} exceeds the limit of the account.`)
      }
      recent.push(now)
    },
  }
}
