import type { PoolLimits } from '../../plugins/video-generation/store.ts'

/** A user with waiting or running tasks in a pool. */
export interface PoolUser {
  readonly user: string
  /** Place of the oldest waiting task in the pool. Undefined: none waits. */
  readonly place?: number
  /** The user's pass (`turnOf`). */
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
 * The user who gets the next slot. Undefined: none may have one.
 *
 * Stride scheduling: a user has a pass, which grows with each task by the inverse of the user's weight, and the smallest pass is next. So the tasks of
 * users are started in the ratio of their weights, however many each has sent.
 *
 * Users who have more slots than their share are behind all others. Otherwise a user with long tasks would keep more slots than one with short tasks.
 */
export const nextUser = (users: readonly PoolUser[], slots: number, limits: PoolLimits): PoolUser | undefined => {
  const { runningPerUser = Number.POSITIVE_INFINITY } = limits
  const strides = users.map(({ user }) => strideOf(user, limits))
  const weights = strides.reduce((sum, stride) => sum + 1 / stride, 0)
  let best: PoolUser | undefined
  let bestRank = 0
  for (const [index, each] of users.entries()) {
    if (each.place === undefined || each.running >= runningPerUser) continue
    const share = Math.floor(slots / (strides[index] ?? strideOfOne) / weights) + 1
    const rank = each.running < share ? 0 : 1
    const isBetter =
      best?.place === undefined ||
      rank < bestRank ||
      (rank === bestRank && (each.pass < best.pass || (each.pass === best.pass && each.place < best.place)))
    if (isBetter) {
      best = each
      bestRank = rank
    }
  }
  return best
}
