import type { UsageTotal } from '../../../plugins/admin/usage-sums.ts'
import { clause, type Database, joinClauses, type Statement } from '../database/database.ts'

/** Ids in one statement. */
const batchSize = 20

interface Named {
  readonly id: string
  readonly name?: string
  readonly start?: string
}

/** Adds the names of users, teams and tokens, also of deleted ones. */
export const withNames = async (database: Database, totals: readonly UsageTotal[]): Promise<readonly UsageTotal[]> => {
  const names = async (select: (ids: Ids) => Statement, ids: readonly (string | undefined)[]) => {
    const found = new Map<string, Named>()
    const wanted = [...new Set(ids.filter((id) => id !== undefined))]
    for (let at = 0; at < wanted.length; at += batchSize) {
      const statement = select(idsOf(wanted.slice(at, at + batchSize)))
      for (const named of await database.query<Named>(statement)) found.set(named.id, named)
    }
    return found
  }
  const [users, teams, tokens] = await Promise.all([
    names(
      usersIn,
      totals.map(({ user }) => user),
    ),
    names(
      teamsIn,
      totals.map(({ team }) => team),
    ),
    names(
      tokensIn,
      totals.map(({ token }) => token),
    ),
  ])
  return totals.map((total) => {
    const token = tokens.get(total.token ?? '')
    return {
      ...total,
      userName: users.get(total.user ?? '')?.name,
      teamName: teams.get(total.team ?? '')?.name,
      tokenName: token?.name,
      tokenStart: token?.start,
    }
  })
}

type Ids = readonly string[]

/** Twenty ids: the last ones are empty, which no row has. */
const idsOf = (ids: readonly string[]): Ids => [...ids, ...Array<string>(batchSize - ids.length).fill('')]

const inIds = (i: Ids): Statement => clause`
  id in (
    ${i[0]}, ${i[1]}, ${i[2]}, ${i[3]}, ${i[4]}, ${i[5]}, ${i[6]}, ${i[7]}, ${i[8]}, ${i[9]},
    ${i[10]}, ${i[11]}, ${i[12]}, ${i[13]}, ${i[14]}, ${i[15]}, ${i[16]}, ${i[17]}, ${i[18]}, ${i[19]}
  )`

const usersIn = (ids: Ids): Statement => joinClauses(clause`select id, name from users where`, inIds(ids))

const teamsIn = (ids: Ids): Statement =>
  joinClauses(
    clause`select id, name from teams where`,
    inIds(ids),
    clause` union all select id, name from deleted_names where kind = 'team' and`,
    inIds(ids),
  )

const tokensIn = (ids: Ids): Statement =>
  joinClauses(
    clause`select id, label as name, start from tokens where`,
    inIds(ids),
    clause` union all select id, name, start from deleted_names where kind = 'token' and`,
    inIds(ids),
  )
