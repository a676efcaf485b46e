import type { QueuePlace } from '../tasks/tasks.ts'
import type { PoolLimits, VideoQueuePlace } from './pool.ts'
import { slotsOf } from './slots.ts'
import { strideOf } from './turns.ts'

/** What the places of all tasks of a pool are computed from. */
export interface WaitingLine {
  /** The pass at which the last task was started. */
  readonly pass: number
  readonly learnt?: number
  /** Mean time that a task keeps its slot. */
  readonly meanMs?: number
  /** Tasks that have a slot. */
  readonly running: number
  readonly users: readonly UserInLine[]
}

/** A user with waiting tasks. */
export interface UserInLine {
  readonly user: string
  readonly pass: number
  /** Number of waiting tasks. */
  readonly waiting: number
}

/**
 * The place of a task, as it is if no further one is added: the tasks with a smaller pass start first.
 *
 * @param ownBefore number of waiting tasks of the same user that are older
 */
export const placeInLine = (
  user: string,
  ownBefore: number,
  line: WaitingLine,
  limits: PoolLimits,
): VideoQueuePlace => {
  const own = line.users.find((each) => each.user === user)
  const pass = (own?.pass ?? line.pass) + ownBefore * strideOf(user, limits)
  const before = line.users
    .filter((each) => each.user !== user)
    .reduce((sum, each) => {
      const rounds = Math.ceil((pass - each.pass) / strideOf(each.user, limits))
      return sum + Math.max(0, Math.min(each.waiting, rounds))
    }, ownBefore)
  const { meanMs } = line
  if (meanMs === undefined) return { before }
  return { before, startsInMs: Math.round((meanMs * (before + 1)) / Math.max(1, slotsOf(line, limits))) }
}

/** The place that one more task of a user would have. Undefined: it would start at once. */
export const placeOfNext = (user: string, line: WaitingLine, limits: PoolLimits): VideoQueuePlace | undefined => {
  const own = line.users.find((each) => each.user === user)
  const isFree = line.running < slotsOf(line, limits) && line.users.length === 0
  return isFree ? undefined : placeInLine(user, own?.waiting ?? 0, line, limits)
}

/** A place as callers see it. */
export const shownPlace = ({ before, startsInMs }: VideoQueuePlace): QueuePlace => ({
  position: before + 1,
  seconds: startsInMs === undefined ? undefined : Math.ceil(startsInMs / 1000),
})
