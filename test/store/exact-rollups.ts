import { expect } from 'bun:test'
import type { Database, Row } from '../../src/store/database/database.ts'
import { sql } from '../../src/store/database/statement.ts'
import { columnsOf, isDaily, rollupColumns, rollupLevels } from '../../src/store/usage/rollup-periods.ts'
import { UsageRollup } from '../../src/store/usage/usage-rollup.ts'

const sumColumns = [
  ...(['calls', 'unreported', 'input_tokens', 'cached_tokens', 'output_tokens', 'reasoning_tokens'] as const),
  ...(['video_seconds', 'cost'] as const),
]
const rowColumns = { user: 'user_id', token: 'token_id', model: 'model', team: 'team_id' } as const

type Sums = Map<string, Record<string, number>>

const addTo = (sums: Sums, key: string, row: Row): void => {
  const known = sums.get(key) ?? {}
  for (const column of sumColumns)
    if (row[column] !== undefined) known[column] = (known[column] ?? 0) + Number(row[column])
  sums.set(key, known)
}

/** What the roll-ups have to be, by the rows. */
const rowSums = (rows: readonly Row[]): Sums => {
  const sums: Sums = new Map()
  for (const row of rows) {
    const kind = row.video_seconds === undefined ? 'text' : 'video'
    for (const level of rollupLevels) {
      const key = rollupColumns.map((column) =>
        columnsOf[level].includes(column) ? String(row[rowColumns[column]] ?? '') : '',
      )
      const day = String(row.day)
      for (const period of isDaily(level) ? [day.slice(0, 7), day] : [day.slice(0, 7)])
        addTo(sums, [level, period, kind, ...key].join(), row)
    }
  }
  return sums
}

const sorted = (sums: Sums) => Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)))

/** Rolls everything up, and compares all roll-ups with all rows. */
export const expectExactRollups = async (database: Database): Promise<void> => {
  while (!(await new UsageRollup(database).catchUp()));
  const rows = await database.query(sql`select * from text_usage`)
  expect(rows.length).toBeGreaterThan(0)
  const rollups: Sums = new Map()
  for (const row of await database.query(sql`select * from usage_rollups`)) {
    const key = rollupColumns.map((column) => String(row[rowColumns[column]]))
    // What a row had before it became one of videos: nothing is left of it.
    if (row.calls !== 0) addTo(rollups, [row.level, row.period, row.kind, ...key].join(), row)
  }
  const expected = rowSums(rows)
  // A row with a price that has become one of videos leaves a cost of 0, where others have none.
  for (const [key, sums] of rollups) if (sums.cost === 0 && expected.get(key)?.cost === undefined) delete sums.cost
  expect(sorted(rollups)).toEqual(sorted(expected))
}
