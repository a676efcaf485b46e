import { type Statement, sql } from '../database/database.ts'

/** A migration: lists of users, teams and tokens that cost the same with 100,000 entries. Never change it. */
export const peopleIndexes: readonly Statement[] = [
  // With the id, so that the search by a short part of a name reads no users that do not match.
  sql`create index users_by_name on users (name_key, id)`,
  sql`drop index users_by_name_key`,
  sql`create index tokens_of_user on tokens (user_id, created_at, id)`,
  sql`drop index tokens_by_age`,
  // Counting the users of a team would take longer with each of them.
  sql`alter table teams add column members bigint not null default 0`,
  sql`
    update teams
    set members = (
      select count(*)
      from users
      where users.team_id = teams.id
    )`,
]
