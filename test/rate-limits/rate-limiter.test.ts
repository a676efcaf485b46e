import { describe, expect, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import { noLog } from '../../plugins/shared/problem.ts'
import {
  RateLimiter,
  type RateLimiterOptions,
  UpstreamBusyError,
} from '../../plugins/upstream-proxy/rate-limit/limiter.ts'
import { memoryRateLimitStore } from '../../plugins/upstream-proxy/rate-limit/memory-store.ts'
import { QueueTime } from '../../plugins/upstream-proxy/rate-limit/queue-time.ts'
import {
  type RateLimitPermit,
  type RateLimitStore,
  rateLimitOf,
} from '../../plugins/upstream-proxy/rate-limit/store.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'

const open = (options: Partial<RateLimiterOptions> & { readonly perSecond?: number } = {}) => {
  const clock = new VirtualClock()
  const { perSecond = 2, ...more } = options
  const store = options.store ?? memoryRateLimitStore()
  const limiter = new RateLimiter({
    ...{ rate: rateLimitOf('A', perSecond), store, queueMs: 5_000, callMs: 30_000, clock, log: noLog },
    ...more,
  })
  const log: string[] = []
  /** Waits for a permit and logs the result. */
  const enter = async (
    user?: string,
    signal?: AbortSignal,
    queueTime?: QueueTime,
  ): Promise<RateLimitPermit | undefined> => {
    try {
      const permit = await limiter.acquire(user, signal, { queueTime })
      log.push(`${user} enters`)
      return permit
    } catch (error) {
      const { status, headers } = error as UpstreamBusyError
      log.push(`${user} ${status}${headers['retry-after'] ? ` after ${headers['retry-after']}` : ''}`)
      return undefined
    }
  }
  /** A call without duration. */
  const call = async (user?: string, signal?: AbortSignal, queueTime?: QueueTime): Promise<void> => {
    const permit = await enter(user, signal, queueTime)
    if (permit) limiter.release(permit, true)
  }
  const takeLog = () => log.splice(0)
  return { clock, limiter, store, enter, call, takeLog }
}

describe('a rate limiter', () => {
  test('lets calls pass at once while there are free permits, without a timer', async () => {
    const { clock, call, takeLog } = open()
    void call('a')
    void call('a')
    await settled()
    expect(takeLog()).toEqual(['a enters', 'a enters'])
    expect(clock.pending).toBe(0)
  })

  test('limits the total wait of the calls of one request', async () => {
    const { clock, call, takeLog } = open({ perSecond: 1, queueMs: 2_500 })
    const inARow = async (user: string, queueTime?: QueueTime) => {
      for (let nth = 0; nth < 4; nth++) await call(user, undefined, queueTime)
    }
    void inARow('a', new QueueTime())
    await clock.pass(10_000)
    expect(takeLog()).toEqual(['a enters', 'a enters', 'a enters', 'a 429 after 2'])
    // Separate requests: each may wait that long.
    void inARow('b')
    await clock.pass(10_000)
    expect(takeLog()).toEqual(['b enters', 'b enters', 'b enters', 'b enters'])
  })

  test('counts concurrent waits once, and lets a request with no wait left take a free permit', async () => {
    const { clock, call, takeLog } = open({ perSecond: 1, queueMs: 3_500 })
    const queueTime = new QueueTime()
    for (let nth = 0; nth < 4; nth++) void call('a', undefined, queueTime)
    await clock.pass(5_000)
    expect(takeLog()).toEqual(['a enters', 'a enters', 'a enters', 'a enters'])
    expect(Math.round(queueTime.totalMs(clock.now()) / 1_000)).toBe(3)
    void call('a', undefined, queueTime)
    await settled()
    for (let nth = 0; nth < 2; nth++) void call('a', undefined, queueTime)
    await clock.pass(5_000)
    expect(takeLog()).toEqual(['a enters', 'a 429 after 1', 'a 429 after 2'])
  })

  test('serves waiting users round robin, independent of their number of calls', async () => {
    const { clock, call, takeLog } = open({ perSecond: 1 })
    for (const user of ['a', 'a', 'a', 'a', 'b', 'c', 'b']) void call(user)
    await clock.pass(4_000)
    expect(takeLog()).toEqual(['a enters', 'b enters', 'c enters', 'a enters'])
    await clock.pass(900)
    expect(takeLog()).toEqual(['b enters', 'a 429 after 2', 'a 429 after 1'])
  })

  test('serves a rare user before users who always wait', async () => {
    const { clock, call, takeLog } = open({ perSecond: 1 })
    for (const user of ['a', 'b', 'a', 'b']) void call(user)
    await clock.pass(1_500)
    void call('rare')
    await clock.pass(1_500)
    expect(takeLog()).toEqual(['a enters', 'b enters', 'rare enters'])
  })

  test('treats all calls without a user as one user', async () => {
    const { clock, call, takeLog } = open({ perSecond: 1 })
    for (const user of [undefined, undefined, 'a', undefined, 'b']) void call(user)
    await clock.pass(3_500)
    expect(takeLog()).toEqual(['undefined enters', 'a enters', 'b enters', 'undefined enters'])
  })

  test('spaces waiting calls evenly, so that a new user waits only a short time', async () => {
    const { clock, call, takeLog } = open({ perSecond: 10 })
    for (let nth = 0; nth < 40; nth++) void call(`user ${nth % 4}`)
    await clock.pass(2_500)
    takeLog()
    void call('rare')
    await clock.pass(500)
    expect(takeLog()).toContain('rare enters')
  })
})

describe('a wait beyond the limit', () => {
  test('is rejected at once with 429 and Retry-After when it is certain', async () => {
    const { call, takeLog } = open({ perSecond: 1 })
    for (let nth = 0; nth < 6; nth++) void call('a')
    await settled()
    expect(takeLog()).toEqual(['a enters'])
    await call('a')
    expect(takeLog()).toEqual(['a 429 after 6'])
  })

  test('does not reject another user whose wait is shorter', async () => {
    const { clock, call, takeLog } = open({ perSecond: 1 })
    for (let nth = 0; nth < 7; nth++) void call('a')
    await settled()
    void call('b')
    await clock.pass(1_100)
    expect(takeLog()).toEqual(['a 429 after 6', 'a enters', 'b enters'])
  })

  test('ends after the maximum wait', async () => {
    const { clock, enter, takeLog } = open({ perSecond: 1, queueMs: 3_000 })
    await enter('a')
    void enter('b')
    await clock.pass(2_999)
    expect(takeLog()).toEqual(['a enters'])
    await clock.pass(1)
    expect(takeLog()).toEqual(['b 429 after 1'])
    expect(clock.pending).toBe(0)
  })

  test('with a maximum of zero, calls that find a free permit pass', async () => {
    const { call, takeLog } = open({ queueMs: 0 })
    await Promise.all([call('a'), call('b'), call('c')])
    expect(takeLog().sort()).toEqual(['a enters', 'b enters', 'c 429 after 1'])
  })

  test('is an error in the gateway’s format', async () => {
    const { limiter, enter } = open({ queueMs: 0, perSecond: 0.25 })
    await enter('a')
    const rejected = await limiter.acquire('b').catch((error: unknown) => error as UpstreamBusyError)
    if (!(rejected instanceof UpstreamBusyError)) throw new Error('not rejected')
    const response = rejected.toResponse()
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '4'])
    expect(await response.json()).toEqual({
      success: false,
      error: { message: 'too many requests wait for the upstream', type: 'request_error' },
    })
  })
})

describe('a caller who disconnects', () => {
  test('leaves the queue at once, and the next call is served', async () => {
    const { clock, call, takeLog } = open({ perSecond: 1 })
    const caller = new AbortController()
    void call('a')
    await settled()
    void call('b', caller.signal)
    void call('c')
    await settled()
    caller.abort()
    await settled()
    expect(takeLog()).toEqual(['a enters', 'b 502'])
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0)
    await clock.pass(1_100)
    expect(takeLog()).toEqual(['c enters'])
  })

  test('as the last one clears the timer', async () => {
    const { clock, enter } = open({ perSecond: 1 })
    const caller = new AbortController()
    await enter('a')
    void enter('b', caller.signal)
    await settled()
    expect(clock.pending).toBe(1)
    caller.abort()
    await settled()
    expect(clock.pending).toBe(0)
  })

  test('before the call takes no permit', async () => {
    const { enter, takeLog, clock } = open({ perSecond: 1 })
    await enter('a', AbortSignal.abort())
    await enter('b')
    expect(takeLog()).toEqual(['a 502', 'b enters'])
    expect(clock.pending).toBe(0)
  })

  for (const others of [[], ['b']]) {
    test(`while the store takes a permit ${others.length ? 'passes the permit to the next call' : 'returns the permit at once'}`, async () => {
      const memory = memoryRateLimitStore()
      const asked = Promise.withResolvers<void>()
      const store: RateLimitStore = { ...memory, take: (wanted) => asked.promise.then(() => memory.take(wanted)) }
      const { enter, takeLog } = open({ perSecond: 1, store })
      await memory.takeInTurn({ ...rateLimitOf('A', 1), user: '', now: 0, leaseUntil: 0 })
      const caller = new AbortController()
      void enter('a', caller.signal)
      for (const user of others) void enter(user)
      await settled()
      caller.abort()
      asked.resolve()
      await settled()
      expect(takeLog()).toEqual(['a 502', ...others.map((user) => `${user} enters`)])
      void enter('c')
      await settled()
      expect(takeLog()).toEqual(others.length ? [] : ['c enters'])
    })
  }

  test('after the call is served: the signal keeps no listener', async () => {
    const { call } = open()
    const caller = new AbortController()
    await call('a', caller.signal)
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0)
  })
})

describe('two rate limiters with one store', () => {
  const pair = () => {
    const store = memoryRateLimitStore()
    const one = open({ perSecond: 1, store })
    const { limiter: other } = open({ perSecond: 1, store, clock: one.clock })
    const order: string[] = []
    const call = async (limiter: RateLimiter, user: string) => {
      const permit = await limiter.acquire(user)
      order.push(user)
      limiter.release(permit, true)
    }
    return { ...one, other, order, call }
  }

  test('each know when the other has served a user', async () => {
    const { clock, limiter, other, order, call } = pair()
    for (const [where, user] of [
      [limiter, 'first'],
      [other, 'b'],
      [limiter, 'a'],
    ] as const) {
      void call(where, user)
      await clock.pass(1_100)
    }
    // This rate limiter has never served `a`.
    for (const user of ['b', 'a', 'b']) void call(other, user)
    await clock.pass(3_500)
    expect(order).toEqual(['first', 'b', 'a', 'b', 'a', 'b'])
  })

  test('a new user at one is served before users who wait at the other', async () => {
    const { clock, limiter, other, order, call } = pair()
    for (const user of ['first', 'middle', 'last']) void call(limiter, user)
    await clock.pass(2_100)
    void call(limiter, 'middle')
    void call(other, 'last')
    await clock.pass(500)
    void call(other, 'rare')
    await clock.pass(3_000)
    expect(order).toEqual(['first', 'middle', 'last', 'rare', 'middle', 'last'])
  })
})

describe('when the store fails', () => {
  const failing: RateLimitStore = {
    take: () => Promise.reject(new Error('no database')),
    takeInTurn: () => Promise.reject(new Error('no database')),
    release: () => Promise.reject(new Error('no database')),
    delayUntil: () => Promise.reject(new Error('no database')),
  }

  test('every call is rejected at once', async () => {
    const { call, takeLog, clock } = open({ store: failing })
    await Promise.all([call('a'), call('b')])
    expect(takeLog()).toEqual(['a 500', 'b 500'])
    expect(clock.pending).toBe(0)
  })

  test('errors of returning a permit and of slowing down are only logged', async () => {
    const warnings: string[] = []
    const log = { ...noLog, warn: (_: object, message: string) => void warnings.push(message) }
    const { limiter } = open({ store: failing, log })
    limiter.release({ action: 'A', number: 0, leaseUntil: 0 }, true)
    await limiter.slow(5)
    expect(warnings).toHaveLength(2)
  })
})

test('a clock that was ahead does not block calls until that time', async () => {
  const { clock, call, takeLog } = open({ perSecond: 1 })
  await clock.pass(3 * 3_600_000)
  await call('a')
  void call('b')
  await clock.pass(1_100)
  expect(takeLog()).toEqual(['a enters', 'b enters'])
  await clock.pass(-3 * 3_600_000)
  await call('c')
  expect(takeLog()).toEqual(['c enters'])
})

describe('a slowed-down action', () => {
  test('lets no call pass before the given time, and rejects calls whose wait would be too long', async () => {
    const { clock, limiter, call, takeLog } = open({ perSecond: 1, queueMs: 5_000 })
    await call('a')
    void call('b')
    await settled()
    await limiter.slow(clock.now() + 8_000)
    await settled()
    expect(takeLog()).toEqual(['a enters', 'b 429 after 8'])
    await call('c')
    expect(takeLog()).toEqual(['c 429 after 8'])
    await clock.pass(4_000)
    void call('d')
    await clock.pass(3_900)
    expect(takeLog()).toEqual([])
    await clock.pass(200)
    expect(takeLog()).toEqual(['d enters'])
  })
})
