import { type Statement, sql } from '../database/database.ts'

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
