import type { UsedAsset } from '../../../plugins/shared/media/asset-uses.ts'
import type { VideoAssetUses } from '../../../plugins/video-generation/store/queue.ts'
import type { NewVideoTask } from '../../../plugins/video-generation/tasks/task.ts'
import type { Database } from '../database/database.ts'
import { type Statement, sql } from '../database/statement.ts'
import { readTasks } from './task-rows.ts'

/** Adds the uses of a task. Where the group of an asset is not given, it is the one in which the asset was recorded. */
export const addUses = (
  task: Pick<NewVideoTask, 'id' | 'user'>,
  assets: readonly UsedAsset[] = [],
): readonly Statement[] =>
  assets.map(
    ({ id, group }) => sql`
      insert into video_asset_uses (task_id, asset_id, user_id, group_id)
      values (
        ${task.id}, ${id}, ${task.user},
        coalesce(${group}, (
          select group_id
          from assets
          where id = ${id}
        ))
      )
      on conflict (task_id, asset_id) do nothing`,
  )

/** Which assets the tasks use. Ids of tasks sort by creation. */
export const assetUses = (database: Database): VideoAssetUses => ({
  async tasksWithAsset(user, asset, { after, limit }) {
    const ids = await database.query(sql`
      select task_id as id
      from video_asset_uses
      where asset_id = ${asset}
      and user_id = ${user}
      and (cast(${after} as text) is null or task_id < ${after})
      order by task_id desc
      limit ${limit}`)
    return readTasks(database, ids)
  },

  async countTasksWithAsset(user, used, max) {
    const [counted] = await database.query(
      'asset' in used ? countOfAsset(user, used.asset, max) : countOfGroup(user, used.group, max),
    )
    return { total: Number(counted?.total ?? 0), waiting: Number(counted?.waiting ?? 0) }
  },
})

const countOfAsset = (user: string, asset: string, max: number): Statement => sql`
  select count(*) as total, sum(case when video_tasks.status = 'queued' then 1 else 0 end) as waiting
  from (
    select task_id
    from video_asset_uses
    where asset_id = ${asset}
    and user_id = ${user}
    order by task_id desc
    limit ${max}
  ) counted
  join video_tasks on video_tasks.id = counted.task_id`

const countOfGroup = (user: string, group: string, max: number): Statement => sql`
  select count(*) as total, sum(case when video_tasks.status = 'queued' then 1 else 0 end) as waiting
  from (
    select distinct task_id
    from video_asset_uses
    where group_id = ${group}
    and user_id = ${user}
    order by task_id desc
    limit ${max}
  ) counted
  join video_tasks on video_tasks.id = counted.task_id`
