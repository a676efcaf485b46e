import { FieldProblem } from '../../shared/field-problem.ts'
import type { PlacedAssets } from '../../shared/media/asset-ownership.ts'
import type { Problem } from '../../shared/problem.ts'
import { errorDetails } from '../../shared/upstream/error-details.ts'
import {
  type RawResponse,
  UpstreamInvalidError,
  UpstreamRejectedError,
  UpstreamUnreachableError,
} from '../../shared/upstream/upstream-error.ts'
import { UpstreamKeyRejectedError } from '../../shared/upstream/upstream-key.ts'
import type { PoolSignal } from '../store/pool.ts'
import type { TaskFields } from '../tasks/request/fields.ts'

/** Whether the upstream may have created the task all the same. */
export const isUnknown = (problem: Problem): boolean =>
  problem instanceof UpstreamInvalidError ||
  (problem instanceof UpstreamUnreachableError && problem.sent) ||
  (problem instanceof UpstreamRejectedError && problem.status >= 500)

/** Pause after a call that was not sent, and after one with a key that the upstream rejects. */
const brokenPauseMs = 5_000
const keyPauseMs = 30_000

/** What a rejection says about the pool. Undefined: it is about the request. */
export const signalOf = (problem: Problem, now: number): PoolSignal | undefined => {
  if (problem instanceof UpstreamUnreachableError) return { kind: 'rate', pauseMs: brokenPauseMs }
  if (problem instanceof UpstreamKeyRejectedError) return { kind: 'rate', pauseMs: keyPauseMs }
  if (!(problem instanceof UpstreamRejectedError)) return undefined
  const kind: LimitKind | undefined = limitOf(problem.response)
  if (kind === undefined || kind === 'account') return undefined
  const pauseMs = retryAfterMs(problem.response, now)
  return { kind, ...(pauseMs !== undefined && { pauseMs }) }
}

/** The upstream's error with the caller's ids of the draft and the assets in place of the upstream's. */
export const withOwnIds = (
  error: UpstreamRejectedError,
  { draftUpstreamId, shown }: TaskFields,
  placed: PlacedAssets,
): UpstreamRejectedError => {
  if (draftUpstreamId === undefined && placed.size === 0) return error
  const text = new TextDecoder().decode(error.response.bytes)
  let changed = draftUpstreamId === undefined ? text : text.replaceAll(draftUpstreamId, String(shown.draft_task_id))
  for (const [own, upstreamId] of placed) changed = changed.replaceAll(upstreamId, own)
  return changed === text
    ? error
    : new UpstreamRejectedError({ ...error.response, bytes: new TextEncoder().encode(changed) })
}

/** Code and message of a rejection, for a task that fails with it. */
export const errorOf = (problem: Problem): { readonly code: string; readonly message: string } => {
  const [detail] = problem instanceof UpstreamRejectedError ? errorDetails(problem.response) : []
  const code = problem instanceof FieldProblem ? problem.code : detail?.code
  return { code: code || 'InternalServiceError', message: detail?.message || problem.message }
}

/**
 * What a 429 of the upstream means.
 *
 * - `running`: the maximum of running tasks is reached, until one ends.
 * - `queue`: the upstream's queue is full, until a task leaves it.
 * - `rate`: calls are too frequent, or the service is overloaded, for some time.
 * - `account`: a budget is used up. To wait is of no use.
 */
type LimitKind = 'running' | 'queue' | 'rate' | 'account'

/**
 * Classifies a response with status 429 by its code and message (https://www.volcengine.com/docs/82379/1299023).
 * Undefined for other statuses.
 *
 * The code alone does not decide: `QuotaExceeded` stands for a full queue and for several budgets.
 */
const limitOf = (response: Pick<RawResponse, 'status' | 'bytes'>): LimitKind | undefined => {
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
const retryAfterMs = ({ headers }: Pick<RawResponse, 'headers'>, now: number): number | undefined => {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, maxPauseMs) : undefined
}
