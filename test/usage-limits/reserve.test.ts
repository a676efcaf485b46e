import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Limit, LimitStore, UsageLimits } from 'sluice/usage-limits'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'
import { countingStore, processOn, refusalOf, StoreClock } from './fixture.ts'

eachDatabase('a reservation', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })

  const open = (
    userLimits: readonly Limit[],
    { accountLimits = [] as readonly Limit[], limitStore = undefined as LimitStore | undefined } = {},
  ): { limits: UsageLimits; clock: StoreClock; user: string } => {
    const clock = new StoreClock()
    const limits = processOn(limitStore ?? store.limits, clock, { userLimits, accountLimits })
    return { limits, clock, user: randomUUID() }
  }
  const day = (amount: number): Limit => ({ unit: 'tokens', amount, window: 'day' })

  test('is none for a user without limits, or for a model that no limit covers', async () => {
    const { limits, user } = open([])
    expect(await limits.reserve({ user, uses: { requests: 1 } })).toBeUndefined()
    const ofModel = open([{ ...day(1), model: 'large-*' }])
    const call = { user, uses: { tokens: 5 } }
    expect(await ofModel.limits.reserve({ ...call, model: 'small' })).toBeUndefined()
    expect(await ofModel.limits.reserve(call)).toBeUndefined()
    expect(await refusalOf(ofModel.limits.reserve({ ...call, model: 'large-1' }))).toBeDefined()
  })

  test('is settled with what was used, and the rest is there for others', async () => {
    const { limits, user } = open([day(1_000)])
    const first = await limits.reserve({ user, uses: { tokens: 600 } })
    expect(await limits.report({ user })).toEqual([
      {
        subject: { type: 'user', id: user, name: user },
        ...{ unit: 'tokens', window: 'day', model: null, amount: 1_000, used: 0, reserved: 600, remaining: 400 },
        resets_at: '2026-03-02T00:00:00.000Z',
      },
    ])
    first?.settle({ tokens: 100 })
    expect(await limits.report({ user })).toMatchObject([{ used: 100, reserved: 0, remaining: 900 }])
    const second = await limits.reserve({ user, uses: { tokens: 900 } })
    second?.settle({ tokens: 900 })
    expect(await limits.report({ user })).toMatchObject([{ used: 1_000, reserved: 0, remaining: 0 }])
    expect(await refusalOf(limits.reserve({ user, uses: { tokens: 1 } }))).toBeDefined()
  })

  test('of many callers who begin right after a single one: all have what they need of each of their limits', async () => {
    const requests = { unit: 'requests', amount: 1_000_000, window: 'minute' } as const
    const { limits, clock, user } = open([requests, day(1_000_000_000)], { accountLimits: [day(1_000_000_000)] })
    const first = await limits.reserve({ user, uses: { requests: 1, tokens: 1_000 } })
    first?.settle({ requests: 1, tokens: 25 })
    let granted = 0
    const calls = Array.from({ length: 16 }, () => limits.reserve({ user, uses: { requests: 1, tokens: 90 } }))
    for (const call of calls) Promise.resolve(call).then(() => granted++, String)
    await clock.pass(900)
    expect(granted).toBe(16)
  })

  test('that is released gives all back, and only once', async () => {
    const { limits, user } = open([day(100)])
    const first = await limits.reserve({ user, uses: { tokens: 100 } })
    first?.release()
    first?.release()
    first?.settle({ tokens: 50 })
    expect(await limits.report({ user })).toMatchObject([{ used: 0, reserved: 0, remaining: 100 }])
    const second = await limits.reserve({ user, uses: { tokens: 100 } })
    expect(await limits.report({ user })).toMatchObject([{ used: 0, reserved: 100, remaining: 0 }])
    second?.settle({ tokens: 60 })
    second?.settle({ tokens: 20 })
    expect(await limits.report({ user })).toMatchObject([{ used: 80, reserved: 0, remaining: 20 }])
  })

  test('is of all limits or of none, and the refusal names whose limit has no room', async () => {
    const { limits, clock, user } = open([day(1_000), { unit: 'requests', amount: 1 }])
    const first = await limits.reserve({ user, uses: { tokens: 10, requests: 1 } })
    const refused = await refusalOf(limits.reserve({ user, uses: { tokens: 10, requests: 2 } }))
    expect(refused?.reached).toMatchObject({ limit: { unit: 'requests' }, subject: { type: 'user', id: user } })
    expect(refused?.headers['retry-after']).toBeUndefined()
    first?.settle({ tokens: 10, requests: 1 })
    const other = await refusalOf(limits.reserve({ user, uses: { tokens: 10, requests: 1 } }))
    expect(other?.message).toContain('1 requests of the user')
    await clock.pass(2_000)
    expect(await limits.report({ user })).toMatchObject([{ used: 10, reserved: 0 }, { used: 1 }])
  })

  test('books what a call has used beyond it, which nobody else can use then', async () => {
    const { limits, user } = open([day(1_000)])
    const first = await limits.reserve({ user, uses: { tokens: 10 } })
    first?.settle({ tokens: 1_200 })
    expect(await limits.report({ user })).toMatchObject([{ used: 1_200, remaining: 0 }])
    expect(await refusalOf(limits.reserve({ user, uses: { tokens: 1 } }))).toBeDefined()
  })

  test('extends as long as there is something left', async () => {
    const { limits, clock, user } = open([day(100)])
    const reservation = await limits.reserve({ user, uses: { tokens: 50 } })
    expect(await reservation?.extend({ tokens: 40 })).toBe(true)
    const refused = reservation?.extend({ tokens: 20 })
    await clock.pass(3_000)
    expect(await refused).toBe(false)
    expect(reservation?.reserved).toEqual({ tokens: 90 })
    expect(await reservation?.extend({ tokens: 10 })).toBe(true)
    reservation?.settle({ tokens: 100 })
    expect(reservation?.reserved).toEqual({ tokens: 0 })
    expect(await limits.report({ user })).toMatchObject([{ used: 100, remaining: 0 }])
  })

  test('gets less than it asks for when less is left, if that is enough to begin', async () => {
    const { limits, user } = open([day(100)])
    const uses = { tokens: 300, requests: 1 }
    expect(await refusalOf(limits.reserve({ user, uses }))).toBeDefined()
    const reservation = await limits.reserve({ user, uses, atLeast: { tokens: 20 } })
    expect(reservation?.reserved).toEqual({ tokens: 100 })
    reservation?.settle({ tokens: 90 })
    expect(await refusalOf(limits.reserve({ user, uses, atLeast: { tokens: 20 } }))).toBeDefined()
  })

  test('of cost is refused for a model without a price, before anything is reserved', async () => {
    const { limits, user } = open([{ unit: 'cost', amount: 0.5, window: 'month' }, day(100)])
    const uses = { cost: 200_000_000, tokens: 10 }
    const unpriced = Promise.resolve().then(() => limits.reserve({ user, uses, unpriced: true }))
    await expect(unpriced).rejects.toMatchObject({ status: 403, code: 'model_without_price' })
    expect(await limits.report({ user })).toMatchObject([{ reserved: 0 }, { reserved: 0 }])
    const reservation = await limits.reserve({ user, uses })
    reservation?.settle({ cost: 150_000_000, tokens: 5 })
    expect(await limits.report({ user })).toMatchObject([
      { amount: 0.5, used: 0.15, remaining: 0.35, resets_at: '2026-04-01T00:00:00.000Z' },
      { used: 5 },
    ])
  })

  test('of a limit of 0 is refused, and never says when to come again', async () => {
    const { limits, user } = open([day(0)])
    const refused = await refusalOf(limits.reserve({ user, uses: { tokens: 1 } }))
    expect(refused?.headers['retry-after']).toBeUndefined()
    expect(await limits.reserve({ user, uses: { tokens: 0 } })).toBeDefined()
  })

  test('ends its wait when its client leaves', async () => {
    const { limits, clock, user } = open([day(100)])
    const held = await limits.reserve({ user, uses: { tokens: 100 } })
    const client = new AbortController()
    const waiting = limits.reserve({ user, uses: { tokens: 50 }, signal: client.signal })
    await clock.pass(300)
    client.abort(new Error('the client has left'))
    await expect(waiting).rejects.toThrow('the client has left')
    held?.release()
    await clock.pass(1_000)
    expect(await limits.report({ user })).toMatchObject([{ reserved: 0, remaining: 100 }])
  })

  test('under a limit of a minute returns as its use leaves the window', async () => {
    const { limits, clock, user } = open([{ unit: 'requests', amount: 3, window: 'minute' }])
    for (let nth = 0; nth < 3; nth++) {
      const reservation = await limits.reserve({ user, uses: { requests: 1 } })
      reservation?.settle({ requests: 1 })
      await clock.pass(10_000)
    }
    const refused = await refusalOf(limits.reserve({ user, uses: { requests: 1 } }))
    // The first was booked a quarter of a second after it was settled, in a step of a second.
    expect(refused?.headers['retry-after']).toBe('31')
    expect(refused?.reached.returnsAt).toBe(clock.now() + 31_000)
    await clock.pass(30_999)
    expect(await refusalOf(limits.reserve({ user, uses: { requests: 1 } }))).toBeDefined()
    await clock.pass(1)
    expect(await refusalOf(limits.reserve({ user, uses: { requests: 1 } }))).toBeUndefined()
  })

  test('of a day is booked on the day on which it was made, and a part on each when it was extended after midnight', async () => {
    const { limits, clock, user } = open([day(100)])
    await clock.pass(12 * 3_600_000 - 1_000)
    const early = await limits.reserve({ user, uses: { tokens: 80 } })
    const long = await limits.reserve({ user, uses: { tokens: 20 } })
    await clock.pass(2_000)
    expect(await limits.report({ user })).toMatchObject([
      { used: 0, reserved: 0, remaining: 100, resets_at: '2026-03-03T00:00:00.000Z' },
    ])
    expect(await long?.extend({ tokens: 30 })).toBe(true)
    early?.settle({ tokens: 80 })
    long?.settle({ tokens: 45 })
    expect(await limits.report({ user })).toMatchObject([{ used: 25, reserved: 0, remaining: 75 }])
  })

  test('tells what remains of the tightest limit in headers', async () => {
    const { limits, user } = open(
      [{ unit: 'requests', amount: 10, window: 'minute' }, { unit: 'requests', amount: 100 }, day(1_000)],
      {
        accountLimits: [
          { unit: 'tokens', amount: 500_000, window: 'month' },
          { unit: 'streams', amount: 5 },
        ],
      },
    )
    const reservation = await limits.reserve({ user, uses: { requests: 1, tokens: 250, streams: 1 } })
    expect(reservation?.headers()).toEqual({
      'x-ratelimit-limit-requests': '10',
      'x-ratelimit-remaining-requests': '9',
      'x-ratelimit-reset-requests': '1m0s',
      'x-ratelimit-limit-tokens': '1000',
      'x-ratelimit-remaining-tokens': '750',
      'x-ratelimit-reset-tokens': '12h0m0s',
    })
    reservation?.release()
    const none = await open([{ unit: 'streams', amount: 5 }]).limits.reserve({ user, uses: { streams: 1 } })
    expect(none?.headers()).toEqual({})
  })

  test('costs a busy process few exchanges with the database, and a full limit few as well', async () => {
    const { store: limitStore, count } = countingStore(store.limits)
    const { limits, clock, user } = open([day(1_000_000)], { limitStore })
    for (let nth = 0; nth < 2_000; nth++) {
      const reservation = await limits.reserve({ user, uses: { tokens: 100 } })
      reservation?.settle({ tokens: 90 })
      if (nth % 20 === 0) await clock.pass(10)
    }
    expect(count()).toBeLessThan(60)
    const full = open([{ ...day(100), model: 'm' }], { limitStore })
    const call = { user: full.user, model: 'm', uses: { tokens: 100 } }
    const first = await full.limits.reserve(call)
    first?.settle({ tokens: 100 })
    const before = count()
    for (let nth = 0; nth < 200; nth++) expect(await refusalOf(full.limits.reserve(call))).toBeDefined()
    expect(count() - before).toBeLessThan(5)
  })

  test('at the beginning of many calls costs few exchanges, because a block is for as many as come that fast', async () => {
    const { store: limitStore, count } = countingStore(store.limits)
    const { limits, clock, user } = open([day(1_000_000_000)], { limitStore })
    for (let nth = 0; nth < 200; nth++) {
      const calls = Array.from({ length: 4 }, () => limits.reserve({ user, uses: { tokens: 100 } }))
      for (const reservation of await Promise.all(calls)) reservation?.settle({ tokens: 90 })
      await clock.pass(1)
    }
    expect(count()).toBeLessThan(8)
  })

  test('is possible for ids of any length', async () => {
    const { limits } = open([day(100)])
    for (const user of ['\u{1f600}'.repeat(512), `"]},\\'${randomUUID()}`, 'ü'.repeat(1_024)]) {
      const reservation = await limits.reserve({ user, uses: { tokens: 100 } })
      reservation?.settle({ tokens: 40 })
      expect(await limits.report({ user })).toMatchObject([{ subject: { id: user }, used: 40 }])
    }
  })
})
