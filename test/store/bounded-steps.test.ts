import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Database } from '../../src/store/database/database.ts'
import { type Statement, sql } from '../../src/store/database/statement.ts'
import { createDeliveryStore } from '../../src/store/events/deliveries.ts'
import { createFileStore } from '../../src/store/files.ts'
import { createLimitStore } from '../../src/store/limits/limits.ts'
import { createSqlVideoQueue } from '../../src/store/video-queue.ts'
import { eachDatabase } from '../support/database.ts'
import { readingsOf, recordStatements } from '../support/rows-read.ts'
import { openWithNumbers } from './numbers.ts'

interface Step {
  readonly table: string
  /** Adds a row for each number, from a number on. */
  readonly rows: Statement
  /** Makes them old. */
  readonly ages: Statement
  readonly run: (database: Database) => Promise<unknown>
  /** Rows that a statement may read. */
  readonly most?: number
}

const count = 20_000
const max = 100
const now = 10_000_000_000

const steps: Readonly<Record<string, Step>> = {
  'past counts of limits are deleted': {
    table: 'limit_use',
    rows: sql`
      insert into limit_use (counter, bucket, used, held, ends_at)
      select 'counter-' || i, 1, 1, 0, cast(${2 * now} as bigint) + i from numbers`,
    ages: sql`update limit_use set ends_at = ends_at - ${2 * now}`,
    run: (database) => createLimitStore(database).sweepLimits(now),
    // It deletes 1,000.
    most: 7_000,
  },
  'video tasks that have waited for too long expire': {
    table: 'video_tasks',
    rows: sql`
      insert into video_tasks (
        id, user_id, model, service_tier, pool, place, phase, status, created_at, expires_at, lease_until, attempts, bytes, fields
      )
      select 'task-' || i, 'ann', 'm', 'default', 'pool', i, 'waiting', 'queued', i, cast(${2 * now} as bigint) + i, 0, 0, 1, '{}'
      from numbers`,
    ages: sql`update video_tasks set expires_at = expires_at - ${2 * now}`,
    run: (database) => createSqlVideoQueue(database).expireWaitingVideoTasks(now, max),
  },
  'pools that nobody uses are deleted': {
    table: 'video_pools',
    rows: sql`
      insert into video_pools (pool, turn, pass, paused_until, pauses, used_at)
      select 'pool-' || i, 1, 1, 1, 1, cast(${2 * now} as bigint) + i from numbers`,
    ages: sql`update video_pools set used_at = used_at - ${2 * now}`,
    run: (database) => createSqlVideoQueue(database).sweepVideoPools(now, max),
  },
  'expired files are claimed': {
    table: 'files',
    rows: sql`
      insert into files (key, user_id, kind, bytes, created_at, expires_at)
      select 'file-' || i, 'ann', 'upload', 1, 1, cast(${2 * now} as bigint) + i from numbers`,
    ages: sql`update files set expires_at = expires_at - ${2 * now}`,
    run: (database) => createFileStore(database).claimExpiredFiles(now, 3 * now, max),
  },
  'deliveries to addresses of tasks are leased': {
    table: 'callbacks',
    rows: sql`
      insert into callbacks (id, sequence, user_id, url, subject, body, created_at, due_at, lease_until, attempts)
      select 'callback-' || i, i, case when i < ${count - 300} then 'ann' else 'user-' || (i % 100) end,
        'https://receiver.example/', 'subject-' || i, '{}', 1, cast(${2 * now} as bigint) + i, 0, 0
      from numbers`,
    ages: sql`update callbacks set due_at = due_at - ${2 * now}`,
    run: (database) => createDeliveryStore(database).leaseDeliveries(now, now + 1, { max: 32, maxPerUser: 4 }),
  },
}

eachDatabase('a large table', (tested) => {
  let database: Database
  beforeAll(async () => {
    database = await openWithNumbers(tested, count)
    await database.query(
      sql`insert into video_pools (pool, turn, pass, paused_until, pauses, used_at) values ('pool', 1, 1, 1, 1, ${3 * now})`,
    )
  })
  afterAll(() => database.close())

  for (const [title, { table, rows, ages, run, most = 1_000 }] of Object.entries(steps))
    test(`${title}: a step reads few rows`, async () => {
      const analyze = async () => tested.kind === 'postgres' && (await database.query(textOf(`analyze ${table}`)))
      await database.query(rows)
      // First PostgreSQL believes that nothing is old, and then that all is that it has just removed.
      await analyze()
      await database.query(ages)
      for (const known of ['nothing is old', 'all is old']) {
        if (known === 'all is old') await analyze()
        for (const anyValues of [false, true]) {
          const recorded = recordStatements(database)
          await run(recorded)
          const readings = readingsOf(tested, anyValues)
          for (const statement of recorded.taken()) {
            const { text, scans, rows: read = 0 } = await readings.of(statement)
            const scanned = scans.filter((name) => name.startsWith(table) || name === `SCAN ${table}`)
            expect([known, anyValues, text, scanned]).toEqual([known, anyValues, text, []])
            expect([known, anyValues, text, read, read <= most]).toEqual([known, anyValues, text, read, true])
          }
          await readings.close()
        }
      }
    }, 120_000)
})

const textOf = (text: string): Statement => ({ strings: Object.assign([text], { raw: [text] }), values: [] })
