import type {
  NamedVideoTask,
  VideoDecisionStore,
  VideoTasksOfAllFilter,
} from '../../../plugins/video-generation/decisions/store.ts'
import type { Database, Row, Steps } from '../database/database.ts'
import { UniqueViolationError } from '../database/error.ts'
import { clause, type Statement, sql } from '../database/statement.ts'
import { endTaskHold } from './holds.ts'
import type { Notices } from './notices.ts'
import { forgetRequest } from './requests.ts'
import { readTasks, selectTask, taskOf } from './task-rows.ts'

/** The tasks of all users, and what operators decide about them. */
export const videoDecisions = (database: Database, notices: Notices): VideoDecisionStore => ({
  async anyVideoTask(id) {
    const [row] = await database.query(selectTask(id))
    return row && taskOf(row)
  },

  async listVideoTasks(filter, { limit, after }, now) {
    // One more, which shows whether there is a next page.
    const page = { after, limit: limit + 1 }
    const statements =
      filter.status === 'undecided'
        ? [overrunningOrFailed(filter.user, page), unknownOutcomes(filter.user, page, now)]
        : [tasksOf(filter, page)]
    const found = (await database.batch(statements)).flat().map(({ id }) => String(id))
    const ids = found.sort((a, b) => (a < b ? 1 : -1)).slice(0, limit)
    const tasks = await readTasks(
      database,
      ids.map((id) => ({ id })),
    )
    const names = await namesOf(database, new Set(tasks.map(({ user }) => user)))
    const last = ids.at(-1)
    return {
      tasks: tasks.map((task) => withName(task, names.get(task.user))),
      ...(found.length > limit && last !== undefined && { next: last }),
    }
  },

  async adoptVideoTask(id, upstreamId, at) {
    try {
      const outcome = await database.transaction(function* () {
        const [before] = yield sql`
          select bytes
          from video_tasks
          where id = ${id}`
        if (!before) return 'unknown'
        const [adopted] = yield sql`
          update video_tasks
          set phase = 'submitted', status = case when phase = 'submitted' then status else 'queued' end,
            task = case when phase = 'submitted' then task else null end, upstream_id = ${upstreamId},
            submitted_at = ${at}, running_at = case when phase = 'submitted' then cast(${at} as bigint) else null end,
            due_at = ${at}, lease_until = 0, undecided_at = null, ended_at = null, request = null
          where id = ${id}
          and (
            (phase in ('submitted', 'ended') and undecided_at is not null)
            or (phase = 'submitting' and lease_until < ${at})
          )
          returning id`
        if (!adopted) return 'decided'
        yield* notices.tellStatuses([id], at)
        return { bytes: before.bytes }
      })
      if (typeof outcome !== 'object') return outcome
      await forgetRequest(database, id, outcome.bytes)
      return 'adopted'
    } catch (error) {
      if (error instanceof UniqueViolationError) return 'upstream-id-taken'
      throw error
    }
  },

  async abandonVideoTask(id, task, at) {
    const abandoned = await database.transaction(function* (): Steps<Row | undefined> {
      const [ended] = yield sql`
        update video_tasks
        set phase = 'ended', status = 'failed', task = ${task}, ended_at = ${at}, freed_at = ${at}, due_at = null,
          undecided_at = null, request = null
        where id = ${id}
        and (
          (phase = 'submitted' and undecided_at is not null)
          or (phase = 'submitting' and lease_until < ${at})
        )
        returning bytes`
      if (ended) {
        yield* endTaskHold(id)
        yield* notices.tellStatuses([id], at)
        return ended
      }
      // It has failed before.
      const [known] = yield sql`
        update video_tasks
        set undecided_at = null
        where id = ${id}
        and phase = 'ended'
        and undecided_at is not null
        returning bytes`
      if (known) yield* endTaskHold(id)
      return known
    })
    await forgetRequest(database, id, abandoned?.bytes)
    return abandoned !== undefined
  },
})

interface Page {
  readonly after: string | undefined
  readonly limit: number
}

/** The newest tasks with a smaller id than `after`. */
const tasksOf = ({ user, status }: VideoTasksOfAllFilter, { after, limit }: Page): Statement => clause`
  select id
  from video_tasks
  where 1 = 1
  ${user === undefined ? [] : clause`and user_id = ${user}`}
  ${status === undefined ? [] : clause`and status = ${status}`}
  ${after === undefined ? [] : clause`and id < ${after}`}
  order by id desc
  limit ${limit}`

/**
 * Of few tasks, those of a user. The function keeps SQLite from reading all tasks of the user by their index instead.
 */
const withoutIndexOfUsers = (user: string): Statement => clause`and coalesce(user_id, '') = ${user}`

const overrunningOrFailed = (user: string | undefined, { after, limit }: Page): Statement => clause`
  select id
  from video_tasks
  where undecided_at is not null
  ${user === undefined ? [] : withoutIndexOfUsers(user)}
  ${after === undefined ? [] : clause`and id < ${after}`}
  order by id desc
  limit ${limit}`

/** There are as few of them as create calls have been lost in the last minutes. */
const unknownOutcomes = (user: string | undefined, { after, limit }: Page, now: number): Statement => clause`
  select id
  from video_tasks
  where phase = 'submitting'
  and lease_until < ${now}
  ${user === undefined ? [] : withoutIndexOfUsers(user)}
  ${after === undefined ? [] : clause`and coalesce(id, '') < ${after}`}
  order by id desc
  limit ${limit}`

const namesOf = async (database: Database, users: ReadonlySet<string>): Promise<ReadonlyMap<unknown, unknown>> => {
  const rows = await database.batch(
    [...users].map(
      (user) => sql`
        select id, name
        from users
        where id = ${user}`,
    ),
  )
  return new Map(rows.flat().map(({ id, name }) => [id, name]))
}

const withName = (task: NamedVideoTask, name: unknown): NamedVideoTask =>
  typeof name === 'string' ? { ...task, userName: name } : task
