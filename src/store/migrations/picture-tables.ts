import { type Statement, sql } from '../database/database.ts'

/** A migration: pictures that are assets, and video tasks that wait for such assets. Never change it. */
export const pictureTables: readonly Statement[] = [
  // `asset_id` is null while the asset is made. The users may be users of a host app, so `user_id` is no foreign key.
  sql`
    create table registered_pictures (
      user_id text not null,
      digest text not null,
      group_id text not null,
      asset_id text,
      claimed_at bigint not null,
      lease_until bigint not null,
      primary key (user_id, digest)
    )`,
  sql`create index registered_pictures_of_group on registered_pictures (group_id)`,
]
