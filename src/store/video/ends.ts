import { membersOf, parsedJson } from '../../../plugins/shared/json/parsed.ts'
import type { VideoEnds } from '../../../plugins/video-generation/store/queue.ts'
import type { VideoTask } from '../../../plugins/video-generation/tasks/task.ts'
import { keepTaskEnd, usesPersons } from '../consents/consent-uses.ts'
import { type Database, type Steps, sql } from '../database/database.ts'
import { expireFile } from '../files.ts'
import { endTaskHold } from './holds.ts'
import type { Notices } from './notices.ts'
import { forgetRequest, sweepPieces } from './requests.ts'
import { selectTask, taskOf } from './task-rows.ts'

/**
 * Ends of tasks that the upstream never saw, and the deletion of those that have ended.
 *
 * What one step changes is found first, and then changed row by row: for the keys of a subquery, PostgreSQL may read
 * the whole table.
 */
export const videoEnds = (database: Database, notices: Notices): VideoEnds => ({
  async cancelWaitingVideoTask(user, id, at) {
    const cancelled = await database.transaction(function* () {
      const [row] = yield sql`
        update video_tasks
        set phase = 'ended', status = 'cancelled', ended_at = ${at}, due_at = null, request = null
        where id = ${id}
        and user_id = ${user}
        and phase = 'waiting'
        returning bytes`
      if (row) {
        yield* endTaskHold(id)
        yield* notices.tellStatuses([id], at)
      }
      return row
    })
    await forgetRequest(database, id, cancelled?.bytes)
    return cancelled !== undefined
  },

  async deleteVideoTask(user, id, at) {
    return database.transaction(function* () {
      const deleted = yield* deleteEnded(id, at, user)
      if (deleted) yield* notices.tellDeletion(deleted, at)
      return deleted
    })
  },

  // One with the object of a failed task has ended for the reason in it.
  async expireWaitingVideoTasks(now, max) {
    const expired = await database.transaction(function* () {
      const due = yield sql`
        select id
        from video_tasks
        where phase = 'waiting'
        and expires_at <= ${now}
        order by expires_at
        limit ${max}`
      const rows = yield due.map(
        ({ id }) => sql`
          update video_tasks
          set phase = 'ended', status = case when task is null then 'expired' else 'failed' end, ended_at = ${now},
            due_at = null, request = null
          where id = ${id}
          and phase = 'waiting'
          returning id, bytes`,
      )
      for (const { id } of rows) yield* endTaskHold(String(id))
      yield* notices.tellStatuses(
        rows.map(({ id }) => String(id)),
        now,
      )
      return rows
    })
    for (const { id, bytes } of expired) await forgetRequest(database, String(id), bytes)
    return expired.length
  },

  async sweepVideoTasks(endedBefore, max) {
    return database.transaction(function* () {
      const old = yield sql`
        select id
        from video_tasks
        where phase = 'ended'
        and ended_at < ${endedBefore}
        order by ended_at, id
        limit ${max}`
      const swept: VideoTask[] = []
      for (const { id } of old) {
        const task = yield* deleteEnded(String(id), endedBefore)
        if (task) swept.push(task)
      }
      return swept
    })
  },

  sweepVideoRequests: (now, max) => sweepPieces(database, now, max),

  async sweepVideoPools(unusedSince, max) {
    const unused = await database.query(sql`
      select pool
      from video_pools
      where used_at < ${unusedSince}
      and not exists (
        select 1
        from video_tasks
        where video_tasks.pool = video_pools.pool
        and phase = 'waiting'
      )
      order by used_at
      limit ${max}`)
    const swept = await database.batch(
      unused.map(
        ({ pool }) => sql`
          delete from video_pools
          where pool = ${pool}
          and used_at < ${unusedSince}
          returning pool`,
      ),
    )
    return swept.flat().length
  },
})

/** Deletes a task that has ended. The copies of its result expire, so that the next sweep removes them. */
function* deleteEnded(id: string, at: number, user?: string): Steps<VideoTask | undefined> {
  const [task] = yield selectTask(id)
  if (user !== undefined && task?.user !== user) return undefined
  const [deleted] = yield sql`
    delete from video_tasks
    where id = ${id}
    and phase = 'ended'
    returning id`
  if (!task || !deleted) return undefined
  // Nobody decides about it any more.
  if (task.undecidedAt !== undefined) yield* endTaskHold(id)
  for (const key of filesIn(task.result)) yield expireFile(key, at)
  if (usesPersons(task.fields)) yield keepTaskEnd(id, String(task.status), taskOf(task).endedAt)
  return taskOf(task)
}

/** The files of a result. None of a damaged one: else it would keep all later tasks from being removed. */
const filesIn = (result: unknown): readonly string[] =>
  Object.values(membersOf(parsedJson(String(result)))).filter((key) => typeof key === 'string')
