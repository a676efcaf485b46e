import { type Statement, sql } from '../../database/statement.ts'

/**
 * A migration: the use of limits. Never change it. The subjects may be users of a host app and may be deleted, so there
 * are no foreign keys.
 */
export const limitTables: readonly Statement[] = [
  // `bucket` is the start of a window of the calendar, or of a step of a window that slides; else 0. The blocks of a
  // window that slides are in its row 0. `held` is the sum of the blocks of the same counter and bucket.
  sql`
    create table limit_use (
      counter text not null,
      bucket bigint not null,
      used bigint not null,
      held bigint not null,
      ends_at bigint,
      primary key (counter, bucket)
    )`,
  sql`create index limit_use_by_end on limit_use (ends_at) where ends_at is not null`,
  // `lease_until` is null for a task that was confirmed. `seq` is that of the holder's last exchange.
  sql`
    create table limit_holders (
      holder text primary key,
      seq bigint not null,
      lease_until bigint,
      gives_back integer not null check (gives_back in (0, 1))
    )`,
  sql`create index limit_holders_by_lease on limit_holders (lease_until) where lease_until is not null`,
  // `booked` is a part that `limit_use` has as used already: what a task holds of a window that slides.
  sql`
    create table limit_blocks (
      holder text not null,
      counter text not null,
      bucket bigint not null,
      unit text not null,
      step_ms bigint,
      length_ms bigint,
      held bigint not null,
      booked bigint not null,
      primary key (holder, counter, bucket)
    )`,
]

/** A migration: what limits count, tasks that have not ended and assets that are not deleted. Never change it. */
export const countedTables: readonly Statement[] = [
  sql`
    create index video_tasks_unfinished on video_tasks (user_id)
    where phase in ('waiting', 'submitting', 'submitted')
    and undecided_at is null`,
  sql`alter table assets add column deleted_at bigint`,
]
