import { membersOf, parsedJson } from '../../../plugins/shared/json/parsed.ts'
import type { VideoEnds } from '../../../plugins/video-generation/store/queue.ts'
import type { VideoTask } from '../../../plugins/video-generation/tasks/task.ts'
import { keepTaskEnd, usesPersons } from '../consents/consent-uses.ts'
import type { Database, Steps } from '../database/database.ts'
import { sql } from '../database/statement.ts'
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
      const [deleted] = yield* deleteEnded([id], at, user)
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
      return yield* deleteEnded(
        old.map(({ id }) => String(id)),
        endedBefore,
      )
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

/**
 * Deletes tasks that have ended, in few round trips. The copies of their results expire, so that the next sweep removes
 * them. Returns those that were deleted.
 */
function* deleteEnded(ids: readonly string[], at: number, user?: string): Steps<VideoTask[]> {
  const found = (yield ids.map(selectTask)).filter((task) => user === undefined || task.user === user)
  const deleted = yield found.map(
    ({ id }) => sql`
      delete from video_tasks
      where id = ${id}
      and phase = 'ended'
      returning id`,
  )
  const gone = found.filter(({ id }) => deleted.some((row) => row.id === id))
  // Nobody decides about them any more.
  for (const { id, undecidedAt } of gone) if (undecidedAt !== undefined) yield* endTaskHold(String(id))
  yield gone.flatMap((task) => [
    ...filesIn(task.result).map((key) => expireFile(key, at)),
    ...(usesPersons(task.fields) ? [keepTaskEnd(String(task.id), String(task.status), taskOf(task).endedAt)] : []),
  ])
  return gone.map(taskOf)
}

/** The files of a result. None of a damaged one: else it would keep all later tasks from being removed. */
const filesIn = (result: unknown): readonly string[] =>
  Object.values(membersOf(parsedJson(String(result)))).filter((key) => typeof key === 'string')
