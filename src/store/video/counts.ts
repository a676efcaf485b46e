import type { VideoTaskCount } from '../../../plugins/video-generation/store/pool.ts'
import type { VideoQueue } from '../../../plugins/video-generation/store/queue.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'

/** Counts of the tasks that wait or run. Each part reads an index of such tasks only. */
export const videoCounts = (database: Database): Pick<VideoQueue, 'countVideoTasks'> => ({
  async countVideoTasks(max) {
    const counts = await database.batch([
      // The oldest one of each pool is the first in the index by age.
      sql`
        select counted.pool, 'waiting' as phase, counted.count, (
            select min(created_at)
            from video_tasks
            where pool = counted.pool
            and phase = 'waiting'
          ) as "oldestAt"
        from (
          select pool, count(*) as count
          from video_tasks
          where phase = 'waiting'
          group by pool
          order by count(*) desc
          limit ${max}
        ) counted
        where counted.pool is not null`,
      sql`
        select coalesce(pool, '') as pool, 'running' as phase, count(*) as count
        from video_tasks
        where phase in ('submitting', 'submitted')
        and undecided_at is null
        group by pool
        order by count(*) desc
        limit ${max}`,
      sql`
        select coalesce(pool, '') as pool, 'overrunning' as phase, count(*) as count
        from video_tasks
        where phase = 'submitted'
        and undecided_at is not null
        group by pool
        order by count(*) desc
        limit ${max}`,
    ])
    return counts.flat().map((row) => ({ ...row, count: Number(row.count) }) as unknown as VideoTaskCount)
  },
})
