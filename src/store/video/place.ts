import type { PoolLimits, VideoQueuePlace, VideoTaskStore } from '../../../plugins/video-generation/tasks/store.ts'
import { type Database, sql } from '../database/database.ts'
import { slotsOf } from './queue.ts'
import { strideOf } from './turns.ts'

/** What the places of all tasks of a pool are computed from. */
interface Queue {
  readonly readAt: number
  /** The pass at which the last task was started. */
  readonly pass: number
  readonly learnt?: number
  /** Mean time that a task keeps its slot. */
  readonly meanMs?: number
  readonly users: readonly QueueUser[]
}

interface QueueUser {
  readonly user: string
  readonly pass: number
  /** Number of waiting tasks. */
  readonly waiting: number
}

/**
 * How long a process uses what it has read of a pool: many callers ask for their places, and reading counts all waiting
 * tasks.
 */
const cachedMs = 1_000
const maxCached = 100

/** Places in the queue, as they are if no further task is added. */
export const placeInQueue = (database: Database): VideoTaskStore['videoQueuePlace'] => {
  const cached = new Map<string, Promise<Queue>>()
  const readAt = new Map<string, number>()

  const queueOf = (pool: string, now: number): Promise<Queue> => {
    const known = cached.get(pool)
    const age = now - (readAt.get(pool) ?? 0)
    if (known && age >= 0 && age < cachedMs) return known
    if (cached.size >= maxCached) {
      cached.clear()
      readAt.clear()
    }
    const read = readQueue(database, pool, now)
    cached.set(pool, read)
    readAt.set(pool, now)
    read.catch(() => cached.delete(pool))
    return read
  }

  return async ({ id, user, model: pool }, limits, now) => {
    const [own] = await database.query<{ before: number }>(sql`
      select (
          select count(*)
          from video_tasks earlier
          where earlier.pool = own.pool
          and earlier.phase = 'waiting'
          and earlier.user_id = own.user_id
          and earlier.place < own.place
        ) as before
      from video_tasks own
      where own.id = ${id}
      and own.phase = 'waiting'`)
    return own && placeOf(user, own.before, await queueOf(pool, now), limits)
  }
}

/** The tasks with a smaller pass start first. */
const placeOf = (user: string, ownBefore: number, queue: Queue, limits: PoolLimits): VideoQueuePlace => {
  const own = queue.users.find((each) => each.user === user)
  const pass = (own?.pass ?? queue.pass) + ownBefore * strideOf(user, limits)
  const before = queue.users
    .filter((each) => each.user !== user)
    .reduce((sum, each) => {
      const rounds = Math.ceil((pass - each.pass) / strideOf(each.user, limits))
      return sum + Math.max(0, Math.min(each.waiting, rounds))
    }, ownBefore)
  const { meanMs } = queue
  if (meanMs === undefined) return { before }
  return { before, startsInMs: Math.round((meanMs * (before + 1)) / Math.max(1, slotsOf(queue, limits))) }
}

const readQueue = async (database: Database, pool: string, now: number): Promise<Queue> => {
  const [[state], users] = (await database.batch([
    sql`
      select pass, learnt, mean_ms as "meanMs"
      from video_pools
      where pool = ${pool}`,
    sql`
      select counted.user_id as "user", counted.waiting, coalesce(video_turns.pass, 0) as pass
      from (
        select user_id, count(*) as waiting
        from video_tasks
        where pool = ${pool}
        and phase = 'waiting'
        group by user_id
      ) counted
      left join video_turns on video_turns.pool = ${pool} and video_turns.user_id = counted.user_id`,
  ])) as unknown as [Omit<Queue, 'readAt' | 'users'>[], QueueUser[]]
  return { ...(state ?? { pass: 0 }), readAt: now, users }
}
