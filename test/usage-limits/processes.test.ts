import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Limit, LimitStore, UsageLimits } from 'sluice/usage-limits'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'
import { processOn, refusalOf, StoreClock } from './fixture.ts'

eachDatabase('several processes', (database) => {
  const stores: Store[] = []
  beforeAll(async () => {
    stores.push(await database.open(), await database.open())
  })

  interface Processes {
    readonly clock: StoreClock
    readonly user: string
    readonly a: UsageLimits
    readonly b: UsageLimits
    /** From now on, the first process does not reach the database. */
    readonly kill: () => void
  }

  const open = (userLimits: readonly Limit[]): Processes => {
    const [first, second] = stores
    if (!first || !second) throw new Error('no stores')
    const clock = new StoreClock()
    let isKilled = false
    const killable: LimitStore = {
      ...first.limits,
      exchange: (exchange) =>
        isKilled ? Promise.reject(new Error('the process was killed')) : first.limits.exchange(exchange),
      sweepLimits: (now) => (isKilled ? Promise.resolve() : first.limits.sweepLimits(now)),
    }
    return {
      ...{ clock, user: randomUUID() },
      a: processOn(killable, clock, { userLimits }),
      b: processOn(second.limits, clock, { userLimits }),
      kill: () => {
        isKilled = true
      },
    }
  }
  const day = (amount: number): Limit => ({ unit: 'tokens', amount, window: 'day' })

  test('share one amount', async () => {
    const { a, b, user } = open([day(100)])
    const first = await a.reserve({ user, uses: { tokens: 60 } })
    const second = await b.reserve({ user, uses: { tokens: 40 } })
    first?.settle({ tokens: 60 })
    second?.settle({ tokens: 40 })
    await a.report({ user })
    expect(await b.report({ user })).toMatchObject([{ used: 100, reserved: 0 }])
    expect(await refusalOf(a.reserve({ user, uses: { tokens: 1 } }))).toBeDefined()
  })

  test('wait for what the others hold, for two seconds', async () => {
    const { a, b, clock, user } = open([day(100)])
    const held = await a.reserve({ user, uses: { tokens: 100 } })
    let granted = false
    const waiting = b.reserve({ user, uses: { tokens: 30 } })
    void Promise.resolve(waiting).then(() => {
      granted = true
    })
    await clock.pass(1_000)
    expect(granted).toBe(false)
    held?.settle({ tokens: 20 })
    await clock.pass(900)
    expect(granted).toBe(true)
    const refused = refusalOf(b.reserve({ user, uses: { tokens: 60 } }))
    let ended = false
    void refused.then(() => {
      ended = true
    })
    await clock.pass(1_900)
    expect(ended).toBe(false)
    await clock.pass(300)
    expect((await refused)?.headers['retry-after']).toBe('43197')
  })

  test('do not wait when nothing can come back', async () => {
    const { a, b, user } = open([day(100)])
    const used = await a.reserve({ user, uses: { tokens: 90 } })
    used?.settle({ tokens: 90 })
    await a.report({ user })
    expect(await refusalOf(b.reserve({ user, uses: { tokens: 11 } }))).toBeDefined()
  })

  test('that are killed have used what they held of tokens, and give back streams, within a minute', async () => {
    const { a, b, clock, user, kill } = open([day(1_000), { unit: 'streams', amount: 2 }])
    for (let nth = 0; nth < 2; nth++) await a.reserve({ user, uses: { tokens: 100, streams: 1 } })
    const refused = refusalOf(b.reserve({ user, uses: { tokens: 10, streams: 1 } }))
    await clock.pass(3_000)
    expect((await refused)?.reached.limit.unit).toBe('streams')
    expect((await refused)?.headers['retry-after']).toBe('1')
    kill()
    await clock.pass(60_000)
    expect(await b.report({ user })).toMatchObject([
      { unit: 'tokens', used: 200, reserved: 0 },
      { unit: 'streams', used: 0, reserved: 0 },
    ])
    const allowed = await b.reserve({ user, uses: { tokens: 800, streams: 2 } })
    expect(allowed?.reserved).toEqual({ tokens: 800, streams: 2 })
  })

  test('keep what they hold for as long as they live', async () => {
    const { a, b, clock, user } = open([day(100), { unit: 'streams', amount: 1 }])
    const held = await a.reserve({ user, uses: { tokens: 70, streams: 1 } })
    for (let minute = 0; minute < 5; minute++) {
      await clock.pass(60_000)
      expect(await b.report({ user })).toMatchObject([{ used: 0, reserved: 70 }, { reserved: 1 }])
    }
    held?.settle({ tokens: 50 })
    held?.release()
    await clock.pass(1_000)
    expect(await b.report({ user })).toMatchObject([
      { used: 50, reserved: 0 },
      { used: 0, reserved: 0 },
    ])
  })

  test('that come back after their lease has ended book only what they have used beyond it', async () => {
    const { a, b, clock, user } = open([day(1_000), { unit: 'streams', amount: 3 }])
    const [first] = stores
    if (!first) throw new Error('no store')
    let isCutOff = false
    const cutOff: LimitStore = {
      ...first.limits,
      exchange: async (exchange) => {
        if (isCutOff) throw new Error('unreachable')
        return first.limits.exchange(exchange)
      },
    }
    const c = processOn(cutOff, clock, { userLimits: [day(1_000), { unit: 'streams', amount: 3 }] })
    const exact = await c.reserve({ user, uses: { tokens: 100, streams: 1 } })
    const more = await c.reserve({ user, uses: { tokens: 100, streams: 1 } })
    isCutOff = true
    await clock.pass(60_000)
    expect(await b.report({ user })).toMatchObject([{ used: 200, reserved: 0 }, { reserved: 0 }])
    isCutOff = false
    await clock.pass(2_000)
    // The streams go on: they count again.
    expect(await b.report({ user })).toMatchObject([{ used: 200, reserved: 0 }, { reserved: 2 }])
    exact?.settle({ tokens: 60 })
    exact?.release()
    more?.settle({ tokens: 130 })
    more?.release()
    await clock.pass(2_000)
    expect(await b.report({ user })).toMatchObject([
      { used: 230, reserved: 0 },
      { used: 0, reserved: 0 },
    ])
    expect(await a.reserve({ user, uses: { tokens: 770, streams: 3 } })).toBeDefined()
  })

  test('give back at their end what they have free', async () => {
    const { a, b, clock, user } = open([day(10_000)])
    for (let nth = 0; nth < 20; nth++) {
      const reservation = await a.reserve({ user, uses: { tokens: 10 } })
      reservation?.settle({ tokens: 10 })
      await clock.pass(10)
    }
    await a.stop()
    expect(await b.report({ user })).toMatchObject([{ used: 200, reserved: 0, remaining: 9_800 }])
  })

  test('give back within a second what they do not use', async () => {
    const { a, b, clock, user } = open([day(10_000)])
    for (let nth = 0; nth < 20; nth++) {
      const reservation = await a.reserve({ user, uses: { tokens: 10 } })
      reservation?.settle({ tokens: 10 })
      await clock.pass(10)
    }
    await clock.pass(1_000)
    expect(await b.report({ user })).toMatchObject([{ used: 200, reserved: 0 }])
  })
})
