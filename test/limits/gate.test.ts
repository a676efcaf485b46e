import { describe, expect, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import { silent } from '../../plugins/shared/problem.ts'
import { Gate, type GateOptions, Unsent } from '../../plugins/upstream-proxy/gate.ts'
import { memoryPlaces } from '../../plugins/upstream-proxy/memory-places.ts'
import { type Place, type Places, rateOf } from '../../plugins/upstream-proxy/places.ts'
import { Waited } from '../../plugins/upstream-proxy/waited.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'

const open = (options: Partial<GateOptions> & { readonly perSecond?: number } = {}) => {
  const clock = new VirtualClock()
  const { perSecond = 2, ...more } = options
  const places = options.places ?? memoryPlaces()
  const gate = new Gate({
    ...{ rate: rateOf('A', perSecond), places, queueMs: 5_000, callMs: 30_000, clock, log: silent },
    ...more,
  })
  const log: string[] = []
  /** Enters, and notes what comes of it. */
  const enter = async (user?: string, signal?: AbortSignal, waited?: Waited): Promise<Place | undefined> => {
    try {
      const place = await gate.enter(user, signal, { waited })
      log.push(`${user} enters`)
      return place
    } catch (error) {
      const { status, headers } = error as Unsent
      log.push(`${user} ${status}${headers['retry-after'] ? ` after ${headers['retry-after']}` : ''}`)
      return undefined
    }
  }
  /** A call that takes no time. */
  const call = async (user?: string, signal?: AbortSignal, waited?: Waited): Promise<void> => {
    const place = await enter(user, signal, waited)
    if (place) gate.leave(place, true)
  }
  const said = () => log.splice(0)
  return { clock, gate, places, enter, call, said }
}

describe('a gate', () => {
  test('lets calls through at once while there are places, and sets no timer for it', async () => {
    const { clock, call, said } = open()
    void call('a')
    void call('a')
    await settled()
    expect(said()).toEqual(['a enters', 'a enters'])
    expect(clock.pending).toBe(0)
  })

  test('lets the calls of one request wait together for as long as one may', async () => {
    const { clock, call, said } = open({ perSecond: 1, queueMs: 2_500 })
    const inARow = async (user: string, waited?: Waited) => {
      for (let nth = 0; nth < 4; nth++) await call(user, undefined, waited)
    }
    void inARow('a', new Waited())
    await clock.pass(10_000)
    expect(said()).toEqual(['a enters', 'a enters', 'a enters', 'a 429 after 2'])
    // Each on its own, they may all wait.
    void inARow('b')
    await clock.pass(10_000)
    expect(said()).toEqual(['b enters', 'b enters', 'b enters', 'b enters'])
  })

  test('counts waits at the same time once, and lets who has no patience left enter where nobody has to wait', async () => {
    const { clock, call, said } = open({ perSecond: 1, queueMs: 3_500 })
    const waited = new Waited()
    for (let nth = 0; nth < 4; nth++) void call('a', undefined, waited)
    await clock.pass(5_000)
    expect(said()).toEqual(['a enters', 'a enters', 'a enters', 'a enters'])
    expect(Math.round(waited.until(clock.now()) / 1_000)).toBe(3)
    void call('a', undefined, waited)
    await settled()
    for (let nth = 0; nth < 2; nth++) void call('a', undefined, waited)
    await clock.pass(5_000)
    expect(said()).toEqual(['a enters', 'a 429 after 1', 'a 429 after 2'])
  })

  test('serves those who wait in turn by user, whatever their numbers', async () => {
    const { clock, call, said } = open({ perSecond: 1 })
    for (const user of ['a', 'a', 'a', 'a', 'b', 'c', 'b']) void call(user)
    await clock.pass(4_000)
    expect(said()).toEqual(['a enters', 'b enters', 'c enters', 'a enters'])
    await clock.pass(900)
    expect(said()).toEqual(['b enters', 'a 429 after 2', 'a 429 after 1'])
  })

  test('lets who comes rarely go before those who always wait', async () => {
    const { clock, call, said } = open({ perSecond: 1 })
    for (const user of ['a', 'b', 'a', 'b']) void call(user)
    await clock.pass(1_500)
    void call('rare')
    await clock.pass(1_500)
    expect(said()).toEqual(['a enters', 'b enters', 'rare enters'])
  })

  test('gives all who are nobody in particular one turn together', async () => {
    const { clock, call, said } = open({ perSecond: 1 })
    for (const user of [undefined, undefined, 'a', undefined, 'b']) void call(user)
    await clock.pass(3_500)
    expect(said()).toEqual(['undefined enters', 'a enters', 'b enters', 'undefined enters'])
  })

  test('spaces calls out once they have to wait, so that a newcomer never waits long', async () => {
    const { clock, call, said } = open({ perSecond: 10 })
    for (let nth = 0; nth < 40; nth++) void call(`user ${nth % 4}`)
    await clock.pass(2_500)
    said()
    void call('rare')
    await clock.pass(500)
    expect(said()).toContain('rare enters')
  })
})

describe('a wait that is too long', () => {
  test('is refused at once when that is certain, with 429 and the seconds to wait', async () => {
    const { call, said } = open({ perSecond: 1 })
    for (let nth = 0; nth < 6; nth++) void call('a')
    await settled()
    expect(said()).toEqual(['a enters'])
    await call('a')
    expect(said()).toEqual(['a 429 after 6'])
  })

  test('is not refused to another user, whose turn comes sooner', async () => {
    const { clock, call, said } = open({ perSecond: 1 })
    for (let nth = 0; nth < 7; nth++) void call('a')
    await settled()
    void call('b')
    await clock.pass(1_100)
    expect(said()).toEqual(['a 429 after 6', 'a enters', 'b enters'])
  })

  test('ends when it has lasted that long', async () => {
    const { clock, enter, said } = open({ perSecond: 1, queueMs: 3_000 })
    await enter('a')
    void enter('b')
    await clock.pass(2_999)
    expect(said()).toEqual(['a enters'])
    await clock.pass(1)
    expect(said()).toEqual(['b 429 after 1'])
    expect(clock.pending).toBe(0)
  })

  test('of no time at all still lets through who need not wait', async () => {
    const { call, said } = open({ queueMs: 0 })
    await Promise.all([call('a'), call('b'), call('c')])
    expect(said().sort()).toEqual(['a enters', 'b enters', 'c 429 after 1'])
  })

  test('is a refusal in the gateway’s shape', async () => {
    const { gate, enter } = open({ queueMs: 0, perSecond: 0.25 })
    await enter('a')
    const refused = await gate.enter('b').catch((error: unknown) => error as Unsent)
    if (!(refused instanceof Unsent)) throw new Error('not refused')
    const response = refused.toResponse()
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '4'])
    expect(await response.json()).toEqual({
      success: false,
      error: { message: 'too many requests wait for the upstream', type: 'media_proxy_error' },
    })
  })
})

describe('who leaves', () => {
  test('leaves the queue at once, and the next is served in his stead', async () => {
    const { clock, call, said } = open({ perSecond: 1 })
    const leaving = new AbortController()
    void call('a')
    await settled()
    void call('b', leaving.signal)
    void call('c')
    await settled()
    leaving.abort()
    await settled()
    expect(said()).toEqual(['a enters', 'b 502'])
    expect(getEventListeners(leaving.signal, 'abort')).toHaveLength(0)
    await clock.pass(1_100)
    expect(said()).toEqual(['c enters'])
  })

  test('last leaves no timer behind', async () => {
    const { clock, enter } = open({ perSecond: 1 })
    const leaving = new AbortController()
    await enter('a')
    void enter('b', leaving.signal)
    await settled()
    expect(clock.pending).toBe(1)
    leaving.abort()
    await settled()
    expect(clock.pending).toBe(0)
  })

  test('before a place is asked for, asks for none', async () => {
    const { enter, said, clock } = open({ perSecond: 1 })
    await enter('a', AbortSignal.abort())
    await enter('b')
    expect(said()).toEqual(['a 502', 'b enters'])
    expect(clock.pending).toBe(0)
  })

  for (const others of [[], ['b']]) {
    test(`while a place is taken for him ${others.length ? 'leaves it to the next' : 'gives it back at once'}`, async () => {
      const memory = memoryPlaces()
      const asked = Promise.withResolvers<void>()
      const places: Places = { ...memory, take: (wanted) => asked.promise.then(() => memory.take(wanted)) }
      const { enter, said } = open({ perSecond: 1, places })
      await memory.takeInTurn({ ...rateOf('A', 1), user: '', now: 0, leaseUntil: 0 })
      const leaving = new AbortController()
      void enter('a', leaving.signal)
      for (const user of others) void enter(user)
      await settled()
      leaving.abort()
      asked.resolve()
      await settled()
      expect(said()).toEqual(['a 502', ...others.map((user) => `${user} enters`)])
      void enter('c')
      await settled()
      expect(said()).toEqual(others.length ? [] : ['c enters'])
    })
  }

  test('after he was served is not held on to', async () => {
    const { call } = open()
    const staying = new AbortController()
    await call('a', staying.signal)
    expect(getEventListeners(staying.signal, 'abort')).toHaveLength(0)
  })
})

describe('two gates on the same places', () => {
  const pair = () => {
    const places = memoryPlaces()
    const one = open({ perSecond: 1, places })
    const { gate: other } = open({ perSecond: 1, places, clock: one.clock })
    const order: string[] = []
    const call = async (gate: Gate, user: string) => {
      const place = await gate.enter(user)
      order.push(user)
      gate.leave(place, true)
    }
    return { ...one, other, order, call }
  }

  test('know of each other who was served', async () => {
    const { clock, gate, other, order, call } = pair()
    for (const [where, user] of [
      [gate, 'first'],
      [other, 'b'],
      [gate, 'a'],
    ] as const) {
      void call(where, user)
      await clock.pass(1_100)
    }
    // To this one, `a` has never been served.
    for (const user of ['b', 'a', 'b']) void call(other, user)
    await clock.pass(3_500)
    expect(order).toEqual(['first', 'b', 'a', 'b', 'a', 'b'])
  })

  test('let a newcomer at one go before those who wait at the other', async () => {
    const { clock, gate, other, order, call } = pair()
    for (const user of ['first', 'middle', 'last']) void call(gate, user)
    await clock.pass(2_100)
    void call(gate, 'middle')
    void call(other, 'last')
    await clock.pass(500)
    void call(other, 'rare')
    await clock.pass(3_000)
    expect(order).toEqual(['first', 'middle', 'last', 'rare', 'middle', 'last'])
  })
})

describe('when places cannot be asked', () => {
  const failing: Places = {
    take: () => Promise.reject(new Error('no database')),
    takeInTurn: () => Promise.reject(new Error('no database')),
    free: () => Promise.reject(new Error('no database')),
    slow: () => Promise.reject(new Error('no database')),
  }

  test('nobody is let through, and nobody is kept waiting', async () => {
    const { call, said, clock } = open({ places: failing })
    await Promise.all([call('a'), call('b')])
    expect(said()).toEqual(['a 500', 'b 500'])
    expect(clock.pending).toBe(0)
  })

  test('giving back and slowing down fail in silence, but not unseen', async () => {
    const warnings: string[] = []
    const log = { ...silent, warn: (_: object, message: string) => void warnings.push(message) }
    const { gate } = open({ places: failing, log })
    gate.leave({ action: 'A', number: 0, leaseUntil: 0 }, true)
    await gate.slow(5)
    expect(warnings).toHaveLength(2)
  })
})

describe('an action that is slowed down', () => {
  test('lets nobody through before its time, and refuses whom that keeps too long', async () => {
    const { clock, gate, call, said } = open({ perSecond: 1, queueMs: 5_000 })
    await call('a')
    void call('b')
    await settled()
    await gate.slow(clock.now() + 8_000)
    await settled()
    expect(said()).toEqual(['a enters', 'b 429 after 8'])
    await call('c')
    expect(said()).toEqual(['c 429 after 8'])
    await clock.pass(4_000)
    void call('d')
    await clock.pass(3_900)
    expect(said()).toEqual([])
    await clock.pass(200)
    expect(said()).toEqual(['d enters'])
  })
})
