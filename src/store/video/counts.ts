import type { VideoTaskCount, VideoTaskStore } from '../../../plugins/video-generation/tasks/store.ts'
import { type Database, sql } from '../database/database.ts'

/** Counts of the tasks that wait or run. Both parts read an index of such tasks only. */
export const videoCounts = (database: Database): Pick<VideoTaskStore, 'countVideoTasks'> => ({
  async countVideoTasks(max) {
    const [waiting, running] = await database.batch([
      sql`
        select pool, 'waiting' as phase, count(*) as count
        from video_tasks
        where phase = 'waiting'
        group by pool
        order by count(*) desc
        limit ${max}`,
      sql`
        select coalesce(pool, '') as pool, 'running' as phase, count(*) as count
        from video_tasks
        where phase in ('submitting', 'submitted')
        group by pool
        order by count(*) desc
        limit ${max}`,
    ])
    return [...(waiting ?? []), ...(running ?? [])].map(
      (row) => ({ ...row, count: Number(row.count) }) as unknown as VideoTaskCount,
    )
  },
})
