import type { UsageDimension, UsageSumFilter, UsageSumKey } from '../../../plugins/admin/usage-sums.ts'
import { nextTurn } from '../../../plugins/shared/background/turns.ts'
import type { Database } from '../database/database.ts'
import { isDaily, levelOf, periodsOf, rollupColumns } from './rollup-periods.ts'
import { type RollupReport, sumDays, sumEachDay, sumMonths, sumRows, usersOfStep } from './rollup-queries.ts'
import { addSums, type Sum, type UsageScan } from './usage-scan.ts'

/** Sums that one statement reads: SQLite answers nothing else meanwhile. */
const stepSums = 100

/** Reads the sums of a page, and one more, from the roll-ups: the same time with any number of rows. */
export const readRollups = async (
  database: Database,
  { filter, dimensions, limit, after }: UsageScan,
): Promise<readonly Sum[]> => {
  const report = reportOf(filter, dimensions)
  const found: Sum[] = []
  // Without dimensions there is one sum.
  for (let place = after; dimensions.size > 0 || place === undefined; await nextTurn()) {
    const wanted = Math.min(limit + 1 - found.length, stepSums)
    const sums = await readStep(database, report, place, wanted)
    // Of the months of a part of which the sums are, some keys have nothing.
    found.push(...sums.filter(({ calls }) => calls !== 0))
    place = sums.at(-1)
    if (sums.length < wanted || found.length > limit || place === undefined) break
  }
  return found
}

const readStep = (database: Database, report: RollupReport, after: UsageSumKey | undefined, limit: number) =>
  report.byDay ? database.query<Sum>(sumEachDay(report, after, limit)) : readMonths(database, report, after, limit)

/** The sums of months, and of the days around them. */
const readMonths = async (
  database: Database,
  report: RollupReport,
  after: UsageSumKey | undefined,
  limit: number,
): Promise<readonly Sum[]> => {
  const sums = new Map<string, Sum>()
  for (const sum of await database.query<Sum>(sumMonths(report, after, limit))) sums.set(textOf(sum), sum)
  if (sums.size === 0) return []
  for (const statement of daysOf(report, [...sums.values()])) {
    for (const sum of await database.query<Sum>(statement)) {
      const known = sums.get(textOf(sum))
      if (known) sums.set(textOf(sum), addSums(known, sum))
    }
  }
  return [...sums.values()]
}

const textOf = (sum: Sum): string => rollupColumns.map((column) => sum[column]).join('\0')

/** The sums of the days that are in no whole month. */
function* daysOf(report: RollupReport, sums: readonly Sum[]) {
  const users = [...new Set(sums.map(({ user }) => user))]
  for (const days of report.periods.days) {
    if (isDaily(report.level)) yield sumDays(report, days)
    else if (report.filter.user !== undefined || !report.columns.includes('user')) yield sumRows(report, days)
    else
      for (let at = 0; at < users.length; at += usersOfStep)
        yield sumRows(report, days, users.slice(at, at + usersOfStep))
  }
}

const reportOf = (filter: UsageSumFilter, dimensions: ReadonlySet<UsageDimension>): RollupReport => {
  const told = new Set(dimensions)
  for (const column of rollupColumns) if (filter[column] !== undefined) told.add(column)
  return {
    level: levelOf(told),
    columns: rollupColumns.filter((column) => dimensions.has(column)),
    byDay: dimensions.has('day'),
    filter,
    periods: periodsOf(filter.since, filter.until),
  }
}
