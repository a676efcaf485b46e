import type { Json } from '../../shared/json/json.ts'
import type { LimitedCall, UsageLimits, UsageReservation } from '../../usage-limits/index.ts'
import { expectedUsageOf } from './request/expected-usage.ts'
import { holderOfTask, type NewVideoTask, type VideoTask, type VideoUsage } from './task.ts'

export interface ReserveTaskOptions {
  readonly usageLimits: UsageLimits | undefined
  readonly costOf: ((task: VideoTask, usage: VideoUsage) => number | undefined) | undefined
}

/** What a task has reserved of the limits of its user, until its row holds it. */
export interface ReservedUsage {
  /** Whether the task holds a part of a limit: then the transaction that adds the task must keep it. */
  readonly holds: boolean
  /** The task is in the store, which counts it from now on. */
  added(): void
  /** The task was not added. After `added` it has no effect. */
  release(): void
}

const nothing: ReservedUsage = { holds: false, added() {}, release() {} }

/**
 * Reserves what a task will use, and moves it to the task: so it stays reserved whatever happens to this process. It is
 * settled in the transaction that ends the task.
 *
 * Throws or rejects as `UsageLimits.reserve` does.
 */
export const reserveTask = async (
  task: NewVideoTask,
  request: Json,
  signal: AbortSignal,
  { usageLimits, costOf }: ReserveTaskOptions,
): Promise<ReservedUsage> => {
  if (!usageLimits) return nothing
  const { user, token, model } = task
  const usage = expectedUsageOf(request, model)
  const cost = costOf?.({ ...task, phase: 'waiting', status: 'queued', leaseUntil: 0, attempts: 0 }, usage)
  const caller: Omit<LimitedCall, 'uses'> = { user, token, model, signal, unpriced: cost === undefined }
  const running = await usageLimits.reserve({ ...caller, uses: { running_videos: 1 } })
  let used: UsageReservation | undefined
  try {
    used = await usageLimits.reserve({
      ...caller,
      uses: {
        ...{ requests: 1, videos: 1, video_seconds: usage.seconds, tokens: usage.completionTokens },
        ...(cost !== undefined && { cost }),
      },
    })
    await used?.hold(holderOfTask(task.id))
  } catch (error) {
    used?.release()
    running?.release()
    throw error
  }
  return {
    holds: used !== undefined,
    // The row of the task counts as a running video.
    added: () => running?.settle({ running_videos: 1 }),
    release: () => running?.release(),
  }
}
