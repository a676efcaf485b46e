import { errorDetails } from '../../shared/upstream/error-details.ts'
import type { RawResponse } from '../../shared/upstream/upstream-error.ts'

/**
 * What a 429 of the upstream means.
 *
 * - `running`: the maximum of running tasks is reached, until one ends.
 * - `queue`: the upstream's queue is full, until a task leaves it.
 * - `rate`: calls are too frequent, or the service is overloaded, for some time.
 * - `account`: a budget is used up. To wait is of no use.
 */
export type LimitKind = 'running' | 'queue' | 'rate' | 'account'

/**
 * Classifies a response with status 429 by its code and message (https://www.volcengine.com/docs/82379/1299023).
 * Undefined for other statuses.
 *
 * The code alone does not decide: `QuotaExceeded` stands for a full queue and for several budgets.
 */
export const limitOf = (response: Pick<RawResponse, 'status' | 'bytes'>): LimitKind | undefined => {
  if (response.status !== 429) return undefined
  for (const { code, message } of errorDetails(response)) {
    if (code === 'InflightBatchsizeExceeded') return 'running'
    if (code === 'QuotaExceeded') return /^the request has exceeded the quota/i.test(message) ? 'queue' : 'account'
    if (code === 'SetLimitExceeded') return 'account'
  }
  return 'rate'
}

/** Longest pause that an upstream can ask for. */
const maxPauseMs = 300_000

/** The pause in `Retry-After`, in milliseconds. Undefined: it names none. */
export const retryAfterMs = ({ headers }: Pick<RawResponse, 'headers'>, now: number): number | undefined => {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, maxPauseMs) : undefined
}
