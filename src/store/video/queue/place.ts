import { placeInLine, type UserInLine, type WaitingLine } from '../../../../plugins/video-generation/store/place.ts'
import type { VideoPlaces } from '../../../../plugins/video-generation/store/queue.ts'
import { poolOf } from '../../../../plugins/video-generation/tasks/task.ts'
import type { Database } from '../../database/database.ts'
import { sql } from '../../database/statement.ts'

/**
 * How long a process uses what it has read of a pool: many callers ask for their places, and reading counts all waiting
 * tasks.
 */
const cachedMs = 1_000
const maxCached = 100

/** Places in the queue, as they are if no further task is added. */
export const placesInQueue = (database: Database): VideoPlaces => {
  const cached = new Map<string, Promise<WaitingLine>>()
  const readAt = new Map<string, number>()

  const lineOf = (pool: string, now: number): Promise<WaitingLine> => {
    const known = cached.get(pool)
    const age = now - (readAt.get(pool) ?? 0)
    if (known && age >= 0 && age < cachedMs) return known
    if (cached.size >= maxCached) {
      cached.clear()
      readAt.clear()
    }
    const read = readLine(database, pool)
    cached.set(pool, read)
    readAt.set(pool, now)
    read.catch(() => cached.delete(pool))
    return read
  }

  return {
    videoQueueLine: lineOf,

    async videoQueuePlace({ id, user, ...task }, limits, now) {
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
        and own.pool is not null
        and own.phase = 'waiting'`)
      return own && placeInLine(user, own.before, await lineOf(poolOf(task), now), limits)
    },
  }
}

const readLine = async (database: Database, pool: string): Promise<WaitingLine> => {
  const [[state], [slots], users] = (await database.batch([
    sql`
      select pass, learnt, mean_ms as "meanMs"
      from video_pools
      where pool = ${pool}`,
    sql`
      select count(*) as running
      from video_tasks
      where pool = ${pool}
      and phase in ('submitting', 'submitted')
      and undecided_at is null`,
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
  ])) as unknown as [Omit<WaitingLine, 'users' | 'running'>[], { running: number }[], UserInLine[]]
  return { ...(state ?? { pass: 0 }), running: Number(slots?.running ?? 0), users }
}
