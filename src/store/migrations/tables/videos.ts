import { type Statement, sql } from '../../database/statement.ts'

/** A migration: leases, and the tasks of video generation with their queue. Never change it. */
export const videoTables: readonly Statement[] = [
  sql`create table leases (name text primary key, holder text not null, lease_until bigint not null)`,
  // The users may be users of a host app, so `user_id` is no foreign key. `pool` is null for tasks that need no slot,
  // and `place` for tasks that never wait. The long columns are the last ones: SQLite reads a row up to the columns
  // that a query needs.
  sql`
    create table video_tasks (
      id text primary key,
      user_id text not null,
      token_id text,
      model text not null,
      service_tier text not null,
      pool text,
      place bigint,
      phase text not null check (phase in ('waiting', 'submitting', 'submitted', 'copying', 'ended')),
      status text not null,
      nonce bigint,
      upstream_id text,
      created_at bigint not null,
      expires_at bigint not null,
      claimed_at bigint,
      submitted_at bigint,
      freed_at bigint,
      ended_at bigint,
      lease_until bigint not null,
      due_at bigint,
      attempts bigint not null,
      bytes bigint not null,
      fields text not null,
      result text,
      task text,
      final_task text,
      request text,
      check (phase <> 'waiting' or place is not null),
      check (phase <> 'submitted' or upstream_id is not null)
    )`,
  sql`create index video_tasks_of_user on video_tasks (user_id, id)`,
  sql`create index video_tasks_waiting on video_tasks (pool, user_id, place) where phase = 'waiting'`,
  sql`create index video_tasks_running on video_tasks (pool, user_id) where phase in ('submitting', 'submitted')`,
  sql`create unique index video_tasks_by_upstream_id on video_tasks (upstream_id) where upstream_id is not null`,
  sql`create unique index one_nonce_a_claim on video_tasks (user_id, nonce) where phase = 'submitting'`,
  sql`create index video_tasks_by_due on video_tasks (phase, due_at) where due_at is not null`,
  sql`create index video_tasks_by_lease on video_tasks (lease_until) where phase = 'submitting'`,
  sql`create index video_tasks_by_expiry on video_tasks (expires_at) where phase = 'waiting'`,
  sql`create index video_tasks_by_end on video_tasks (ended_at) where phase = 'ended'`,
  // The slots of each pool: a transaction that starts a task updates the row first (video-queue.ts).
  sql`
    create table video_pools (
      pool text primary key,
      turn bigint not null,
      pass bigint not null,
      learnt bigint,
      learnt_at bigint,
      paused_until bigint not null,
      pause_kind text,
      pauses bigint not null,
      mean_ms bigint,
      used_at bigint not null
    )`,
  sql`
    create table video_turns (
      pool text not null references video_pools (pool) on delete cascade,
      user_id text not null,
      pass bigint not null,
      primary key (pool, user_id)
    )`,
  // Null: no call had a video.
  sql`alter table text_usage add column video_seconds bigint`,
]

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
