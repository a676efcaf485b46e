import type { Json } from '../../shared/json/json.ts'
import type { Amounts, LimitedCall, UsageLimits, UsageReservation } from '../../usage-limits/index.ts'
import { expectedUsageOf } from '../tasks/request/expected-usage.ts'
import { holderOfTask, type NewVideoTask, type VideoTask, type VideoUsage } from '../tasks/task.ts'

export interface ReserveTaskOptions {
  readonly usageLimits: UsageLimits | undefined
  readonly costOf: ((task: VideoTask, usage: VideoUsage) => number | undefined) | undefined
  /** Whether results are copied: then they count as stored bytes of the user. */
  readonly copies: boolean
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

/** What a task is expected to use, and its price. */
export interface ExpectedUsage extends ReturnType<typeof expectedUsageOf> {
  /** Undefined: the model has no price. */
  readonly cost: number | undefined
}

/** What a task will use, by its request. */
export const expectedUsage = (
  task: NewVideoTask,
  request: Json,
  { costOf }: Pick<ReserveTaskOptions, 'costOf'>,
): ExpectedUsage => {
  const usage = expectedUsageOf(request, task.model)
  return {
    ...usage,
    cost: costOf?.({ ...task, phase: 'waiting', status: 'queued', leaseUntil: 0, attempts: 0 }, usage),
  }
}

/** The amounts that a task uses, by unit. */
export const usesOf = ({ completionTokens, seconds, cost }: ExpectedUsage): Amounts => ({
  ...{ requests: 1, videos: 1, video_seconds: seconds, tokens: completionTokens },
  ...(cost !== undefined && { cost }),
})

/** What holds a slot and room for the result, and what holds the rest. Undefined: no limit applies. */
interface TaskReservations {
  readonly running: UsageReservation | undefined
  readonly used: UsageReservation | undefined
}

/** A task before it is created, and the name by which its caller has named the model, see `VideoCaller`. */
export interface PlannedTask extends NewVideoTask {
  readonly modelAlias: string | undefined
}

/**
 * Nobody knows how long a result will be, and one that was paid for is kept. So a full storage refuses new tasks. It is
 * always settled, and never given back to this process: the next task has to ask the store again, which counts results.
 */
const roomOfResult: Amounts = { storage_bytes: 1 }

const reserveUses = async (
  { user, token, model, modelAlias }: PlannedTask,
  usage: ExpectedUsage,
  signal: AbortSignal,
  { usageLimits, copies }: { readonly usageLimits: UsageLimits; readonly copies: boolean },
): Promise<TaskReservations> => {
  const models = modelAlias === undefined ? model : [modelAlias, model]
  const caller: Omit<LimitedCall, 'uses'> = { user, token, model: models, signal, unpriced: usage.cost === undefined }
  const running = await usageLimits.reserve({
    ...caller,
    uses: { running_videos: 1, ...(copies && roomOfResult) },
  })
  try {
    return { running, used: await usageLimits.reserve({ ...caller, uses: usesOf(usage) }) }
  } catch (error) {
    running?.release()
    throw error
  }
}

/** Throws what `reserveTask` would throw now. Nothing stays reserved. */
export const checkRoom = async (
  task: PlannedTask,
  usage: ExpectedUsage,
  signal: AbortSignal,
  { usageLimits, copies }: Pick<ReserveTaskOptions, 'usageLimits' | 'copies'>,
): Promise<void> => {
  if (!usageLimits) return
  const { running, used } = await reserveUses(task, usage, signal, { usageLimits, copies })
  used?.release()
  running?.settle(roomOfResult)
  running?.release()
}

/**
 * Reserves what a task will use, and moves it to the task: so it stays reserved whatever happens to this process. It is
 * settled in the transaction that ends the task.
 *
 * Throws or rejects as `UsageLimits.reserve` does.
 */
export const reserveTask = async (
  task: PlannedTask,
  request: Json,
  signal: AbortSignal,
  { usageLimits, costOf, copies }: ReserveTaskOptions,
): Promise<ReservedUsage> => {
  if (!usageLimits) return nothing
  const usage = expectedUsage(task, request, { costOf })
  const { running, used } = await reserveUses(task, usage, signal, { usageLimits, copies })
  try {
    await used?.hold(holderOfTask(task.id))
  } catch (error) {
    used?.release()
    running?.release()
    throw error
  }
  return {
    holds: used !== undefined,
    // The row of the task counts as a running video.
    added: () => running?.settle({ running_videos: 1, ...roomOfResult }),
    release: () => running?.release(),
  }
}
