import { Refusal } from './refusal.ts'

/** Calls per second and action for a whole account, as documented (pages 2318270 to 2318278, 2341606, 2333587, 2333588). */
export const DOCUMENTED_LIMITS: Readonly<Record<string, number>> = {
  CreateAssetGroup: 10,
  // documented as 300 a minute
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

/** Counts the calls of an account. */
export interface Limits {
  /** Notes a call of an action, or refuses it with 429 `RateLimitExceeded`; refused calls are not counted. */
  take(action: string): void
}

/**
 * At most `limit` calls in any window of one second, sliding, which is the strictest reading of "per second". A limit that
 * is not whole stretches the window: 2.5 means 2 in 800 ms, 0.05 means 1 in 20 s. An action without a limit is free.
 */
export function createLimits(limits: Readonly<Record<string, number>>, clock: () => number): Limits {
  const taken = new Map<string, number[]>()
  return {
    take(action) {
      const limit = Object.hasOwn(limits, action) ? limits[action] : undefined
      if (limit === undefined) return
      const most = limit < 1 ? 1 : Math.floor(limit)
      const windowMs = (most / limit) * 1000
      const now = clock()
      const recent = (taken.get(action) ?? []).filter((at) => now - at < windowMs)
      taken.set(action, recent)
      if (limit <= 0 || recent.length >= most) {
        throw new Refusal(429, 'RateLimitExceeded', `The request rate of ${action} exceeds the limit of the account.`)
      }
      recent.push(now)
    },
  }
}
