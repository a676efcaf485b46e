import type { VideoCopies } from '../../../plugins/video-generation/store/queue.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import type { Notices } from './notices.ts'
import { readTasks, selectTask, taskOf } from './task-rows.ts'

/** Copies of results: of tasks that end with it, and of tasks that have ended before it was made. */
export const videoCopies = (database: Database, notices: Notices): VideoCopies => ({
  async dueVideoCopies(now, max) {
    const due = await database.query<{ id: string }>(sql`
      select id
      from video_tasks
      where phase in ('copying', 'ended')
      and due_at <= ${now}
      and lease_until <= ${now}
      order by due_at, id
      limit ${max}`)
    return readTasks(database, due)
  },

  async leaseVideoCopy(id, now, until) {
    return database.transaction(function* () {
      const [leased] = yield sql`
        update video_tasks
        set lease_until = ${until}
        where id = ${id}
        and phase in ('copying', 'ended')
        and due_at <= ${now}
        and lease_until <= ${now}
        returning id`
      if (!leased) return undefined
      const [task] = yield selectTask(id)
      return task && taskOf(task)
    })
  },

  async extendVideoCopy(id, until, newUntil) {
    const extended = await database.query(sql`
      update video_tasks
      set lease_until = ${newUntil}
      where id = ${id}
      and phase in ('copying', 'ended')
      and lease_until = ${until}
      returning id`)
    return extended.length === 1
  },

  async endVideoTask(id, at, result, retryAt) {
    return database.transaction(function* () {
      const [ended] = yield sql`
        update video_tasks
        set phase = 'ended', status = 'succeeded', task = final_task, final_task = null, result = ${result}, ended_at = ${at},
          due_at = ${retryAt}, lease_until = 0
        where id = ${id}
        and phase = 'copying'
        returning id`
      if (ended) yield* notices.tellStatuses([id], at)
      return ended !== undefined
    })
  },

  async releaseVideoCopy(id, result, retryAt) {
    const released = await database.query(sql`
      update video_tasks
      set result = coalesce(${result}, result), due_at = ${retryAt}, lease_until = 0
      where id = ${id}
      and phase in ('copying', 'ended')
      returning id`)
    return released.length === 1
  },
})
