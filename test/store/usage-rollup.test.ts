import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Database, Row, Steps } from '../../src/store/database/database.ts'
import { openDatabase } from '../../src/store/database/kinds.ts'
import { type Statement, sql } from '../../src/store/database/statement.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { migrations } from '../../src/store/migrations/migrations.ts'
import { usageRollupTables } from '../../src/store/migrations/tables/usage.ts'
import { addUsage, createUsageStore } from '../../src/store/usage/usage.ts'
import { UsageRollup } from '../../src/store/usage/usage-rollup.ts'
import { eachEmptyDatabase, repeatOnDatabases } from '../support/database.ts'
import { repeats } from '../support/repetitions.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { expectExactRollups } from './exact-rollups.ts'

const users = ['ann', 'bob', 'cleo']
const models = ['m1', 'm2']
const days = ['2026-01-31', '2026-02-01', '2026-02-28', '2026-03-01', '2027-01-01']

interface Added {
  readonly user: string
  readonly token: string
  readonly model: string
  readonly day: string
  readonly calls: number
  readonly videoSeconds: number | undefined
  readonly cost: number | undefined
}

const statementOf = ({ user, token, day, model, calls, videoSeconds, cost }: Added): Statement =>
  addUsage({
    ...{ user, token, day, model, calls, unreported: calls - 1, input: 7 * calls, cachedInput: 2 * calls },
    ...{ output: 5 * calls, reasoning: calls },
    ...(videoSeconds !== undefined && { videoSeconds }),
    ...(cost !== undefined && { cost }),
  })

const additions = fc.record({
  user: fc.constantFrom(...users),
  token: fc.constantFrom('', 't1', 't2'),
  model: fc.constantFrom(...models),
  day: fc.constantFrom(...days),
  calls: fc.integer({ min: 1, max: 3 }),
  videoSeconds: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined, freq: 2 }),
  cost: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
})

repeatOnDatabases('roll-ups of usage', (tested) => {
  let store: ReturnType<typeof createUsageStore>
  let database: Database
  let other: Database
  beforeAll(async () => {
    await (await tested.open()).close()
    database = openDatabase(tested.url, { deadlineMs: 60_000 })
    // It rolls up when a test asks for it, not two seconds after its start.
    store = createUsageStore(database, { clock: new VirtualClock() })
    other = openDatabase(tested.url, { deadlineMs: 60_000 })
    for (const team of ['red', 'blue'])
      await database.query(
        sql`insert into teams (id, name, name_key, created_at) values (${team}, ${team}, ${team}, 1)`,
      )
    for (const [nth, user] of users.entries())
      await database.query(
        sql`insert into users (id, name, team_id, created_at) values (${user}, ${user}, ${nth === 2 ? null : 'red'}, 1)`,
      )
  })
  afterAll(async () => {
    await Promise.all([database.close(), other.close()])
  })

  const clear = async () => {
    await database.batch([sql`delete from text_usage`, sql`delete from usage_rollups`])
  }

  /** A database whose transactions run the steps as `through` passes them on. */
  const through = (change: (steps: Steps<unknown>) => Steps<unknown>): Database => ({
    ...database,
    transaction: <Result>(steps: () => Steps<Result>) =>
      database.transaction(() => change(steps()) as unknown as Steps<Result>),
  })

  test('are the sums of the rows, whoever adds and rolls up at the same moment', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.array(additions, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 }),
      async (batches) => {
        await clear()
        for (const [nth, batch] of batches.entries()) {
          await Promise.all([
            (nth % 2 ? database : other).batch(batch.map(statementOf)),
            new UsageRollup(database).catchUp(),
            new UsageRollup(other).catchUp(),
          ])
          // The rows keep the team that their user was in.
          if (nth === 2) await database.query(sql`update users set team_id = 'blue' where id = 'ann'`)
        }
        await expectExactRollups(database)
      },
    )
    await fc.assert(property, { numRuns: repeats(15, 40) })
  }, 300_000)

  test('of a model that had text only, all counts as video from its first video on, as its row does', async () => {
    await clear()
    const text = { user: 'ann', token: '', model: 'm1', day: '2026-02-01', calls: 3, videoSeconds: undefined, cost: 4 }
    await database.batch([statementOf(text)])
    await expectExactRollups(database)
    await database.batch([statementOf({ ...text, calls: 1, videoSeconds: 5, cost: undefined })])
    await expectExactRollups(database)
    const by = (kind: 'text' | 'video') => store.sumUsage({ filter: { kind }, by: ['user'], limit: 5 })
    expect((await by('text')).rows).toEqual([])
    expect((await by('video')).rows).toMatchObject([{ user: 'ann', calls: 4, videoSeconds: 5, cost: 4 }])
  })

  test('a step that ends at any moment, as when its process is killed, has changed nothing, and is made up for', async () => {
    await clear()
    const row = { user: 'ann', token: 't1', model: 'm1', day: '2026-02-01', calls: 2, videoSeconds: undefined, cost: 4 }
    await database.batch([statementOf(row)])
    await expectExactRollups(database)
    const rollups = () => database.query(sql`select * from usage_rollups order by level, grain, period`)
    // The lock, the rows, and what is written.
    for (const failing of [1, 2, 3]) {
      await database.batch([statementOf(row)])
      const before = await rollups()
      const killed = through(function* (inner): Steps<unknown> {
        let rows: readonly Row[] = []
        for (let nth = 1; ; nth++) {
          const step = inner.next(rows)
          if (step.done) return step.value
          // A list of statements ends in the middle.
          const list = [step.value].flat()
          rows = yield nth < failing ? step.value : list.slice(0, Math.ceil(list.length / 2))
          if (nth === failing) throw new Error('the process was killed')
        }
      })
      await expect(new UsageRollup(killed).catchUp()).rejects.toThrow()
      expect(await rollups()).toEqual(before)
      await expectExactRollups(database)
      expect(await rollups()).not.toEqual(before)
    }
  })

  test('what is added to a row after a step has read it is added by the next one', async () => {
    await clear()
    const row = { user: 'bob', token: '', model: 'm2', day: '2026-03-01', calls: 1, videoSeconds: undefined, cost: 2 }
    await database.batch([statementOf(row)])
    let added: Promise<unknown> | undefined
    const interrupted = through(function* (inner): Steps<unknown> {
      let rows: readonly Row[] = []
      for (;;) {
        const step = inner.next(rows)
        if (step.done) return step.value
        // PostgreSQL lets it commit before the row is marked, and SQLite after the step.
        if (tested.kind === 'postgres' && Array.isArray(step.value) && !added) {
          added = other.batch([statementOf({ ...row, calls: 2 })])
          yield sql`select pg_sleep(0.5)`
        }
        rows = yield step.value
      }
    })
    await new UsageRollup(interrupted).catchUp()
    await (added ?? other.batch([statementOf({ ...row, calls: 2 })]))
    await expectExactRollups(database)
    expect((await store.sumUsage({ filter: { user: 'bob' }, by: [], limit: 1 })).rows).toMatchObject([{ calls: 3 }])
  })

  test('have what an older version adds while it still runs', async () => {
    await clear()
    await database.batch([
      statementOf({
        user: 'ann',
        token: '',
        model: 'm1',
        day: '2026-02-01',
        calls: 1,
        videoSeconds: undefined,
        cost: 1,
      }),
    ])
    await expectExactRollups(database)
    for (const model of ['m1', 'm2'])
      await database.query(sql`
        insert into text_usage (
          user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens, reasoning_tokens
        )
        values ('ann', '', '2026-02-01', ${model}, 4, 0, 10, 0, 10, 0)
        on conflict (user_id, token_id, day, model) do update
        set calls = text_usage.calls + excluded.calls, input_tokens = text_usage.input_tokens + excluded.input_tokens`)
    const { rows } = await store.sumUsage({ filter: {}, by: ['model'], limit: 5 })
    expect(rows.map(({ model, calls }) => `${model} ${calls}`)).toEqual(['m1 5', 'm2 4'])
    await expectExactRollups(database)
  })

  test('are made in the background two seconds after usage was written, also that of a video', async () => {
    await clear()
    const clock = new VirtualClock()
    const rollup = new UsageRollup(database, { clock })
    await database.batch([
      statementOf({ user: 'ann', token: '', model: 'm1', day: '2026-02-01', calls: 1, videoSeconds: 3, cost: 1 }),
    ])
    rollup.start()
    rollup.start()
    const rolled = async () =>
      (await database.query(sql`select 1 as one from usage_rollups where level = 'all'`)).length
    await clock.pass(1_999)
    expect(await rolled()).toBe(0)
    await clock.pass(1)
    while ((await rolled()) === 0);
    expect(await rolled()).toBe(2)
    rollup.close()
  })

  test('a report of the last seconds is right at once, also from another process', async () => {
    await clear()
    const writer = openStore(tested.url, { deadlineMs: 60_000 })
    const at = Date.UTC(2026, 1, 28, 23, 59, 59, 999)
    const tokens = { input: 1, cachedInput: 0, output: 1, reasoning: 0 }
    for (let nth = 0; nth < 30; nth++) {
      // The last millisecond of February in UTC, and the first of March.
      writer.recordUsage({ user: `u${nth % 3}`, model: 'm', at: at + (nth % 2), tokens })
      await writer.flushUsage()
      const calls = async (filter: object) => (await store.sumUsage({ filter, by: [], limit: 1 })).rows[0]?.calls ?? 0
      expect(await calls({})).toBe(nth + 1)
      expect(await calls({ until: '2026-02-28' })).toBe(Math.ceil((nth + 1) / 2))
      expect(await calls({ since: '2026-03-01' })).toBe(Math.floor((nth + 1) / 2))
    }
    await writer.close()
  })
})

eachEmptyDatabase('a database of a version without roll-ups', (tested) => {
  test('answers reports from its rows until all are rolled up in steps, and then from the roll-ups', async () => {
    const database = openDatabase(tested.url, { deadlineMs: 60_000 })
    await database.exclusively(() => migrate(1, migrations.slice(0, migrations.indexOf(usageRollupTables))))
    await database.query(sql`
      insert into text_usage (
        user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens, reasoning_tokens
      )
      with recursive numbers (i) as (
        select 10000
        union all
        select i + 1
        from numbers
        where i < 17999
      )
      select 'user-' || (i / 10), '', '2026-01-1' || (i % 10), 'm', 1, 0, 2, 0, 3, 0
      from numbers`)
    const store = openStore(tested.url, { deadlineMs: 60_000 })
    // Not by the store, which would roll up in the background.
    await database.exclusively(() => migrate(1))
    const left = async () =>
      Number((await database.query(sql`select count(*) as n from text_usage where calls <> rolled_calls`))[0]?.n)
    expect(await left()).toBe(8_000)
    const counts: number[] = []
    let pages = 0
    const walk = async () => {
      const users: string[] = []
      let after: Parameters<Store['sumUsage']>[0]['after']
      do {
        const page = await store.sumUsage({ filter: { since: '2026-01-02' }, by: ['user'], limit: 300, after })
        for (const { user = '', calls, inputTokens } of page.rows) {
          users.push(user)
          expect({ calls, inputTokens }).toEqual({ calls: 10, inputTokens: 20 })
        }
        counts.push(await left())
        pages++
        after = page.next
      } while (after)
      expect(users.length).toBe(800)
      expect(new Set(users).size).toBe(800)
    }
    await walk()
    expect(counts[0]).toBeGreaterThan(0)
    await walk()
    expect(counts.at(-1)).toBe(0)
    expect(pages).toBe(6)
    await expectExactRollups(database)
    await Promise.all([database.close(), store.close()])
  }, 300_000)
})
