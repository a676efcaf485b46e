import { expect, test } from 'bun:test'
import { type UsageLimits, usageLimits } from 'sluice/usage-limits'
import { openDatabase } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import { eachDatabase } from '../support/database.ts'
import { refusalOf } from './fixture.ts'

const amount = 40
const users = ['ann', 'bob', 'cid', 'dan']

eachDatabase('a limit of the account on assets', (tested) => {
  test('is neither exceeded nor left unused by two processes that create for several users at once', async () => {
    const stores = [await tested.open({ deadlineMs: 60_000 }), await tested.open({ deadlineMs: 60_000 })]
    const processes = stores.map((store) => ({
      store,
      limits: usageLimits({ store: store.limits, accountLimits: [{ unit: 'assets', amount }] }),
    }))
    for (const user of users)
      await stores[0]?.adoptGroup({ id: `group of ${user}`, user, type: 'AIGC', name: 'g', createdAt: 1 })

    let made = 0
    const create = async ({ store, limits }: (typeof processes)[number], user: string): Promise<boolean> => {
      let held: Awaited<ReturnType<UsageLimits['reserve']>>
      const refused = await refusalOf(
        (async () => {
          held = await limits.reserve({ user, uses: { assets: 1 } })
        })(),
      )
      if (refused) return false
      await store.recordAsset(`asset-${++made}`, `group of ${user}`)
      held?.settle({ assets: 1 })
      return true
    }
    // Until nothing is left. On a slow machine some are refused, because others are not settled in time.
    let refusals = 0
    for (let round = 0; round < 20 && refusals < 8; round++) {
      const results = await Promise.all(processes.flatMap((each) => users.map((user) => create(each, user))))
      refusals = results.filter((isMade) => !isMade).length
      expect(made).toBeLessThanOrEqual(amount)
    }
    while (made < amount && (await create(processes[0] as (typeof processes)[number], 'ann')));
    expect(made).toBe(amount)
    // A deleted one leaves its place.
    await stores[1]?.markAssetDeleted?.('asset-1', 1)
    const [first, second] = processes
    if (!first || !second) throw new Error('there are no processes')
    expect(await create(second, 'bob')).toBeTrue()
    expect(await create(first, 'cid')).toBeFalse()

    const database = openDatabase(tested.url, { deadlineMs: 60_000 })
    const [counted] = (await database?.query(sql`select sum(assets) as assets from library_counts`)) ?? []
    expect(Number(counted?.assets)).toBe(amount)
    await database?.close()
    await Promise.all(processes.map(({ limits }) => limits.stop()))
  }, 300_000)
})
