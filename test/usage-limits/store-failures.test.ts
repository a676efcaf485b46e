import { beforeEach, expect, test } from 'bun:test'
import { type Limit, type LimitStore, usageLimits } from 'sluice/usage-limits'
import type { Log } from '../../plugins/shared/problem.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { processOn, refusalOf, StoreClock } from './fixture.ts'

let store: Store
beforeEach(async () => {
  store = openStore('sqlite::memory:')
  await store.migrate()
})

const day = (amount: number): Limit => ({ unit: 'tokens', amount, window: 'day' })
const user = 'ann'

const open = (userLimits: readonly Limit[]) => {
  const clock = new StoreClock()
  const lines: string[] = []
  const write = (level: string) => (_fields: object, message: string) => void lines.push(`${level} ${message}`)
  const log: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
  const failure: { before?: Error; after?: Error } = {}
  const failing: LimitStore = {
    ...store.limits,
    async exchange(exchange) {
      if (failure.before) throw failure.before
      const counts = await store.limits.exchange(exchange)
      if (failure.after) throw failure.after
      return counts
    },
  }
  return { clock, lines, failure, limits: processOn(failing, clock, { userLimits, log }) }
}

/** On a store whose exchanges wait between `pause` and `resume`. The clock does not wait for this store. */
const openSlow = (userLimits: readonly Limit[]) => {
  const clock = new StoreClock()
  let gate = Promise.resolve()
  let resume = () => {}
  const exchange: LimitStore['exchange'] = async (asked) => {
    await gate
    return store.limits.exchange(asked)
  }
  const pause = () => {
    ;({ promise: gate, resolve: resume } = Promise.withResolvers<void>())
  }
  const limits = usageLimits({ store: { ...store.limits, exchange }, clock, userLimits })
  return { clock, limits, pause, resume: () => resume() }
}

test('while the database is down, calls go on with what the process holds, and others get 500', async () => {
  const { clock, lines, failure, limits } = open([day(100_000)])
  for (let nth = 0; nth < 40; nth++) {
    const reservation = await limits.reserve({ user, uses: { tokens: 100 } })
    reservation?.settle({ tokens: 100 })
    await clock.pass(5)
  }
  failure.before = new Error('the database is down')
  const inside = limits.reserve({ user, uses: { tokens: 100 } })
  expect(inside).not.toBeInstanceOf(Promise)
  const beyond = limits.reserve({ user, uses: { tokens: 50_000 } })
  await expect(beyond).rejects.toMatchObject({ status: 500, message: 'the limits could not be checked' })
  expect((await inside)?.extend({ tokens: 100 })).toBe(true)
  ;(await inside)?.settle({ tokens: 150 })
  await clock.pass(10_000)
  failure.before = undefined
  await clock.pass(3_000)
  expect(await limits.report({ user })).toMatchObject([{ used: 4_150, reserved: 0 }])
  expect(lines).toEqual(['error the use of limits could not be written', 'info the use of limits is written again'])
})

test('a database without room gets 503', async () => {
  const { failure, limits } = open([day(100)])
  failure.before = Object.assign(new Error('full'), { code: 'ENOSPC' })
  await expect(limits.reserve({ user, uses: { tokens: 1 } })).rejects.toMatchObject({ status: 503 })
})

test('an exchange whose answer was lost is applied once', async () => {
  const { clock, failure, limits } = open([day(1_000)])
  const first = await limits.reserve({ user, uses: { tokens: 100 } })
  const second = await limits.reserve({ user, uses: { tokens: 100 } })
  failure.after = new Error('the answer was lost')
  first?.settle({ tokens: 80 })
  await clock.pass(5_000)
  second?.settle({ tokens: 90 })
  failure.after = undefined
  await clock.pass(2_000)
  expect(await limits.report({ user })).toMatchObject([{ used: 170, reserved: 0, remaining: 830 }])
  expect(await limits.reserve({ user, uses: { tokens: 830 } })).toBeDefined()
})

test('what was granted in an exchange whose answer was lost is there after it', async () => {
  const { clock, failure, limits } = open([day(1_000)])
  failure.after = new Error('the answer was lost')
  await expect(limits.reserve({ user, uses: { tokens: 600 } })).rejects.toMatchObject({ status: 500 })
  failure.after = undefined
  await clock.pass(3_000)
  expect(await limits.report({ user })).toMatchObject([{ used: 0, reserved: 0, remaining: 1_000 }])
})

test('a process that was cut off until its lease ended takes nothing more of its blocks', async () => {
  const { clock, failure, limits } = open([day(100_000)])
  for (let nth = 0; nth < 40; nth++) {
    const reservation = await limits.reserve({ user, uses: { tokens: 100 } })
    reservation?.settle({ tokens: 100 })
    await clock.pass(5)
  }
  failure.before = new Error('unreachable')
  await clock.pass(29_000)
  await expect(limits.reserve({ user, uses: { tokens: 1 } })).rejects.toMatchObject({ status: 500 })
})

test('while the database is slow, no call is told that a limit is used up', async () => {
  const { clock, limits, pause, resume } = openSlow([day(10_000)])
  const [first, second] = [
    await limits.reserve({ user, uses: { tokens: 100 } }),
    await limits.reserve({ user, uses: { tokens: 100 } }),
  ]
  pause()
  const extended = first?.extend({ tokens: 4_000 })
  const begun = limits.reserve({ user, uses: { tokens: 5_000 } })
  await clock.pass(3_000)
  // The end of another call looks at those that wait.
  second?.settle({ tokens: 100 })
  await clock.pass(10)
  resume()
  expect(await extended).toBe(true)
  expect(await begun).toBeDefined()
  const refusal = refusalOf(limits.reserve({ user, uses: { tokens: 9_000 } }))
  await clock.pass(3_000)
  expect(await refusal).toBeDefined()
})

test('after a database that was slow for longer than the lease, no call is told that a limit is used up', async () => {
  const { clock, limits, pause, resume } = openSlow([day(10_000)])
  await limits.reserve({ user, uses: { tokens: 100 } })
  pause()
  const begun = limits.reserve({ user, uses: { tokens: 5_000 } })
  await clock.pass(40_000)
  await store.limits.sweepLimits(clock.now())
  resume()
  await clock.pass(1_000)
  expect((await begun)?.reserved).toEqual({ tokens: 5_000 })
})

test('while the database is slow, a stream gets all that it asks for, if there is room', async () => {
  const { clock, limits, pause, resume } = openSlow([day(3_000)])
  const [first, second] = [
    await limits.reserve({ user, uses: { tokens: 100 } }),
    await limits.reserve({ user, uses: { tokens: 110 } }),
  ]
  pause()
  const begun = limits.reserve({ user, uses: { tokens: 1_000 } })
  await clock.settled()
  // What is free now is more than the least, and was not asked for.
  second?.settle({ tokens: 100 })
  const extended = first?.extend({ tokens: 64 }, { tokens: 4 })
  await clock.pass(150)
  resume()
  expect(await extended).toBe(true)
  expect(first?.reserved).toEqual({ tokens: 164 })
  expect(await begun).toBeDefined()
})

test('a limit list that the store cannot read lets nobody past', async () => {
  const clock = new StoreClock()
  const failing = { ...store.limits, limitSubjects: () => Promise.reject(new Error('not JSON')) }
  const limits = processOn(failing, clock, { userLimits: [day(100)] })
  await expect(limits.reserve({ user, uses: { tokens: 1 } })).rejects.toMatchObject({
    status: 500,
    message: 'the limits could not be read',
  })
  expect(
    await refusalOf(processOn(store.limits, clock, { userLimits: [] }).reserve({ user, uses: {} })),
  ).toBeUndefined()
})
