import { describe, expect, test } from 'bun:test'
import { type RelayOptions, readFrames, relayFrames, type StreamEnd } from '../../plugins/sse-relay/index.ts'
import { recordUnhandledRejections } from '../support/unhandled-rejections.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'
import { bytesOf, ControlledBody } from './bodies.ts'

const unhandled = recordUnhandledRejections()

/** A relay with a controlled upstream body. Records its notifications. */
const openRelay = (options: RelayOptions = {}) => {
  const body = new ControlledBody()
  const clock = new VirtualClock()
  const caller = new AbortController()
  const notified: string[] = []
  const stream = relayFrames(readFrames(body.body), {
    onDisconnect: () => void notified.push('left'),
    onEnd: ({ kind }: StreamEnd) => {
      notified.push(kind)
      return undefined
    },
    heartbeatMs: 1000,
    maxSilenceMs: 60_000,
    clock,
    signal: caller.signal,
    ...options,
  })
  return { body, clock, caller, notified, reader: stream.getReader() }
}
type OpenRelay = ReturnType<typeof openRelay>

const why = new Error('no longer interested')

/** States of a stream in which the client may disconnect. */
const phases: Readonly<Record<string, (at: OpenRelay) => Promise<unknown>>> = {
  'before the first read': async () => {},
  'before the first byte': async ({ reader }) => {
    reader.read().catch(() => {})
  },
  'between two events': async ({ body, reader }) => {
    body.send('data: 1\n\n')
    await reader.read()
  },
  'while the upstream is silent': async ({ body, reader }) => {
    body.send('data: 1\n\n')
    await reader.read()
    reader.read().catch(() => {})
  },
  'between heartbeats': async ({ reader, clock }) => {
    reader.read().catch(() => {})
    await clock.pass(2500)
  },
  'in the middle of an event': async ({ body, reader }) => {
    body.send('data: 1\n\ndata: ')
    await reader.read()
    reader.read().catch(() => {})
    await settled()
    body.send('2\n')
  },
  'with unread events': async ({ body, reader }) => {
    for (let at = 0; at < 100; at++) body.send('data: 1\n\n')
    await reader.read()
  },
}

const disconnects: Readonly<Record<string, (at: OpenRelay) => Promise<unknown>>> = {
  'cancels the body': ({ reader }) => reader.cancel(why),
  'aborts its signal': async ({ caller }) => caller.abort(why),
}

for (const [how, leave] of Object.entries(disconnects)) {
  describe(`a client that ${how}`, () => {
    for (const [phase, reach] of Object.entries(phases)) {
      test(`${phase}: the upstream is cancelled once, and no timer remains`, async () => {
        const at = openRelay()
        await reach(at)
        await settled()
        await leave(at)
        await settled()
        expect(at.body.cancelled).toEqual([why])
        expect(at.notified).toEqual(['left'])
        await at.clock.pass(1)
        expect(at.clock.pending).toBe(0)
        at.caller.abort(why)
        await at.reader.cancel(why).catch(() => {})
        await settled()
        expect([at.body.cancelled.length, at.notified.length]).toEqual([1, 1])
      })

      test(`${phase}, while the upstream breaks: only one of the two is reported`, async () => {
        for (const order of ['before', 'after', 'a little before']) {
          const at = openRelay()
          await reach(at)
          await settled()
          if (order === 'before') at.body.break(new Error('reset'))
          if (order === 'a little before') {
            at.body.break(new Error('reset'))
            await Promise.resolve()
          }
          const leaving = leave(at)
          if (order === 'after') at.body.break(new Error('reset'))
          await leaving.catch(() => {})
          await settled()
          expect(at.notified).toHaveLength(1)
          await at.clock.pass(1)
          expect(at.clock.pending).toBe(0)
        }
      })
    }

    test('after the end: nothing is reported or cancelled', async () => {
      const at = openRelay()
      at.body.send('data: 1\n\n')
      at.body.end()
      while (!(await at.reader.read()).done);
      await leave(at)
      await settled()
      expect([at.notified, at.body.cancelled, at.clock.pending]).toEqual([['complete'], [], 0])
    })

    test('while onEnd is pending: only the end is reported', async () => {
      const thought = Promise.withResolvers<Uint8Array | undefined>()
      const notified: string[] = []
      const at = openRelay({
        onEnd: ({ kind }) => {
          notified.push(kind)
          return thought.promise
        },
      })
      at.body.end()
      const read = at.reader.read().catch(() => ({ value: undefined }))
      await settled()
      await leave(at)
      thought.resolve(bytesOf('data: late\n\n'))
      await at.clock.pass(1)
      expect([notified, at.notified, at.clock.pending]).toEqual([['complete'], [], 0])
      expect((await read).value).toBeUndefined()
    })
  })
}

describe('a disconnect', () => {
  test('causes no error when onDisconnect throws or the upstream cannot be cancelled', async () => {
    const stubborn = new ReadableStream<Uint8Array>({ cancel: () => Promise.reject(new Error('stubborn')) })
    const stream = relayFrames(readFrames(stubborn), {
      onDisconnect: () => {
        throw new Error('failure')
      },
    })
    await stream.cancel(why)
  })

  test('before the start is handled at once', async () => {
    const at = openRelay({ signal: AbortSignal.abort(why) })
    const read = at.reader.read()
    read.catch(() => {})
    await at.clock.pass(1)
    await expect(read).rejects.toBe(why)
    expect([at.notified, at.body.cancelled, at.clock.pending]).toEqual([['left'], [why], 0])
  })

  test('breaks the stream for further reads, unless the server cancels it in the same moment', async () => {
    for (const cancels of [true, false]) {
      const at = openRelay()
      const read = at.reader.read()
      read.catch(() => {})
      at.caller.abort(why)
      await settled()
      if (cancels) await at.reader.cancel()
      expect(at.clock.pending).toBe(cancels ? 0 : 1)
      await at.clock.pass(1)
      if (cancels) expect(await read).toEqual({ done: true, value: undefined })
      else await expect(read).rejects.toBe(why)
      expect([at.notified, at.body.cancelled]).toEqual([['left'], [why]])
    }
  })

  test('also ends readFrames without a relay', async () => {
    const body = new ControlledBody()
    const reader = readFrames(body.body)
    const next = reader.next()
    await Promise.all([reader.cancel(why), reader.cancel('again')])
    expect(await next).toBeUndefined()
    expect(await reader.next()).toBeUndefined()
    expect(body.cancelled).toEqual([why])
  })

  test('ends readFrames without further frames, even if the upstream breaks at the same moment', async () => {
    for (const breaks of [false, true]) {
      const body = new ControlledBody()
      const reader = readFrames(body.body)
      body.send('data: half')
      expect(await reader.next()).toEqual([])
      const next = reader.next()
      if (breaks) body.break(new Error('reset'))
      await reader.cancel(why)
      expect(await next).toBeUndefined()
    }
  })

  test('clears the timers even if the cancellation of the upstream hangs', async () => {
    const clock = new VirtualClock()
    const stuck = { next: () => new Promise<undefined>(() => {}), cancel: async () => {} }
    const reader = relayFrames(stuck, { clock, heartbeatMs: 1000, maxSilenceMs: 1000 }).getReader()
    reader.read().catch(() => {})
    await settled()
    expect(clock.pending).toBe(2)
    await reader.cancel()
    expect(clock.pending).toBe(0)
  })

  test('causes no unhandled rejections', async () => {
    await settled()
    await new Promise<void>((resolve) => setTimeout(resolve, 20))
    expect(unhandled).toEqual([])
  })
})
