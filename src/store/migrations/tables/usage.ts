import { type Statement, sql } from '../../database/statement.ts'

/** A migration: sums of usage by team, and in pages of one price. Never change it. */
export const usageTables: readonly Statement[] = [
  // The team that the user was in when the row was written first.
  sql`alter table text_usage add column team_id text`,
  // Each report reads one of these in its order: all usage by day or by user, or that of one user, team, token or
  // model.
  sql`create index text_usage_by_time on text_usage (day, user_id, token_id, model)`,
  sql`create index text_usage_of_user on text_usage (user_id, day, token_id, model)`,
  sql`create index text_usage_of_team on text_usage (team_id, day, user_id, token_id, model) where team_id is not null`,
  sql`create index text_usage_of_token on text_usage (token_id, day, user_id, model)`,
  sql`create index text_usage_of_model on text_usage (model, day, user_id, token_id)`,
  sql`drop index text_usage_by_day`,
  // Names that usage still has after its tokens and teams were deleted.
  sql`
    create table deleted_names (
      kind text not null check (kind in ('team', 'token')),
      id text not null,
      name text,
      start text,
      primary key (kind, id)
    )`,
]

/** A migration: sums of usage by month and day, so that reports cost the same with 1,000,000 rows. Never change it. */
export const usageRollupTables: readonly Statement[] = [
  // What of a row is in the roll-ups. Zero of the rows that there are: they are rolled up in steps, after the start.
  // Processes of an older version add to the rows only, which are then rolled up like any other.
  sql`alter table text_usage add column rolled_calls bigint not null default 0`,
  sql`alter table text_usage add column rolled_unreported bigint not null default 0`,
  sql`alter table text_usage add column rolled_input_tokens bigint not null default 0`,
  sql`alter table text_usage add column rolled_cached_tokens bigint not null default 0`,
  sql`alter table text_usage add column rolled_output_tokens bigint not null default 0`,
  sql`alter table text_usage add column rolled_reasoning_tokens bigint not null default 0`,
  sql`alter table text_usage add column rolled_video_seconds bigint`,
  sql`alter table text_usage add column rolled_cost bigint`,
  // PostgreSQL takes rows with `calls <> rolled_calls` for nearly all, and would look for one in the whole table.
  sql`
    create index text_usage_to_roll_up on text_usage (user_id, token_id, day, model)
    where case when calls = rolled_calls then 0 else 1 end = 1`,
  sql`create index text_usage_of_videos on text_usage (day, user_id, token_id, model) where video_seconds is not null`,
  // `grain` is 'month' or 'day', the length of the period: '2026-01' or '2026-01-31'. Columns by which the level does
  // not tell usage apart are empty. An empty team or token of the others: usage without one.
  sql`
    create table usage_rollups (
      grain text not null,
      level text not null,
      user_id text not null,
      token_id text not null,
      model text not null,
      team_id text not null,
      period text not null,
      kind text not null check (kind in ('text', 'video')),
      calls bigint not null,
      unreported bigint not null,
      input_tokens bigint not null,
      cached_tokens bigint not null,
      output_tokens bigint not null,
      reasoning_tokens bigint not null,
      video_seconds bigint,
      cost bigint,
      primary key (grain, level, user_id, token_id, model, team_id, period, kind)
    )`,
  sql`
    create index usage_rollups_of_team on usage_rollups (grain, level, team_id, user_id, token_id, model, period)
    where team_id <> ''`,
  sql`
    create index usage_rollups_of_model on usage_rollups (grain, level, model, user_id, token_id, team_id, period)
    where model <> ''`,
  sql`
    create index usage_rollups_of_team_and_model
    on usage_rollups (grain, level, team_id, model, user_id, token_id, period)
    where team_id <> ''
    and model <> ''`,
  sql`
    create index usage_rollups_of_token on usage_rollups (grain, level, token_id, model, team_id, period)
    where token_id <> ''`,
  sql`
    create index usage_rollups_of_videos on usage_rollups (grain, level, user_id, token_id, model, team_id, period)
    where kind = 'video'`,
  sql`create index usage_rollups_by_day on usage_rollups (level, period, model, team_id) where grain = 'day'`,
  // The lock of a step: one process at a time rolls up.
  sql`create table usage_rollup_turns (id integer primary key check (id = 1), turn bigint not null)`,
  sql`insert into usage_rollup_turns (id, turn) values (1, 0)`,
]
