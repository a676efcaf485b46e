import { randomUUID } from 'node:crypto'
import type { AdminStore, Team } from '../../../plugins/admin/store.ts'
import { nameKey } from '../../../plugins/shared/identity/name-key.ts'
import type { Database, Steps } from '../database/database.ts'
import { teamChanged } from '../database/revision.ts'
import { fragment, type Statement, sql } from '../database/statement.ts'
import { pageOf, timeOf } from './page.ts'
import { again, flag } from './transaction.ts'

type TeamMethods = 'listTeams' | 'team' | 'teamByName' | 'addTeam' | 'changeTeam' | 'deleteTeam'

const selectTeam = fragment`
  select teams.id, teams.name, teams.limits, teams.created_at as "createdAt", teams.members
  from teams`

/** The teams of users. */
export const createTeamStore = (database: Database): Pick<AdminStore, TeamMethods> => {
  function* change(id: string, name: string | undefined, limits: string | null | undefined): Steps<TeamOutcome> {
    const key = name === undefined ? undefined : nameKey(name)
    if (key !== undefined) {
      const taken = yield sql`
        select id
        from teams
        where name_key = ${key}
        and id <> ${id}`
      if (taken.length > 0) return 'name-taken'
    }
    const changed = yield sql`
      update teams
      set name = coalesce(cast(${name} as text), name), name_key = coalesce(cast(${key} as text), name_key),
        limits = case when ${flag(limits)} = 1 then cast(${limits} as text) else limits end
      where id = ${id}
      returning id`
    if (changed.length === 0) return 'unknown'
    yield* teamChanged(id)
    return 'changed'
  }

  return {
    async listTeams({ limit, after }) {
      const rows = await database.query<Team>(sql`
        ${selectTeam}
        where (teams.created_at, teams.id) > (${timeOf(after)}, ${after?.id ?? ''})
        order by teams.created_at, teams.id
        limit ${limit + 1}`)
      return pageOf(rows, limit)
    },

    async team(id) {
      const [team] = await database.query<Team>(sql`
        ${selectTeam}
        where teams.id = ${id}`)
      return team
    },

    async teamByName(name) {
      const [team] = await database.query<Team>(sql`
        ${selectTeam}
        where teams.name_key = ${nameKey(name)}`)
      return team
    },

    async addTeam({ id = randomUUID(), name, limits, createdAt }) {
      const added = await database.query(sql`
        insert into teams (id, name, name_key, limits, created_at)
        values (${id}, ${name}, ${nameKey(name)}, ${limits}, ${createdAt})
        on conflict (name_key) do nothing
        returning id`)
      if (added.length === 0) return 'name-taken'
      return { id, name, createdAt, members: 0, ...(limits !== undefined && { limits }) }
    },

    changeTeam: (id, { name, limits }) => again(() => database.transaction(() => change(id, name, limits))),

    deleteTeam: (id) => database.transaction(() => remove(id)),
  }
}

/** Counts users who join a team, or leave it (below 0). Locks it as `lockTeam` does. No row: there is no such team. */
export const countMembers = (team: string, change: number): Statement => sql`
  update teams
  set members = members + ${change}
  where id = ${team}
  returning id`

/**
 * Locks a team until the end of the transaction: no user can join it, and no one else can delete it. No row: unknown.
 */
export const lockTeam = (id: string): Statement => sql`
  update teams
  set created_at = created_at
  where id = ${id}
  returning id`

function* remove(id: string): Steps<Awaited<ReturnType<AdminStore['deleteTeam']>>> {
  if ((yield lockTeam(id)).length === 0) return 'unknown'
  if ((yield sql`select id from users where team_id = ${id} limit 1`).length > 0) return 'not-empty'
  // Usage reports name it further.
  yield sql`
    insert into deleted_names (kind, id, name)
    select 'team', id, name
    from teams
    where id = ${id}
    on conflict (kind, id) do nothing`
  yield sql`delete from teams where id = ${id}`
  yield* teamChanged(id)
  return 'deleted'
}

type TeamOutcome = Awaited<ReturnType<AdminStore['changeTeam']>>
