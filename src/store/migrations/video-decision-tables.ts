import { type Statement, sql } from '../database/database.ts'

/** A migration: video tasks that need a decision, and lists of the tasks of all users. Never change it. */
export const videoDecisionTables: readonly Statement[] = [
  // When the upstream was first seen to run the task. Null: not yet, or before this migration.
  sql`alter table video_tasks add column running_at bigint`,
  // Since when the task needs a decision: one that has run for too long, or that has failed because nobody knows which
  // task its create call has made. The former needs no slot.
  sql`alter table video_tasks add column undecided_at bigint`,
  sql`
    create index video_tasks_in_slots on video_tasks (pool, user_id)
    where phase in ('submitting', 'submitted') and undecided_at is null`,
  sql`drop index video_tasks_running`,
  sql`create index video_tasks_undecided on video_tasks (id) where undecided_at is not null`,
  sql`create index video_tasks_by_age on video_tasks (pool, created_at) where phase = 'waiting'`,
  sql`create index video_tasks_by_status on video_tasks (status, id)`,
  sql`create index video_tasks_of_user_by_status on video_tasks (user_id, status, id)`,
]
