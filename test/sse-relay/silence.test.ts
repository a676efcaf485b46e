import { describe, expect, test } from 'bun:test'
import { type RelayOptions, readFrames, relayFrames } from '../../plugins/sse-relay/index.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'
import { bytesOf, Hand, joined } from './bodies.ts'
import { parsedElsewhere } from './oracle.ts'

/** A relay whose client reads on and on, unless told not to. */
const relayed = (options: RelayOptions, { reading = true } = {}) => {
  const hand = new Hand()
  const clock = new VirtualClock()
  const pieces: Uint8Array[] = []
  const reader = relayFrames(readFrames(hand.body), { clock, ...options }).getReader()
  let over: unknown
  const read = async () => {
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) pieces.push(read.value)
      over = 'closed'
    } catch (error) {
      over = error
    }
  }
  if (reading) void read()
  return {
    hand,
    clock,
    read,
    cancel: () => reader.cancel(),
    heard: () => new TextDecoder('utf-8', { ignoreBOM: true }).decode(joined(pieces)),
    over: () => over,
    say: async (text: string | Uint8Array) => {
      hand.say(text)
      await settled()
    },
  }
}

const beat = ': keep-alive\n\n'

describe('a client that hears nothing gets a heartbeat', () => {
  test('after each so many milliseconds, also before the first event', async () => {
    const { clock, heard, cancel } = relayed({ heartbeatMs: 1000 })
    await clock.pass(999)
    expect(heard()).toBe('')
    await clock.pass(1)
    await settled()
    expect(heard()).toBe(beat)
    await clock.pass(2000)
    await settled()
    expect(heard()).toBe(beat.repeat(3))
    await cancel()
  })

  test('measured from the last thing that it heard', async () => {
    const { clock, heard, say, cancel } = relayed({ heartbeatMs: 1000 })
    for (let round = 0; round < 3; round++) {
      await clock.pass(900)
      await say('data: 1\n\n')
    }
    expect(heard()).toBe('data: 1\n\n'.repeat(3))
    await clock.pass(1000)
    await settled()
    expect(heard()).toBe('data: 1\n\n'.repeat(3) + beat)
    await cancel()
  })

  test('also when the upstream talks, but not to it', async () => {
    const { clock, heard, say, cancel } = relayed({ heartbeatMs: 1000, onFrame: () => null })
    for (let round = 0; round < 4; round++) {
      await clock.pass(500)
      await say('data: 1\n\n')
    }
    expect(heard()).toBe(beat.repeat(2))
    await cancel()
  })

  test('never within an event, a line or a character', async () => {
    const { clock, heard, say, cancel } = relayed({ heartbeatMs: 1000 })
    const text = 'data: é🦉\r\ndata: b\r\n\r\n: c\rdata: d\r\rdata: e\n\n'
    for (const byte of bytesOf(text)) {
      await say(Uint8Array.of(byte))
      await clock.pass(1000)
      await settled()
    }
    expect(heard().split(beat).join('')).toBe(text)
    expect(parsedElsewhere(bytesOf(heard()))).toEqual(parsedElsewhere(bytesOf(text)))
    expect(heard().split(beat).length).toBeGreaterThan(text.length)
    await cancel()
  })

  test('before a byte order mark, which then is none any more and is left out', async () => {
    for (const first of ['data: a\n\n', ': a\n']) {
      const { clock, heard, say, cancel } = relayed({ heartbeatMs: 1000 })
      await clock.pass(1000)
      await say(`\uFEFF${first}`)
      await say('\uFEFFdata: b\n\n')
      expect(heard()).toBe(`${beat}${first}\uFEFFdata: b\n\n`)
      await cancel()
    }
  })

  test('only one while it does not read, and not another for having been away', async () => {
    const { clock, heard, say, read, cancel } = relayed({ heartbeatMs: 1000 }, { reading: false })
    await clock.pass(10_000)
    void read()
    await settled()
    await say('data: 1\n\n')
    await clock.pass(10)
    expect(['data: 1\n\n', `${beat}data: 1\n\n`]).toContain(heard())
    await cancel()
  })

  test('of which none is added for a client that has stopped reading', async () => {
    const hand = new Hand()
    const clock = new VirtualClock()
    const reader = relayFrames(readFrames(hand.body), { heartbeatMs: 1000, clock }).getReader()
    const first = reader.read()
    await clock.pass(10_000)
    expect(new TextDecoder().decode((await first).value)).toBe(beat)
    hand.say('data: 1\n\n')
    hand.end()
    const rest: Uint8Array[] = []
    for (let read = await reader.read(); !read.done; read = await reader.read()) rest.push(read.value)
    expect(new TextDecoder().decode(joined(rest))).toBe('data: 1\n\n')
    expect(clock.pending).toBe(0)
  })

  test('none after the end, and none where nobody asked for any', async () => {
    const { hand, clock, heard, over } = relayed({ heartbeatMs: 1000 })
    hand.end()
    await clock.pass(5000)
    expect([heard(), over(), clock.pending]).toEqual(['', 'closed', 0])
    const without = relayed({})
    await without.clock.pass(1e9)
    expect([without.heard(), without.clock.pending]).toEqual(['', 0])
    await without.cancel()
  })

  test('none while it is being thought about what to say at the end', async () => {
    const thought = Promise.withResolvers<undefined>()
    const { hand, clock, heard, over } = relayed({ heartbeatMs: 1000, onEnd: () => thought.promise })
    hand.say('data: half')
    hand.end()
    await clock.pass(5000)
    thought.resolve(undefined)
    await settled()
    expect([heard(), over(), clock.pending]).toEqual(['data: half', 'closed', 0])
  })
})

describe('an upstream that is silent for too long', () => {
  test('counts as broken, and is given up', async () => {
    const { hand, clock, heard, over, say } = relayed({ maxSilenceMs: 3000 })
    await say('data: 1\n\ndata: ')
    await clock.pass(2999)
    expect(over()).toBeUndefined()
    await clock.pass(1)
    await settled()
    expect([heard(), over()]).toEqual(['data: 1\n\n', expect.any(Error)])
    expect(hand.cancelled).toEqual([over()])
    expect(clock.pending).toBe(0)
  })

  test('is answered as one that broke', async () => {
    const { clock, heard, over } = relayed({
      maxSilenceMs: 3000,
      onEnd: ({ kind }) => bytesOf(`event: error\ndata: ${kind}\n\n`),
    })
    await clock.pass(3000)
    await settled()
    expect([heard(), over()]).toEqual(['event: error\ndata: broken\n\n', 'closed'])
  })

  test('is no less silent for our heartbeats', async () => {
    const { clock, heard, over } = relayed({ heartbeatMs: 1000, maxSilenceMs: 3500 })
    await clock.pass(4000)
    await settled()
    expect([heard(), over()]).toEqual([beat.repeat(3), expect.any(Error)])
    expect(clock.pending).toBe(0)
  })

  test('is not silent as long as single bytes come', async () => {
    const { clock, heard, say, cancel } = relayed({ maxSilenceMs: 3000 })
    for (const byte of bytesOf('data: slowly\n\n')) {
      await clock.pass(2000)
      await say(Uint8Array.of(byte))
    }
    expect(heard()).toBe('data: slowly\n\n')
    await cancel()
    expect(clock.pending).toBe(0)
  })

  test('is not silent because nobody asks it', async () => {
    const { hand, clock, heard, over, read } = relayed({ maxSilenceMs: 3000 }, { reading: false })
    await clock.pass(10_000)
    hand.say('data: 1\n\n')
    hand.end()
    await read()
    expect([heard(), over()]).toEqual(['data: 1\n\n', 'closed'])
  })
})
