import { afterAll, beforeAll, expect, test } from 'bun:test'
import { deleteUnchained } from '../../src/store/audit/sweep.ts'
import type { Database } from '../../src/store/database/database.ts'
import { type Statement, sql } from '../../src/store/database/statement.ts'
import { sweepStatements } from '../../src/store/events/deliveries.ts'
import { createEventSweep } from '../../src/store/events/event-sweep.ts'
import { deleteOldVerifications } from '../../src/store/face-verifications.ts'
import { deleteExpiredKeys } from '../../src/store/idempotency.ts'
import { deleteEndedBatches } from '../../src/store/library/asset-batches.ts'
import { deleteExpiredTextObjects } from '../../src/store/text/text-objects.ts'
import { deleteForgotten } from '../../src/store/users/attempts.ts'
import { deleteExpiredSessions } from '../../src/store/users/sessions.ts'
import { sweepTokens } from '../../src/store/users/token-rows.ts'
import { eachDatabase } from '../support/database.ts'
import { readingsOf, recordStatements } from '../support/rows-read.ts'
import { openWithNumbers } from './numbers.ts'

interface Removal {
  readonly table: string
  /** Adds an old row for each number. Of each time there are 200. */
  readonly rows: Statement
  readonly max: number
  readonly statement: Statement
}

const count = 20_000
const now = 10_000_000_000
const [sweptDeliveries, sweptCallbacks] = sweepStatements(now, 50)
const [, deleteRevoked, , deleteExpired] = sweepTokens(now)

const removal = (table: string, rows: Statement, statement: Statement | undefined, max = 50): Removal => {
  if (!statement) throw new Error(`there is no removal from ${table}`)
  return { table, rows, max, statement }
}

const removals: readonly Removal[] = [
  removal(
    'deliveries',
    sql`
      insert into deliveries (webhook_id, event_sequence, created_at, due_at, attempts)
      select 'hook-' || (i % 7), i, i / 200, 1, 0 from numbers`,
    sweptDeliveries,
  ),
  removal(
    'callbacks',
    sql`
      insert into callbacks (id, sequence, user_id, url, subject, body, created_at, due_at, lease_until, attempts)
      select 'callback-' || i, i, 'ann', 'https://ann.example/', 'subject-' || i, '{}', i / 200, i / 200, 0, 0 from numbers`,
    sweptCallbacks,
  ),
  removal(
    'face_verifications',
    sql`
      insert into face_verifications (id, user_id, kind, status, created_at, expires_at, lease_until, asks)
      select 'face-' || i, 'ann', 'rest', 'failed', i / 200, 5, 0, 0 from numbers`,
    deleteOldVerifications(now, 50),
  ),
  removal(
    'idempotency_keys',
    sql`
      insert into idempotency_keys (
        user_id, route, key, fingerprint, holder, attempt, attempted_at, lease_until, expires_at
      )
      select 'ann', 'r', 'key-' || i, '', '', '', 1, 1, i / 200 from numbers`,
    deleteExpiredKeys(now, 50),
  ),
  removal(
    'asset_batches',
    sql`
      insert into asset_batches (id, user_id, group_id, group_type, created_at, ended_at)
      select 'batch-' || i, 'ann', 'g', 'AIGC', 1, i / 200 from numbers`,
    deleteEndedBatches(now, 50),
  ),
  removal(
    'text_objects',
    sql`
      insert into text_objects (kind, id, user_id, upstream, model, created_at, expires_at)
      select 'response', 'resp-' || i, 'ann', 'u', 'm', 1, i / 200 from numbers`,
    deleteExpiredTextObjects(now, 50),
  ),
  removal(
    'audit_entries',
    sql`insert into audit_entries (id, at, action, times) select 'entry-' || i, i / 200, 'a.b', 1 from numbers`,
    deleteUnchained(now, 50),
  ),
  removal(
    'sessions',
    sql`
      insert into sessions (hash, id, user_id, created_at, idle_until, ends_at)
      select 'hash-' || i, 'id-' || i, 'ann', 1, i / 200, 5 from numbers`,
    deleteExpiredSessions(now),
    100,
  ),
  removal(
    'login_attempts',
    sql`
      insert into login_attempts (key, failures, blocked_until, forget_at, counted_by)
      select 'key-' || i, 1, 1, i / 200, '' from numbers`,
    deleteForgotten(now),
    1_000,
  ),
  removal(
    'tokens',
    sql`
      insert into tokens (id, user_id, hash, start, created_at, revoked_at)
      select 'token-' || i, 'ann', 'hash-' || i, 'sk-', 1, i / 200 from numbers`,
    deleteRevoked,
    100,
  ),
  removal(
    'tokens',
    sql`
      insert into tokens (id, user_id, hash, start, created_at, expires_at)
      select 'expired-' || i, 'ann', 'expired-hash-' || i, 'sk-', 1, i / 200 from numbers`,
    deleteExpired,
    100,
  ),
]

eachDatabase('what is removed in steps', (tested) => {
  let database: Database
  beforeAll(async () => {
    database = await openWithNumbers(tested, count)
  })
  afterAll(() => database.close())

  for (const { table, rows, max, statement } of removals)
    test(`of ${table}: a step removes no more than it may, also of one time, and reads few rows of many`, async () => {
      await database.query(rows)
      if (tested.kind === 'postgres') await database.query(textOf(`analyze ${table}`))
      const left = async () => Number((await database.query(textOf(`select count(*) as n from ${table}`)))[0]?.n)
      const before = await left()
      await database.query(statement)
      expect(await left()).toBe(before - max)

      // PostgreSQL executes it, as a statement that is prepared for any values.
      const readings = readingsOf(tested, true)
      const { scans, rows: read = 0 } = await readings.of(statement)
      await readings.close()
      // The tables that tokens name are empty.
      expect(scans.filter((name) => !/^(?:text_usage|deleted_names)/.test(name))).toEqual([])
      // Those that it removes, several times, and those of the same time.
      expect(read).toBeLessThanOrEqual(6 * max + 600)
    }, 60_000)

  test('of events: a step reads few rows of many, also where PostgreSQL believes that the removed ones are there', async () => {
    await database.query(sql`
      insert into events (sequence, id, user_id, type, data, at)
      select i, 'evt_' || i, 'user-' || case when i <= ${count - 300} then i % 10 else i end, 'a.b', '{}', i from numbers`)
    if (tested.kind === 'postgres') await database.query(sql`analyze events`)
    const recorded = recordStatements(database)
    const sweep = createEventSweep(recorded)
    while ((await sweep(now, 500)) >= 500);
    recorded.taken()
    expect(await sweep(now, 500)).toBe(0)
    const readings = readingsOf(tested)
    for (const statement of recorded.taken()) {
      const { text, scans, rows = 0 } = await readings.of(statement)
      expect([text, scans]).toEqual([text, []])
      expect([text, rows <= 3 * 310]).toEqual([text, true])
    }
    await readings.close()
    expect((await database.query(sql`select count(*) as n from events`))[0]?.n).toBe(310)
  }, 60_000)
})

const textOf = (text: string): Statement => ({ strings: Object.assign([text], { raw: [text] }), values: [] })
