import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { Database } from '../../src/store/database/database.ts'
import { openDatabase } from '../../src/store/database/kinds.ts'
import { type Statement, sql } from '../../src/store/database/statement.ts'
import { createDeliveryStore } from '../../src/store/events/deliveries.ts'
import { createEventSweep } from '../../src/store/events/event-sweep.ts'
import type { Store } from '../../src/store/index.ts'
import { createOverdueStore, type RetainedKind, retainedKinds } from '../../src/store/overdue.ts'
import { createSqlVideoQueue } from '../../src/store/video-queue.ts'
import { eachDatabase } from '../support/database.ts'
import { readingsOf, recordStatements } from '../support/rows-read.ts'

const numbers = (count: number): Statement => sql`
  insert into numbers (i)
  with recursive counted (i) as (select 1 union all select i + 1 from counted where i < ${count})
  select i from counted`

/** PostgreSQL reads and joins small tables without an index otherwise. */
const withIndexesOnly = async (database: Database): Promise<void> => {
  await database.query(sql`
    do $$
    declare setting text;
    begin
      foreach setting in array array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']
      loop
        execute format('alter database %I set %s = off', current_database(), setting);
      end loop;
    end $$`)
  await database.query(sql`analyze events`)
}

eachDatabase('what is old', (tested) => {
  let store: Store
  let database: Database
  beforeAll(async () => {
    store = await tested.open()
    database = openDatabase(tested.url, { deadlineMs: 60_000 })
    await database.query(sql`create table numbers (i integer primary key)`)
    await database.query(numbers(2_000))
  })
  beforeEach(async () => {
    await database.batch([sql`delete from events`, sql`delete from deliveries`, sql`delete from callbacks`])
  })
  afterAll(() => database.close())

  const count = async (statement: Statement): Promise<number> => Number((await database.query(statement))[0]?.count)
  const events = () => count(sql`select count(*) as count from events`)

  test('of events: users who are gone keep one each, and are not read again for each step', async () => {
    // 2,000 users with one event each, then one with 1,000.
    await database.query(sql`
      insert into events (sequence, id, user_id, type, data, at)
      select i, 'evt_' || i, 'user-' || case when i <= 1000 then i else 0 end, 'a.b', '{}', i from numbers`)
    if (tested.kind === 'postgres') await withIndexesOnly(database)
    const recorded = recordStatements(database)
    const sweep = createEventSweep(recorded)
    const deleted: number[] = []
    do deleted.push(await sweep(10_000, 100))
    while ((deleted.at(-1) ?? 0) >= 100)
    expect(deleted.reduce((sum, each) => sum + each, 0)).toBe(999)
    expect(Math.max(...deleted)).toBeLessThan(200)
    expect(await events()).toBe(1_001)

    const readings = readingsOf(tested)
    const statements = recorded.taken()
    // A step for each 100 rows, once, and one that finds the end.
    expect(statements.length).toBeLessThan(50)
    for (const statement of statements) {
      const { text, scans, rows = 0 } = await readings.of(statement)
      if (tested.kind === 'sqlite') expect([text, scans]).toEqual([text, []])
      expect([text, rows <= 400]).toEqual([text, true])
    }
    await readings.close()

    // The next pass begins with the oldest: their users have newer events by then.
    await database.query(sql`
      insert into events (sequence, id, user_id, type, data, at)
      select 10000 + i, 'new_' || i, 'user-' || i, 'a.b', '{}', 20000 from numbers where i <= 50`)
    expect(await sweep(10_000, 100)).toBe(50)
  })

  test('of deliveries and callbacks: a step deletes the oldest, and no more than it may', async () => {
    await database.query(sql`
      insert into deliveries (webhook_id, event_sequence, created_at, due_at, attempts)
      select 'hook', i, i, 1, 0 from numbers`)
    await database.query(sql`
      insert into callbacks (id, sequence, user_id, url, subject, body, created_at, due_at, lease_until, attempts)
      select 'callback-' || i, i, 'ann', 'https://ann.example/', 'subject-' || i, '{}', i, i, 0, 0
      from numbers where i <= 150`)
    const { sweepDeliveries } = createDeliveryStore(database)
    expect(await sweepDeliveries(1_901, 100)).toBe(100)
    const left = async () => [
      await count(sql`select count(*) as count from deliveries`),
      await count(sql`select count(*) as count from callbacks`),
    ]
    expect(await left()).toEqual([1_900, 50])
    expect(await count(sql`select min(event_sequence) as count from deliveries`)).toBe(101)
    expect(await sweepDeliveries(151, 100)).toBe(50)
    expect(await left()).toEqual([1_850, 0])
    expect(await sweepDeliveries(151, 100)).toBe(0)
  })

  test('of face verifications: a step deletes the oldest, and no more than it may', async () => {
    await database.query(sql`
      insert into face_verifications (id, user_id, kind, status, created_at, expires_at, lease_until, asks)
      select 'face-' || i, 'ann', 'rest', 'failed', i, i, 0, 0 from numbers where i <= 30`)
    expect(await store.deleteVerifications(21, 15)).toBe(15)
    expect(await count(sql`select min(created_at) as count from face_verifications`)).toBe(16)
    expect(await store.deleteVerifications(21, 15)).toBe(5)
    expect(await count(sql`select min(created_at) as count from face_verifications`)).toBe(21)
  })

  /** Rows of each kind: 30, of the times 1 to 30, of which 19 are before 20. */
  const seeds: Readonly<Record<RetainedKind, Statement>> = {
    events: sql`
      insert into events (sequence, id, user_id, type, data, at)
      select i, 'evt_' || i, 'ann', 'a.b', '{}', i from numbers where i <= 30`,
    deliveries: sql`
      insert into deliveries (webhook_id, event_sequence, created_at, due_at, attempts)
      select 'hook', i, i, 1, 0 from numbers where i <= 30`,
    usage: sql`
      insert into text_usage (
        user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens, reasoning_tokens
      )
      select 'user-' || i, '', case when i < 20 then '1969-12-31' else '1970-01-01' end, 'm', 1, 0, 1, 1, 1, 1
      from numbers where i <= 30`,
    audit: sql`
      insert into audit_entries (id, at, action, times)
      select 'entry-' || i, i, 'a.b', 1 from numbers where i <= 30`,
    videos: sql`
      insert into video_tasks (
        id, user_id, model, service_tier, phase, status, created_at, expires_at, ended_at, lease_until, attempts, bytes,
        fields
      )
      select 'task-' || i, 'ann', 'm', 'default', 'ended', 'failed', 1, 1, i, 0, 1, 1, '{}' from numbers where i <= 30`,
    verifications: sql`
      insert into face_verifications (id, user_id, kind, status, created_at, expires_at, lease_until, asks)
      select 'check-' || i, 'ann', 'rest', 'failed', i, i, 0, 0 from numbers where i <= 30`,
    asset_batches: sql`
      insert into asset_batches (id, user_id, group_id, group_type, created_at, ended_at)
      select 'batch-' || i, 'ann', 'g', 'AIGC', 1, i from numbers where i <= 30`,
    idempotency_keys: sql`
      insert into idempotency_keys (
        user_id, route, key, fingerprint, holder, attempt, attempted_at, lease_until, expires_at
      )
      select 'ann', 'r', 'key-' || i, '', '', '', 1, 1, i from numbers where i <= 30`,
    text_objects: sql`
      insert into text_objects (kind, id, user_id, upstream, model, created_at, expires_at)
      select 'response', 'resp-' || i, 'ann', 'u', 'm', 1, i from numbers where i <= 30`,
    files: sql`
      insert into files (key, user_id, kind, bytes, created_at, expires_at)
      select 'file-' || i, 'ann', 'upload', 1, 1, i from numbers where i <= 30`,
  }

  test('of video tasks: a step of a hundred takes few round trips to the database', async () => {
    await database.query(sql`
      insert into video_tasks (
        id, user_id, model, service_tier, phase, status, created_at, expires_at, ended_at, lease_until, attempts, bytes,
        fields, result
      )
      select 'old-' || i, 'ann', 'm', 'default', 'ended', 'succeeded', 1, 1, i, 0, 1, 1, '{}',
        '{"video":"results/' || i || '"}'
      from numbers
      where i <= 150`)
    await database.query(sql`
      insert into files (key, user_id, kind, bytes, created_at, expires_at)
      select 'results/' || i, 'ann', 'result', 1, 1, 9999 from numbers where i <= 150`)
    let trips = 0
    const counted: Database = {
      ...database,
      transaction: (steps, ms) =>
        database.transaction(function* () {
          const made = steps()
          let step = made.next()
          for (; !step.done; step = made.next(yield step.value)) trips++
          return step.value
        }, ms),
    }
    const swept = await createSqlVideoQueue(counted).sweepVideoTasks(1_000, 100)
    expect(swept.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, at) => `old-${at + 1}`))
    expect(trips).toBeLessThanOrEqual(4)
    const [files] = await database.query(sql`select count(*) as n from files where expires_at = 1000`)
    expect(files?.n).toBe(100)
  })

  test('of every kind is counted up to a number, from the end of an index', async () => {
    await database.query(sql`delete from face_verifications`)
    const recorded = recordStatements(database)
    const { countOverdue } = createOverdueStore(recorded)
    const readings = readingsOf(tested)
    for (const kind of retainedKinds) {
      await database.query(seeds[kind])
      recorded.taken()
      expect([kind, await countOverdue(kind, 20, 1_000)]).toEqual([kind, 19])
      expect([kind, await countOverdue(kind, 20, 7)]).toEqual([kind, 7])
      // Usage by the month.
      expect([kind, await countOverdue(kind, kind === 'usage' ? -1e10 : 1, 1_000)]).toEqual([kind, 0])
      const [statement] = recorded.taken()
      if (!statement) throw new Error('nothing was asked')
      const { scans } = await readings.of(statement)
      // PostgreSQL reads such a small table as a whole.
      if (tested.kind === 'sqlite') expect([kind, scans]).toEqual([kind, []])
    }
    await readings.close()
    // The newest event of a user stays, and is not overdue.
    expect(await countOverdue('events', 1_000, 1_000)).toBe(29)
  })
})
