import { type Statement, sql } from '../database/database.ts'

/** A migration: which assets the video tasks use. Never change it. */
export const assetUseTables: readonly Statement[] = [
  // The upstream never moves an asset to another group (vendor page 2318277).
  sql`
    create table video_asset_uses (
      task_id text not null references video_tasks (id) on delete cascade,
      asset_id text not null,
      user_id text not null,
      group_id text,
      primary key (task_id, asset_id)
    )`,
  sql`create index video_asset_uses_of_asset on video_asset_uses (asset_id, user_id, task_id)`,
  sql`create index video_asset_uses_of_group on video_asset_uses (group_id, user_id, task_id)`,
]
