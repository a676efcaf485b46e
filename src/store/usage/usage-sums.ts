import type {
  UsageDimension,
  UsageSumKey,
  UsageSumRequest,
  UsageSumStore,
  UsageTotal,
} from '../../../plugins/admin/usage-sums.ts'
import { hasNoSpace } from '../../../plugins/shared/no-space.ts'
import type { Database } from '../database/database.ts'
import { clause, type Statement } from '../database/statement.ts'
import { periodsOf } from './rollup-periods.ts'
import { readRollups } from './rollup-report.ts'
import type { UsageRollup } from './usage-rollup.ts'
import { hasFewRows, type Sum, scanUsage, type UsageScan } from './usage-scan.ts'

/** Where a page begins. */
interface Place extends UsageSumKey {
  /** The page before was read from the rows, whose order may be another one. */
  readonly scanned?: true
}

/** Sums of usage. @param flush writes what is buffered */
export const createUsageSums = (
  database: Database,
  { rollup, flush }: { readonly rollup: UsageRollup; readonly flush: () => Promise<void> },
): UsageSumStore => ({
  async sumUsage({ filter, by, limit, after }: UsageSumRequest) {
    await flush()
    const dimensions = new Set(by)
    if (dimensions.has('token')) dimensions.add('user')
    const request = { filter, dimensions, limit, after }
    const scanned = await chooseRows(database, rollup, request)
    const rows = await (scanned ? scanUsage : readRollups)(database, request)
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return {
      rows: await withNames(
        database,
        page.map((sum) => toTotal(sum, dimensions)),
      ),
      ...(rows.length > limit && last && { next: placeAfter(last, dimensions, scanned) }),
    }
  },
})

/** Whether a page is read from the rows: an index has them in their order, or the roll-ups are not there yet. */
const chooseRows = async (
  database: Database,
  rollup: UsageRollup,
  { filter, dimensions, after }: UsageScan & { readonly after: Place | undefined },
): Promise<boolean> => {
  if (after) return after.scanned === true || !(await isRolledUp(rollup))
  const ofUsers = dimensions.has('user') || filter.user !== undefined || filter.token !== undefined
  if (ofUsers && dimensions.has('day')) return true
  const { whole } = periodsOf(filter.since, filter.until)
  if (dimensions.has('user') && whole.from > whole.to && (await hasFewRows(database, filter.since, filter.until)))
    return true
  return !(await isRolledUp(rollup))
}

/** While the database has no room, the rows have what was written before. */
const isRolledUp = (rollup: UsageRollup): Promise<boolean> =>
  rollup.catchUp().catch((error: unknown) => {
    if (hasNoSpace(error)) return false
    throw error
  })

const placeAfter = (sum: Sum, dimensions: ReadonlySet<UsageDimension>, scanned: boolean): Place => ({
  ...Object.fromEntries([...dimensions].map((dimension) => [dimension, sum[dimension]])),
  ...(scanned && { scanned }),
})

/** Without the values that it is not summed by, and those that are empty: usage without a team or a token. */
const toTotal = (sum: Sum, dimensions: ReadonlySet<UsageDimension>): UsageTotal => {
  const { day, user, team, token, model, ...sums } = sum
  return {
    ...(dimensions.has('day') && { day }),
    ...(dimensions.has('user') && { user }),
    ...(team !== '' && { team }),
    ...(token !== '' && { token }),
    ...(dimensions.has('model') && { model }),
    ...sums,
  }
}

/** Ids in one statement. */
const batchSize = 20

interface Named {
  readonly id: string
  readonly name?: string
  readonly start?: string
}

/** Adds the names of users, teams and tokens, also of deleted ones. */
const withNames = async (database: Database, totals: readonly UsageTotal[]): Promise<readonly UsageTotal[]> => {
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

const usersIn = (ids: Ids): Statement => clause`select id, name from users where ${inIds(ids)}`

const teamsIn = (ids: Ids): Statement => clause`
  select id, name
  from teams
  where ${inIds(ids)}
  union all
  select id, name
  from deleted_names
  where kind = 'team'
  and ${inIds(ids)}`

const tokensIn = (ids: Ids): Statement => clause`
  select id, label as name, start
  from tokens
  where ${inIds(ids)}
  union all
  select id, name, start
  from deleted_names
  where kind = 'token'
  and ${inIds(ids)}`
