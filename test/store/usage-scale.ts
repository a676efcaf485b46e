import { expect, test } from 'bun:test'
import { type UsageDimension, type UsageSumFilter, usageDimensions } from '../../plugins/admin/usage-sums.ts'
import type { Database } from '../../src/store/database/database.ts'
import { openDatabase } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import { createUsageStore } from '../../src/store/usage/usage.ts'
import { UsageRollup } from '../../src/store/usage/usage-rollup.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { type Readings, readingsOf, recordStatements } from '../support/rows-read.ts'

/** Rows of usage of one user, over a year. */
const rowsOfUser = 10
/**
 * Rows that a page of 20 sums may read, with as many rows as there may be: of a month each for some of the months, of
 * the days around them, and the names.
 */
const maxRows = 4_500

/** Usage of ten days, five models and one token of each user. Two users of three are in one of ten teams. */
export const seedUsage = async (database: Database, users: number): Promise<void> => {
  const [first, last] = [0, users * rowsOfUser - 1]
  await database.query(sql`
    insert into text_usage (
      user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens, reasoning_tokens,
      video_seconds, cost, team_id
    )
    with recursive numbers (i) as (
      select cast(${first} as bigint)
      union all
      select i + 1
      from numbers
      where i < cast(${last} as bigint)
    )
    select 'user-' || u, 'token-' || u,
      '2025-' || substr(cast(101 + (u + k / 4) % 12 as text), 2) || '-' || substr(cast(101 + (u + 3 * k) % 28 as text), 2),
      'model-' || ((u + k) % 5), 1, 0, 10, 4, 5, 3, case when (u + k) % 5 = 4 and u % 50 = 0 then 2 end, 7,
      case when u % 3 = 0 then null else 'team-' || (u % 10) end
    from (
      select i / 10 as u, i % 10 as k
      from numbers
    ) as numbered`)
}

/** Users with a team, and their tokens. */
const seedPeople = async (database: Database, users: number): Promise<void> => {
  for (let nth = 0; nth < 10; nth++)
    await database.query(
      sql`insert into teams (id, name, name_key, created_at) values (${`team-${nth}`}, ${`t${nth}`}, ${`t${nth}`}, 1)`,
    )
  for (const insert of [
    (last: number) => sql`
      insert into users (id, name, name_key, created_at, team_id)
      with recursive numbers (i) as (select cast(0 as bigint) union all select i + 1 from numbers where i < ${last})
      select 'user-' || i, 'name-' || i, 'name-' || i, i, 'team-' || (i % 10)
      from numbers`,
    (last: number) => sql`
      insert into tokens (id, user_id, hash, start, created_at)
      with recursive numbers (i) as (select cast(0 as bigint) union all select i + 1 from numbers where i < ${last})
      select 'token-' || i, 'user-' || i, 'hash-' || i, 'sk-', i
      from numbers`,
  ])
    await database.query(insert(users - 1))
}

const filters: readonly UsageSumFilter[] = [
  {},
  { user: 'user-100' },
  { team: 'team-1' },
  { token: 'token-100' },
  { model: 'model-3' },
  { kind: 'text' },
  { kind: 'video' },
  { team: 'team-1', model: 'model-3' },
  { since: '2025-03-10', until: '2025-08-20' },
  { since: '2025-03-02', until: '2025-03-04' },
  { since: '2025-03-10', team: 'team-1' },
  { until: '2025-08-20', model: 'model-3', kind: 'text' },
]

type Grouping = readonly UsageDimension[]

export const allGroupings: readonly Grouping[] = Array.from({ length: 32 }, (_, bits) =>
  usageDimensions.filter((_dimension, nth) => (bits & (1 << nth)) !== 0),
)
/** By nothing, by each property alone, and by each with one other. */
export const shortGroupings = allGroupings.filter(({ length }) => length <= 2)

/** Declares the tests of reports about so many users. */
export const testUsageScale = (
  users: number,
  timeoutMs: number,
  groupings: readonly Grouping[] = allGroupings,
): void => {
  repeatOnDatabases(`reports of ${users * rowsOfUser} rows of usage`, (tested) => {
    test(
      'read few rows for each page, by any properties and with any filter',
      async () => {
        const opened = openDatabase(tested.url, { deadlineMs: timeoutMs })
        const database = recordStatements(opened)
        const readings: Readings = readingsOf(tested, true)
        await seedPeople(opened, users)
        await seedUsage(opened, users)
        const rollup = new UsageRollup(opened)
        while (!(await rollup.catchUp()));
        rollup.close()
        if (tested.kind === 'postgres') await opened.query(sql`analyze`)
        const store = createUsageStore(database)
        const problems: string[] = []
        let most = 0
        for (const filter of filters) {
          for (const by of groupings) {
            const first = await store.sumUsage({ filter, by, limit: 20 })
            // The second page costs the same.
            for (const after of first.next ? [undefined, first.next] : [undefined]) {
              database.taken()
              const page = await store.sumUsage({ filter, by, limit: 20, after })
              expect(page.rows.length).toBeLessThanOrEqual(20)
              const statements = database.taken()
              let rows = 0
              for (const statement of statements) {
                const reading = await readings.of(statement)
                rows += reading.rows ?? 0
                const what = `${JSON.stringify(filter)} by ${by.join()}: `
                if (
                  reading.scans.some(
                    (scan) => /text_usage|usage_rollups|sums/.test(scan) && !scan.includes('text_usage_to_roll_up'),
                  )
                )
                  problems.push(`${what}${reading.scans.join()} ${reading.text}`)
                // Sums of users and tokens are found in the order of an index. Others are few.
                const ofMany =
                  /grain = 'month'/.test(reading.text) && /^(?:user|token)/.test(String(levelOf(statement.values)))
                if (reading.sorts && ofMany && filter.user === undefined && filter.token === undefined)
                  problems.push(`${what}sorts ${reading.text}`)
              }
              most = Math.max(most, rows)
              if (rows > maxRows) problems.push(`${JSON.stringify(filter)} by ${by.join()} reads ${rows} rows`)
              if (statements.length > 100)
                problems.push(`${JSON.stringify(filter)} by ${by.join()}: ${statements.length} statements`)
            }
          }
        }
        expect(problems).toEqual([])
        if (tested.kind === 'postgres') expect(most).toBeGreaterThan(100)
        await readings.close()
        await opened.close()
      },
      timeoutMs,
    )
  })
}

const levelOf = (values: readonly unknown[]) =>
  values.find((value) => /^(?:user|token)(?:-model)?$/.test(String(value)))
