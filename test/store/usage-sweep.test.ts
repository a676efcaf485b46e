import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Database, Row, Steps } from '../../src/store/database/database.ts'
import { openDatabase } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import type { Store } from '../../src/store/index.ts'
import { addUsage } from '../../src/store/usage/usage.ts'
import { UsageRollup } from '../../src/store/usage/usage-rollup.ts'
import { sweepUsage } from '../../src/store/usage/usage-sweep.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { repeats } from '../support/repetitions.ts'
import { expectExactRollups } from './exact-rollups.ts'

const kept = '2026-03-01'

interface Added {
  readonly user: string
  readonly token: string
  readonly model: string
  readonly day: string
  readonly calls: number
  readonly videoSeconds: number | undefined
  readonly cost: number | undefined
}

const statementOf = ({ user, token, day, model, calls, videoSeconds, cost }: Added) =>
  addUsage({
    ...{ user, token, day, model, calls, unreported: calls - 1, input: 7 * calls, cachedInput: 2 * calls },
    ...{ output: 5 * calls, reasoning: calls },
    ...(videoSeconds !== undefined && { videoSeconds }),
    ...(cost !== undefined && { cost }),
  })

const additions = fc.record({
  user: fc.constantFrom('ann', 'bob', 'cleo'),
  token: fc.constantFrom('', 't1', 't2'),
  model: fc.constantFrom('m1', 'm2'),
  day: fc.constantFrom('2026-01-31', '2026-02-01', '2026-02-28', '2026-03-01', '2026-04-02'),
  calls: fc.integer({ min: 1, max: 3 }),
  videoSeconds: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined, freq: 2 }),
  cost: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
})

/** A row that stays, so that there is one to compare. */
const staying: Added = {
  ...{ user: 'dan', token: '', model: 'm1', day: '2026-05-01', calls: 1, videoSeconds: undefined, cost: 1 },
}

repeatOnDatabases('the removal of old usage', (tested) => {
  let store: Store
  let database: Database
  let other: Database
  const openOther = (): Database => {
    return openDatabase(tested.url, { deadlineMs: 60_000 })
  }
  beforeAll(async () => {
    store = await tested.open()
    database = openOther()
    other = openOther()
    await database.query(sql`insert into teams (id, name, name_key, created_at) values ('red', 'red', 'red', 1)`)
    await database.query(sql`insert into users (id, name, team_id, created_at) values ('ann', 'ann', 'red', 1)`)
  })
  beforeEach(async () => {
    await database.batch([sql`delete from text_usage`, sql`delete from usage_rollups`])
  })
  afterAll(async () => {
    await Promise.all([database.close(), other.close()])
  })

  const catchUp = async (by: Database) => {
    while (!(await new UsageRollup(by).catchUp()));
  }
  const sweep = (by: Database, max: number) => by.transaction(() => sweepUsage(kept, max))
  const oldRollups = () => database.query(sql`select * from usage_rollups where period < ${kept.slice(0, 7)}`)

  test('keeps the sums of reports exact after each step, whoever adds and rolls up at the same moment', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.array(additions, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 7 }),
      async (batches, max) => {
        await database.batch([sql`delete from text_usage`, sql`delete from usage_rollups`, statementOf(staying)])
        for (const [nth, batch] of batches.entries()) {
          await Promise.all([
            other.batch(batch.map(statementOf)),
            sweep(database, max),
            ...(nth % 2 ? [catchUp(other), sweep(other, max)] : []),
          ])
          await expectExactRollups(database)
        }
        for (;;) {
          const swept = await sweep(database, max)
          await expectExactRollups(database)
          if (swept < max) break
        }
        expect(await database.query(sql`select day from text_usage where day < ${kept}`)).toEqual([])
        expect(await oldRollups()).toEqual([])
      },
    )
    await fc.assert(property, { numRuns: repeats(12, 40) })
  }, 300_000)

  test('deletes the oldest days first, at most as many rows as it may, and nothing that is kept', async () => {
    const of = (day: string, user = 'bob') => statementOf({ ...staying, day, user })
    await database.batch([of('2026-02-02'), of('2026-01-05'), of('2026-02-01'), of('2026-01-05', 'ann'), of(kept)])
    await catchUp(database)
    const days = async () => (await database.query(sql`select day from text_usage order by day`)).map(({ day }) => day)
    expect(await store.sweepUsage(kept, 3)).toBe(3)
    expect(await days()).toEqual(['2026-02-02', kept])
    const { rows } = await store.sumUsage({ filter: {}, by: ['day'], limit: 9 })
    expect(rows.map(({ day, calls }) => [day, calls])).toEqual([
      ['2026-02-02', 1],
      [kept, 1],
    ])
    expect(await store.sweepUsage(kept, 3)).toBe(1)
    expect(await store.sweepUsage(kept, 3)).toBe(0)
    expect(await days()).toEqual([kept])
    expect((await store.sumUsage({ filter: {}, by: [], limit: 9 })).rows).toMatchObject([{ calls: 1 }])
  })

  test('that ends at any moment, as when its process is killed, has changed nothing', async () => {
    await database.batch([statementOf(staying), statementOf({ ...staying, day: '2026-01-05' })])
    await expectExactRollups(database)
    const rows = () => database.query(sql`select * from text_usage order by day`)
    const before = await rows()
    for (const failing of [1, 2, 3]) {
      const killed = database.transaction(function* (): Steps<unknown> {
        const inner = sweepUsage(kept, 10)
        let found: readonly Row[] = []
        for (let nth = 1; ; nth++) {
          const step = inner.next(found)
          if (step.done) return step.value
          const list = [step.value].flat()
          found = yield nth < failing ? step.value : list.slice(0, Math.ceil(list.length / 2))
          if (nth === failing) throw new Error('the process was killed')
        }
      })
      await expect(killed).rejects.toThrow()
      expect(await rows()).toEqual(before)
      await expectExactRollups(database)
    }
  })
})
