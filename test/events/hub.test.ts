import { expect, test } from 'bun:test'
import { eventJson } from '../../plugins/events/frames.ts'
import { EventHub, type SentEvent } from '../../plugins/events/hub.ts'
import type { StoredEvent } from '../../plugins/events/index.ts'
import { EventStream } from '../../plugins/events/stream.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'

/** A store in memory that counts its queries. */
const createStore = () => {
  const events: StoredEvent[] = []
  const listeners: (() => void)[] = []
  const queries = { all: 0, own: 0 }
  let fails = false
  return {
    events,
    queries,
    fail: (now: boolean) => {
      fails = now
    },
    /** Adds an event; with `locally`, in a transaction of this process. */
    add: (user: string, { locally = false, data = '{}' } = {}) => {
      const sequence = events.length + 1
      events.push({ sequence, id: `evt_${sequence}`, user, type: 'video.queued', data, at: 0 })
      if (locally) for (const listener of listeners) listener()
    },
    onEvents: (listener: () => void) => void listeners.push(listener),
    newestEvent: async () => events.length,
    eventsAfter: async (after: number, max: number) => {
      queries.all++
      if (fails) throw new Error('unavailable')
      return events.filter(({ sequence }) => sequence > after).slice(0, max)
    },
    eventsOf: async (user: string, after: number, max: number) => {
      queries.own++
      return events.filter((event) => event.user === user && event.sequence > after).slice(0, max)
    },
    findEvent: async (user: string, id: string) =>
      events.find((event) => event.user === user && event.id === id)?.sequence,
    newestEventOf: async () => undefined,
  }
}

const open = () => {
  const store = createStore()
  const clock = new VirtualClock()
  const hub = new EventHub({ store, clock, log: noLog, everyMs: 500 })
  const listen = async (user: string) => {
    const received: number[] = []
    const listener = { user, receive: ({ sequence }: SentEvent) => void received.push(sequence) }
    await hub.add(listener)
    return { received, listener }
  }
  return { store, clock, hub, listen }
}

test('a thousand listeners cost one query each time, and none costs nothing', async () => {
  const { store, clock, hub, listen } = open()
  await clock.pass(10_000)
  expect(store.queries.all).toBe(0)
  const listeners = await Promise.all(Array.from({ length: 1_000 }, (_, index) => listen(`user-${index % 100}`)))
  expect(hub.size).toBe(1_000)
  store.add('user-7')
  await clock.pass(5_000)
  expect(store.queries).toEqual({ all: 10, own: 0 })
  expect(listeners.filter(({ received }) => received.length === 1)).toHaveLength(10)
  for (const { listener } of listeners) hub.delete(listener)
  await clock.pass(5_000)
  expect([store.queries.all, hub.size, clock.pending]).toEqual([10, 0, 0])
})

test('events of this process are read at once, many with one query, also those committed during a query', async () => {
  const { store, clock, listen } = open()
  const { received } = await listen('ann')
  for (let count = 0; count < 50; count++) store.add('ann', { locally: true })
  await clock.pass(20)
  expect([store.queries.all, received.length]).toEqual([1, 50])
  const read = store.eventsAfter
  store.eventsAfter = async (...query) => {
    const events = await read(...query)
    store.eventsAfter = read
    store.add('ann', { locally: true })
    return events
  }
  store.add('ann', { locally: true })
  await clock.pass(45)
  expect(received).toHaveLength(52)
})

test('more events than one query returns, and a store that fails for a while: nothing is lost or repeated', async () => {
  const { store, clock, listen } = open()
  const { received } = await listen('ann')
  for (let count = 0; count < 1_200; count++) store.add('ann')
  await clock.pass(500)
  expect(received).toHaveLength(1_200)
  store.fail(true)
  store.add('ann')
  await clock.pass(3_000)
  expect(received).toHaveLength(1_200)
  store.fail(false)
  await clock.pass(500)
  expect(received).toEqual(Array.from({ length: 1_201 }, (_, index) => index + 1))
})

test('a listener that comes when all others have left starts with what happens from then on', async () => {
  const { store, clock, hub, listen } = open()
  const first = await listen('ann')
  hub.delete(first.listener)
  store.add('ann')
  const second = await listen('ann')
  store.add('ann')
  await clock.pass(500)
  expect([first.received, second.received]).toEqual([[], [2]])
})

/** A stream whose client reads only when the test says so. */
const openStream = async ({ store, clock, hub }: ReturnType<typeof open>, lastEventId?: string) => {
  let ended = 0
  const stream = new EventStream({
    ...{ hub, store, clock, log: noLog, user: 'ann', lastEventId, heartbeatMs: 1_000_000 },
    ...{ wants: () => true, onEnd: () => ended++ },
  })
  await stream.open()
  let resume: (() => void) | undefined
  const written: string[] = []
  void stream.writeTo((bytes) => {
    written.push(new TextDecoder().decode(bytes))
    return new Promise<void>((resolve) => {
      resume = resolve
    })
  })
  await settled()
  return {
    stream,
    written,
    ended: () => ended,
    read: async () => {
      resume?.()
      await settled()
    },
    sequences: () => [...written.join('').matchAll(/^id: evt_(\d+)$/gm)].map(([, id]) => Number(id)),
  }
}

test('a client that does not read has few events in memory, and gets the others from the store', async () => {
  const opened = open()
  const { store, clock, hub } = opened
  const { stream, written, ended, read, sequences } = await openStream(opened)
  await read()
  const data = JSON.stringify('x'.repeat(1_000))
  store.add('ann', { data })
  await clock.pass(500)
  const queries = store.queries.own
  expect(sequences()).toEqual([1])
  // The client does not read this one, and 299 more come.
  for (let count = 1; count < 300; count++) store.add('ann', { data })
  await clock.pass(500)
  expect([sequences(), store.queries.own]).toEqual([[1], queries])
  while (sequences().length < 300) await read()
  expect(store.queries.own).toBeGreaterThanOrEqual(queries + 3)
  for (const part of written) expect(part.length).toBeLessThan(150_000)
  expect(sequences()).toEqual(Array.from({ length: 300 }, (_, index) => index + 1))
  await stream.cancel()
  await stream.cancel()
  expect([ended(), hub.size]).toEqual([1, 0])
})

test('an event that the hub reads while a client catches up from the store is neither lost nor repeated', async () => {
  const opened = open()
  const { store, clock } = opened
  store.add('ann')
  const read = store.eventsOf
  store.eventsOf = async (...query) => {
    const events = await read(...query)
    store.eventsOf = read
    // Committed after the query of the store, and read by the hub before the client continues.
    store.add('ann')
    await clock.pass(500)
    return events
  }
  store.findEvent = async () => 0
  const { stream, read: readNext, sequences } = await openStream(opened, 'evt_0')
  for (let count = 0; count < 5; count++) await readNext()
  await clock.pass(500)
  for (let count = 0; count < 5; count++) await readNext()
  expect(sequences().filter((sequence) => sequence > 0)).toEqual([1, 2])
  await stream.cancel()
})

test('an event that cannot be sent, and one with a time that no date has, stop no stream', async () => {
  const { store, clock, hub, listen } = open()
  const failing = { user: 'ann', receive: () => raise() }
  await hub.add(failing)
  const bob = await listen('bob')
  store.add('ann')
  store.events.push({ sequence: 2, id: 'evt_2', user: 'bob', type: 'x', data: '{}', at: Number.MAX_SAFE_INTEGER })
  store.add('bob')
  await clock.pass(1_000)
  expect(bob.received).toEqual([2, 3])
  expect(eventJson({ type: 'x', data: '{}', at: Number.MIN_SAFE_INTEGER })).toContain('"-271821-04-20T00:00:00.000Z"')
})

const raise = (): never => {
  throw new Error('not received')
}

test('streams that resume at once read one page of stored events in a turn of the event loop', async () => {
  const opened = open()
  const { store, clock } = opened
  for (let count = 0; count < 450; count++) store.add('ann')
  await clock.pass(500)
  let pages = 0
  const { eventsOf } = store
  store.eventsOf = (...given) => {
    pages++
    return eventsOf.call(store, ...given)
  }
  const sources = Array.from({ length: 8 }, () => {
    const stream = new EventStream({
      ...{ hub: opened.hub, store, clock, log: noLog, user: 'ann', lastEventId: 'start', heartbeatMs: 1_000_000 },
      ...{ wants: () => true, onEnd() {} },
    })
    return { stream, written: '' }
  })
  await Promise.all(sources.map(({ stream }) => stream.open()))
  for (const source of sources) {
    void source.stream.writeTo((bytes) => {
      source.written += new TextDecoder().decode(bytes)
      return undefined
    })
  }
  let most = 0
  for (let before = 0, turn = 0; turn < 200; turn++) {
    await settled()
    most = Math.max(most, pages - before)
    before = pages
  }
  expect(pages).toBe(8 * 5)
  expect(most).toBeLessThanOrEqual(2)
  for (const { written } of sources) expect(written.match(/^id: evt_/gm)).toHaveLength(450)
})
