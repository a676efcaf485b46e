import { holderOfTask, type VideoUsage } from '../../../plugins/video-generation/tasks/task.ts'
import type { Steps } from '../database/database.ts'
import type { Statement } from '../database/statement.ts'
import { confirmHold, endHold, nothingUsed } from '../limits/holds.ts'

/** What a task holds of the limits of its user stays until the task ends: part of the transaction that adds it. */
export const keepTaskHold = (id: string): Statement => confirmHold(holderOfTask(id))

/**
 * A task has ended, or the upstream never saw it: books what it has used, and gives back the rest of what it held.
 *
 * @param usage undefined: it has used nothing. A count that the upstream did not report is that which was held
 */
export const endTaskHold = (id: string, usage?: VideoUsage): Steps =>
  endHold(
    holderOfTask(id),
    usage
      ? { tokens: usage.completionTokens, video_seconds: usage.seconds, cost: usage.cost, requests: 1, videos: 1 }
      : nothingUsed,
  )
