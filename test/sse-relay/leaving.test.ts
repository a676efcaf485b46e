import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type End, type RelayOptions, readFrames, relayFrames } from '../../plugins/sse-relay/index.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'
import { bytesOf, Hand } from './bodies.ts'

const unhandled: unknown[] = []
const note = (error: unknown) => {
  unhandled.push(error)
}
beforeAll(() => {
  process.on('unhandledRejection', note)
})
afterAll(() => {
  process.off('unhandledRejection', note)
})

/** What happened to a relay, and to its upstream. */
const watched = (options: RelayOptions = {}) => {
  const hand = new Hand()
  const clock = new VirtualClock()
  const gone = new AbortController()
  const told: string[] = []
  const stream = relayFrames(readFrames(hand.body), {
    onLeave: () => void told.push('left'),
    onEnd: ({ kind }: End) => {
      told.push(kind)
      return undefined
    },
    heartbeatMs: 1000,
    maxSilenceMs: 60_000,
    clock,
    signal: gone.signal,
    ...options,
  })
  return { hand, clock, gone, told, reader: stream.getReader() }
}
type Watched = ReturnType<typeof watched>

const why = new Error('no longer interested')

/** The points of a stream's life at which somebody may leave. */
const phases: Readonly<Record<string, (at: Watched) => Promise<unknown>>> = {
  'before it was read at all': async () => {},
  'before the first byte': async ({ reader }) => {
    reader.read().catch(() => {})
  },
  'between two events': async ({ hand, reader }) => {
    hand.say('data: 1\n\n')
    await reader.read()
  },
  'in a silence': async ({ hand, reader }) => {
    hand.say('data: 1\n\n')
    await reader.read()
    reader.read().catch(() => {})
  },
  'in a silence that was broken by heartbeats': async ({ reader, clock }) => {
    reader.read().catch(() => {})
    await clock.pass(2500)
  },
  'in the middle of an event': async ({ hand, reader }) => {
    hand.say('data: 1\n\ndata: ')
    await reader.read()
    reader.read().catch(() => {})
    await settled()
    hand.say('2\n')
  },
  'with more to come than was read': async ({ hand, reader }) => {
    for (let at = 0; at < 100; at++) hand.say('data: 1\n\n')
    await reader.read()
  },
}

const ways: Readonly<Record<string, (at: Watched) => Promise<unknown>>> = {
  cancels: ({ reader }) => reader.cancel(why),
  'is lost': async ({ gone }) => gone.abort(why),
}

for (const [way, leave] of Object.entries(ways)) {
  describe(`a client that ${way}`, () => {
    for (const [phase, reach] of Object.entries(phases)) {
      test(`${phase}: the upstream is given up, once, and no timer is left`, async () => {
        const at = watched()
        await reach(at)
        await settled()
        await leave(at)
        await settled()
        expect(at.hand.cancelled).toEqual([why])
        expect(at.told).toEqual(['left'])
        await at.clock.pass(1)
        expect(at.clock.pending).toBe(0)
        at.gone.abort(why)
        await at.reader.cancel(why).catch(() => {})
        await settled()
        expect([at.hand.cancelled.length, at.told.length]).toEqual([1, 1])
      })

      test(`${phase}, as the upstream breaks: only one of the two is told of, and nobody minds`, async () => {
        for (const order of ['before', 'after', 'a little before']) {
          const at = watched()
          await reach(at)
          await settled()
          if (order === 'before') at.hand.break(new Error('reset'))
          if (order === 'a little before') {
            at.hand.break(new Error('reset'))
            await Promise.resolve()
          }
          const leaving = leave(at)
          if (order === 'after') at.hand.break(new Error('reset'))
          await leaving.catch(() => {})
          await settled()
          expect(at.told).toHaveLength(1)
          await at.clock.pass(1)
          expect(at.clock.pending).toBe(0)
        }
      })
    }

    test('after the end: nobody is told, the upstream has nothing to give up', async () => {
      const at = watched()
      at.hand.say('data: 1\n\n')
      at.hand.end()
      while (!(await at.reader.read()).done);
      await leave(at)
      await settled()
      expect([at.told, at.hand.cancelled, at.clock.pending]).toEqual([['complete'], [], 0])
    })

    test('while it is being thought about what to say at the end: the end was told of, and nothing more happens', async () => {
      const thought = Promise.withResolvers<Uint8Array | undefined>()
      const told: string[] = []
      const at = watched({
        onEnd: ({ kind }) => {
          told.push(kind)
          return thought.promise
        },
      })
      at.hand.end()
      const read = at.reader.read().catch(() => ({ value: undefined }))
      await settled()
      await leave(at)
      thought.resolve(bytesOf('data: late\n\n'))
      await at.clock.pass(1)
      expect([told, at.told, at.clock.pending]).toEqual([['complete'], [], 0])
      expect((await read).value).toBeUndefined()
    })
  })
}

describe('leaving', () => {
  test('goes well though what is told of it fails, and though the upstream does not let itself be given up', async () => {
    const stubborn = new ReadableStream<Uint8Array>({ cancel: () => Promise.reject(new Error('stubborn')) })
    const stream = relayFrames(readFrames(stubborn), {
      onLeave: () => {
        throw new Error('failure')
      },
    })
    await stream.cancel(why)
  })

  test('before anything began is noticed at once', async () => {
    const at = watched({ signal: AbortSignal.abort(why) })
    const read = at.reader.read()
    read.catch(() => {})
    await at.clock.pass(1)
    await expect(read).rejects.toBe(why)
    expect([at.told, at.hand.cancelled, at.clock.pending]).toEqual([['left'], [why], 0])
  })

  test('breaks the stream for whoever goes on reading, unless it cancels it in a moment, as servers do', async () => {
    for (const cancels of [true, false]) {
      const at = watched()
      const read = at.reader.read()
      read.catch(() => {})
      at.gone.abort(why)
      await settled()
      if (cancels) await at.reader.cancel()
      expect(at.clock.pending).toBe(cancels ? 0 : 1)
      await at.clock.pass(1)
      if (cancels) expect(await read).toEqual({ done: true, value: undefined })
      else await expect(read).rejects.toBe(why)
      expect([at.told, at.hand.cancelled]).toEqual([['left'], [why]])
    }
  })

  test('ends the reading, for whoever reads without a relay too', async () => {
    const hand = new Hand()
    const reader = readFrames(hand.body)
    const next = reader.next()
    await Promise.all([reader.cancel(why), reader.cancel('again')])
    expect(await next).toBeUndefined()
    expect(await reader.next()).toBeUndefined()
    expect(hand.cancelled).toEqual([why])
  })

  test('ends it with nothing, whatever is left and whatever breaks at that moment', async () => {
    for (const breaks of [false, true]) {
      const hand = new Hand()
      const reader = readFrames(hand.body)
      hand.say('data: half')
      expect(await reader.next()).toEqual([])
      const next = reader.next()
      if (breaks) hand.break(new Error('reset'))
      await reader.cancel(why)
      expect(await next).toBeUndefined()
    }
  })

  test('stops the clock though the upstream will not let go', async () => {
    const clock = new VirtualClock()
    const stuck = { next: () => new Promise<undefined>(() => {}), cancel: async () => {} }
    const reader = relayFrames(stuck, { clock, heartbeatMs: 1000, maxSilenceMs: 1000 }).getReader()
    reader.read().catch(() => {})
    await settled()
    expect(clock.pending).toBe(2)
    await reader.cancel()
    expect(clock.pending).toBe(0)
  })

  test('leaves nothing unhandled', async () => {
    await settled()
    await new Promise<void>((resolve) => setTimeout(resolve, 20))
    expect(unhandled).toEqual([])
  })
})
