import type {
  UsageDimension,
  UsageSumKey,
  UsageSumRequest,
  UsageSumStore,
  UsageTotal,
} from '../../../plugins/admin/usage-sums.ts'
import { hasNoSpace } from '../../../plugins/shared/no-space.ts'
import type { Database } from '../database/database.ts'
import { periodsOf } from './rollup-periods.ts'
import { readRollups } from './rollup-report.ts'
import { withNames } from './usage-names.ts'
import type { UsageRollup } from './usage-rollup.ts'
import { hasFewRows, scanUsage, type UsageScan } from './usage-scan.ts'
import type { Sum } from './usage-sum.ts'

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
