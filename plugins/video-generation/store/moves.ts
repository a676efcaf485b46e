import type { VideoStatus } from '../tasks/statuses.ts'
import type { VideoTask } from '../tasks/task.ts'
import type { VideoMove } from './queue.ts'

const orderOf: Readonly<Record<VideoStatus, number>> = {
  ...{ queued: 0, running: 1 },
  ...{ succeeded: 2, failed: 2, expired: 2, cancelled: 2 },
}

/** What a move makes of a submitted task. */
export interface MoveStep
  extends Pick<VideoTask, 'phase' | 'status' | 'task' | 'finalTask' | 'undecidedAt' | 'endedAt'> {
  /** Whether its user sees a new status, or its result is to be copied. A status never goes back. */
  readonly hasChanged: boolean
  /** Whether the upstream has ended it. */
  readonly ends: boolean
  /** Whether its result is to be copied. */
  readonly copies: boolean
  /** Whether it runs for too long since this move. */
  readonly overruns: boolean
  /** Whether it took a slot before. */
  readonly hadSlot: boolean
}

export const moveStepOf = (before: VideoTask, move: VideoMove, at: number): MoveStep => {
  const [from, to] = [orderOf[before.status], orderOf[move.status]]
  const ends = to === 2
  const copies = ends && move.copy === true && move.status === 'succeeded'
  const hasChanged = to > from
  const hadSlot = before.undecidedAt === undefined
  const overruns = move.overruns === true && hadSlot && !ends
  return {
    ...{ hasChanged, ends, copies, overruns, hadSlot },
    phase: copies ? 'copying' : ends ? 'ended' : 'submitted',
    status: copies ? 'running' : hasChanged ? move.status : before.status,
    task: !copies && to >= from ? move.task : undefined,
    finalTask: copies ? move.task : undefined,
    undecidedAt: ends ? undefined : overruns ? at : before.undecidedAt,
    endedAt: ends && !copies ? at : undefined,
  }
}
