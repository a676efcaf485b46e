import { type Statement, sql } from '../database/database.ts'

/** A migration: the pieces of long requests. Never change it. */
export const videoRequestTables: readonly Statement[] = [
  // The pieces are written before their task, so `task_id` is no foreign key.
  sql`
    create table video_request_pieces (
      task_id text not null,
      position bigint not null,
      written_at bigint not null,
      piece text not null,
      primary key (task_id, position)
    )`,
  sql`create index video_request_pieces_by_age on video_request_pieces (written_at, task_id) where position = 0`,
]
