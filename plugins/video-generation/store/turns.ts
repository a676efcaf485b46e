import type { PoolLimits } from './pool.ts'

/** A user with waiting tasks in a pool. */
export interface WaitingUser {
  readonly user: string
  /** Place of the oldest waiting task. */
  readonly place: number
  /** Grows with each task that is started. */
  readonly pass: number
  /** Number of running tasks. */
  readonly running: number
}

/** The pass of a user with weight 1 grows by this with each task. */
const strideOfOne = 1_000_000

/** What a task adds to the pass of its user. Throws RangeError for a weight that is no number greater than 0. */
export const strideOf = (user: string, { weightOf }: Pick<PoolLimits, 'weightOf'>): number => {
  const weight = weightOf?.(user) ?? 1
  if (!(weight > 0 && weight < Number.POSITIVE_INFINITY))
    throw new RangeError('a weight must be a number greater than 0')
  return Math.max(1, Math.min(1_000 * strideOfOne, Math.round(strideOfOne / weight)))
}

/**
 * The user who gets the next slot. Undefined: each has the maximum of running tasks.
 *
 * Start-time fair queueing: the smallest pass is next, and with each task it grows by the inverse of the user's weight.
 * So tasks of all users are started in the ratio of their weights, however many each has sent. A user who had no
 * waiting task begins at the pass of the task that was started last, so nobody saves up turns.
 */
export const nextUser = (
  users: readonly WaitingUser[],
  { runningPerUser = Number.POSITIVE_INFINITY }: Pick<PoolLimits, 'runningPerUser'>,
): WaitingUser | undefined => {
  let best: WaitingUser | undefined
  for (const each of users) {
    if (each.running >= runningPerUser) continue
    if (!best || each.pass < best.pass || (each.pass === best.pass && each.place < best.place)) best = each
  }
  return best
}
