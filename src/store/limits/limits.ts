import { type Log, noLog } from '../../../plugins/shared/problem.ts'
import { type Limit, parseLimits } from '../../../plugins/usage-limits/limit.ts'
import type { LimitStore, LimitSubjects } from '../../../plugins/usage-limits/store.ts'
import type { Database } from '../database/database.ts'
import { isOfOneRow } from '../database/error.ts'
import { sql } from '../database/statement.ts'
import { applyExchange, LostHolderError } from './exchange.ts'
import { deletePast, listLapsed, putOffLapsed, settleLapsed } from './holds.ts'
import { readUse } from './use.ts'

/** The use of limits, shared by all processes on one database. */
export const createLimitStore = (
  database: Database,
  { log = noLog }: { readonly log?: Log | undefined } = {},
): LimitStore => ({
  exchange: (exchange) =>
    database
      .transaction(() => applyExchange(exchange))
      .catch((error: unknown) => {
        if (error instanceof LostHolderError) return undefined
        throw error
      }),

  limitUse: (counters, now) => database.transaction(() => readUse(counters, now)),

  async sweepLimits(now) {
    for (const { holder } of await database.query<{ holder: string }>(listLapsed(now))) {
      try {
        await database.transaction(() => settleLapsed(holder, now))
      } catch (error) {
        if (!isOfOneRow(error)) throw error
        log.warn({ err: error, holder }, 'an ended lease on limits cannot be settled')
        await database.query(putOffLapsed(holder, now))
      }
    }
    await database.query(deletePast(now))
  },

  limitSubjects: (user, token) => readSubjects(database, user, token),
})

/** Reads whose limits apply to a user, and to one of the user's tokens. */
const readSubjects = async (
  database: Database,
  user: string,
  token: string | undefined,
): Promise<LimitSubjects | undefined> => {
  const [found] = await database.query(sql`
    select users.name, users.limits, teams.id as "teamId", teams.name as "teamName", teams.limits as "teamLimits",
      tokens.id as "tokenId", tokens.label, tokens.start, tokens.limits as "tokenLimits"
    from (select cast(${user} as text) as id) wanted
    left join users on users.id = wanted.id
    left join teams on teams.id = users.team_id
    left join tokens on tokens.user_id = wanted.id and tokens.id = ${token}`)
  const { name, limits, teamId, teamName, teamLimits, tokenId, label, start, tokenLimits } = found ?? {}
  if (name === undefined && tokenId === undefined) return undefined
  return {
    user: { id: user, name: String(name ?? user), ...(limits !== undefined && { limits: readList(limits) }) },
    ...(teamId !== undefined && {
      team: { id: String(teamId), name: String(teamName), limits: readList(teamLimits) },
    }),
    ...(tokenId !== undefined && {
      token: { id: String(tokenId), name: String(label ?? start), limits: readList(tokenLimits) },
    }),
  }
}

/** A list as it was stored. Throws for text that is none: nobody may get past a limit that cannot be read. */
const readList = (json: string | number | undefined): readonly Limit[] => {
  if (json === undefined) return []
  const limits = parseLimits(JSON.parse(String(json)))
  if ('problem' in limits) throw new Error(`a stored list of limits is not valid: ${limits.problem}`)
  return limits
}
