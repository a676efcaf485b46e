import { type Statement, sql } from '../database/database.ts'

/** A migration: what limits count, tasks that have not ended and assets that are not deleted. Never change it. */
export const countedTables: readonly Statement[] = [
  sql`
    create index video_tasks_unfinished on video_tasks (user_id)
    where phase in ('waiting', 'submitting', 'submitted')
    and undecided_at is null`,
  sql`alter table assets add column deleted_at bigint`,
]
