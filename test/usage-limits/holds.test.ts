import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Amounts, Limit } from 'sluice/usage-limits'
import type { Database } from '../../src/store/database/database.ts'
import { openDatabase } from '../../src/store/database/kinds.ts'
import type { Store } from '../../src/store/index.ts'
import { confirmHold, nothingUsed, settleHold } from '../../src/store/limits/holds.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { processOn, refusalOf, StoreClock } from './fixture.ts'

repeatOnDatabases('what a task holds', (database) => {
  let store: Store
  let raw: Database
  beforeAll(async () => {
    store = await database.open()
    raw = openDatabase(database.url, { deadlineMs: 60_000 })
    return () => raw.close()
  })

  const minute: Limit = { unit: 'videos', amount: 3, window: 'minute' }
  const day: Limit = { unit: 'tokens', amount: 1_000, window: 'day' }
  const open = (userLimits: readonly Limit[]) => {
    const clock = new StoreClock()
    const holder = `task:${randomUUID()}`
    const user = randomUUID()
    const limits = processOn(store.limits, clock, { userLimits })
    const counts = async () => (await limits.report({ user })).map(({ used, reserved }) => ({ used, reserved }))
    return { limits, clock, user, holder, counts }
  }
  const confirm = (holder: string) => raw.batch([confirmHold(holder)])
  const settle = (holder: string, used: Amounts) => raw.batch(settleHold(holder, used))

  test('stays when its process has ended, and is settled by anybody', async () => {
    const { limits, clock, user, holder, counts } = open([day])
    const reservation = await limits.reserve({ user, uses: { tokens: 600 } })
    await reservation?.hold(holder)
    expect(reservation?.reserved).toEqual({ tokens: 0 })
    reservation?.release()
    await confirm(holder)
    await limits.stop()
    await clock.pass(600_000)
    const other = processOn(store.limits, clock, { userLimits: [day] })
    expect(await counts()).toEqual([{ used: 0, reserved: 600 }])
    expect(await refusalOf(other.reserve({ user, uses: { tokens: 1_001 } }))).toBeDefined()
    await settle(holder, { tokens: 450 })
    await settle(holder, { tokens: 450 })
    expect(await counts()).toEqual([{ used: 450, reserved: 0 }])
  })

  test('is given back when it has failed, or was never confirmed', async () => {
    const { limits, clock, user, holder, counts } = open([day, minute])
    const failed = await limits.reserve({ user, uses: { tokens: 300, videos: 1 } })
    await failed?.hold(holder)
    await confirm(holder)
    const lost = await limits.reserve({ user, uses: { tokens: 200, videos: 1 } })
    await lost?.hold(`${holder}-lost`)
    // In a window that slides, a task counts as used at once: it may run for longer than the window.
    expect(await counts()).toEqual([
      { used: 0, reserved: 500 },
      { used: 2, reserved: 0 },
    ])
    await settle(holder, nothingUsed)
    expect(await counts()).toEqual([
      { used: 0, reserved: 200 },
      { used: 1, reserved: 0 },
    ])
    await clock.pass(80_000)
    expect(await counts()).toEqual([
      { used: 0, reserved: 0 },
      { used: 0, reserved: 0 },
    ])
  })

  test('does not keep a limit of a minute full for as long as the task runs', async () => {
    const { limits, clock, user, holder, counts } = open([minute])
    for (let nth = 0; nth < 3; nth++) {
      const reservation = await limits.reserve({ user, uses: { videos: 1 } })
      await reservation?.hold(`${holder}-${nth}`)
      await confirm(`${holder}-${nth}`)
    }
    expect(await refusalOf(limits.reserve({ user, uses: { videos: 1 } }))).toBeDefined()
    await clock.pass(61_000)
    expect(await refusalOf(limits.reserve({ user, uses: { videos: 1 } }))).toBeUndefined()
    for (let nth = 0; nth < 3; nth++) await settle(`${holder}-${nth}`, { videos: 1 })
    expect(await counts()).toEqual([{ used: 0, reserved: 1 }])
  })

  test('is settled as it was held when the upstream does not say what was used, and may be more', async () => {
    const { limits, user, holder, counts } = open([day, { unit: 'video_seconds', amount: 100 }])
    const reservation = await limits.reserve({ user, uses: { tokens: 300, video_seconds: 5 } })
    await reservation?.hold(holder)
    await settle(holder, { video_seconds: 8 })
    expect(await counts()).toEqual([
      { used: 300, reserved: 0 },
      { used: 8, reserved: 0 },
    ])
  })

  for (const limit of [minute, { ...minute, window: 'day' }, { ...minute, window: undefined }] as const)
    test(`is not granted to others by the exchange that moves it (${limit.window ?? 'for ever'})`, async () => {
      const { limits, clock, user, holder, counts } = open([limit])
      // All at once: the exchange that moves what the first ones have also asks for those that still wait.
      const granted: number[] = []
      const create = async (nth: number) => {
        const reservation = await limits.reserve({ user, uses: { videos: 1 } })
        await reservation?.hold(`${holder}-${nth}`)
        granted.push(nth)
      }
      const creating = Promise.all(Array.from({ length: 12 }, (_, nth) => refusalOf(create(nth))))
      await clock.pass(3_000)
      const refusals = await creating
      expect([granted.length, refusals.filter(Boolean).length]).toEqual([3, 9])
      const [count] = await counts()
      expect((count?.used ?? 0) + (count?.reserved ?? 0)).toBe(3)
    })

  test('of an unknown holder changes nothing', async () => {
    const { user, counts, holder } = open([day])
    await settle(holder, { tokens: 100 })
    await settle(user, nothingUsed)
    expect(await counts()).toEqual([{ used: 0, reserved: 0 }])
  })

  test('counts in its window also when it ends long after that', async () => {
    const { limits, clock, user, holder, counts } = open([day])
    const reservation = await limits.reserve({ user, uses: { tokens: 300 } })
    await reservation?.hold(holder)
    await confirm(holder)
    await clock.pass(5 * 86_400_000)
    // Others have deleted the counts of past days meanwhile.
    expect(await counts()).toEqual([{ used: 0, reserved: 0 }])
    await settle(holder, { tokens: 300 })
    expect(await counts()).toEqual([{ used: 0, reserved: 0 }])
  })
})
