import type { VideoLists } from '../../../plugins/video-generation/store/queue.ts'
import type { VideoTask } from '../../../plugins/video-generation/tasks/task.ts'
import type { VideoTaskFilter, VideoTaskPage } from '../../../plugins/video-generation/tasks/tasks.ts'
import type { Database, Row } from '../database/database.ts'
import { type Statement, sql } from '../database/statement.ts'
import { readTasks, selectTask, selectTasks, taskOf } from './task-rows.ts'

/** Lists of the tasks of a user, by id. Ids sort by creation. */
export const listVideoTasks = (database: Database): VideoLists => ({
  async videoTask(user, id) {
    const [row] = await database.query(selectTask(id))
    return row?.user === user ? taskOf(row) : undefined
  },

  async videoTasks(user, filter, page) {
    if (filter.ids) return listById(database, user, filter, page)
    const { status, model, serviceTier } = filter
    const [rows, [counted]] = (await database.batch([
      pageStatement(user, filter, page),
      sql`
        select count(*) as total
        from video_tasks
        where user_id = ${user}
        and (cast(${status} as text) is null or status = ${status})
        and (cast(${model} as text) is null or model = ${model})
        and (cast(${serviceTier} as text) is null or service_tier = ${serviceTier})`,
    ])) as [Row[], { total: number }[]]
    return { tasks: rows.map(taskOf), total: Number(counted?.total) }
  },
})

const pageStatement = (
  user: string,
  { status, model, serviceTier }: VideoTaskFilter,
  page: VideoTaskPage,
): Statement => {
  if ('offset' in page || page.order === 'desc') {
    const after = 'offset' in page ? undefined : page.after
    return sql`
      ${selectTasks}
      where user_id = ${user}
      and (cast(${after} as text) is null or id < ${after})
      and (cast(${status} as text) is null or status = ${status})
      and (cast(${model} as text) is null or model = ${model})
      and (cast(${serviceTier} as text) is null or service_tier = ${serviceTier})
      order by id desc
      limit ${page.limit}
      offset ${'offset' in page ? page.offset : 0}`
  }
  return sql`
    ${selectTasks}
    where user_id = ${user}
    and id > ${page.after ?? ''}
    and (cast(${status} as text) is null or status = ${status})
    and (cast(${model} as text) is null or model = ${model})
    and (cast(${serviceTier} as text) is null or service_tier = ${serviceTier})
    order by id
    limit ${page.limit}`
}

const listById = async (
  database: Database,
  user: string,
  { ids = [], status, model, serviceTier }: VideoTaskFilter,
  page: VideoTaskPage,
): Promise<{ tasks: readonly VideoTask[]; total: number }> => {
  const named = await readTasks(
    database,
    [...new Set(ids)].map((id) => ({ id })),
  )
  const found = named
    .filter(
      (task) =>
        task.user === user &&
        (status === undefined || task.status === status) &&
        (model === undefined || task.model === model) &&
        (serviceTier === undefined || task.serviceTier === serviceTier),
    )
    .sort((a, b) => (a.id < b.id ? 1 : -1))
  if ('offset' in page) return { tasks: found.slice(page.offset, page.offset + page.limit), total: found.length }
  const ordered = page.order === 'desc' ? found : found.toReversed()
  const { after } = page
  const rest =
    after === undefined ? ordered : ordered.filter(({ id }) => (page.order === 'desc' ? id < after : id > after))
  return { tasks: rest.slice(0, page.limit), total: found.length }
}
