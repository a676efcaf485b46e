import { describe, expect, test } from 'bun:test'
import { type RelayOptions, readFrames, relayFrames } from '../../plugins/sse-relay/index.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'
import { bytesOf, ControlledBody, joined } from './bodies.ts'
import { parsedElsewhere } from './reference-parser.ts'

/** A relay whose client reads continuously by default. */
const relayed = (options: RelayOptions, { reading = true } = {}) => {
  const body = new ControlledBody()
  const clock = new VirtualClock()
  const pieces: Uint8Array[] = []
  const reader = relayFrames(readFrames(body.body), { clock, ...options }).getReader()
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
    body,
    clock,
    read,
    cancel: () => reader.cancel(),
    received: () => new TextDecoder('utf-8', { ignoreBOM: true }).decode(joined(pieces)),
    over: () => over,
    send: async (text: string | Uint8Array) => {
      body.send(text)
      await settled()
    },
  }
}

const beat = ': keep-alive\n\n'

describe('a heartbeat', () => {
  test('is sent in each interval of silence, also before the first event', async () => {
    const { clock, received, cancel } = relayed({ heartbeatMs: 1000 })
    await clock.pass(999)
    expect(received()).toBe('')
    await clock.pass(1)
    await settled()
    expect(received()).toBe(beat)
    await clock.pass(2000)
    await settled()
    expect(received()).toBe(beat.repeat(3))
    await cancel()
  })

  test('is timed from the last bytes to the client', async () => {
    const { clock, received, send, cancel } = relayed({ heartbeatMs: 1000 })
    for (let round = 0; round < 3; round++) {
      await clock.pass(900)
      await send('data: 1\n\n')
    }
    expect(received()).toBe('data: 1\n\n'.repeat(3))
    await clock.pass(1000)
    await settled()
    expect(received()).toBe('data: 1\n\n'.repeat(3) + beat)
    await cancel()
  })

  test('is sent when all frames of the upstream are dropped', async () => {
    const { clock, received, send, cancel } = relayed({ heartbeatMs: 1000, onFrame: () => null })
    for (let round = 0; round < 4; round++) {
      await clock.pass(500)
      await send('data: 1\n\n')
    }
    expect(received()).toBe(beat.repeat(2))
    await cancel()
  })

  test('is never sent inside an event, a line or a character', async () => {
    const { clock, received, send, cancel } = relayed({ heartbeatMs: 1000 })
    const text = 'data: é🦉\r\ndata: b\r\n\r\n: c\rdata: d\r\rdata: e\n\n'
    for (const byte of bytesOf(text)) {
      await send(Uint8Array.of(byte))
      await clock.pass(1000)
      await settled()
    }
    expect(received().split(beat).join('')).toBe(text)
    expect(parsedElsewhere(bytesOf(received()))).toEqual(parsedElsewhere(bytesOf(text)))
    expect(received().split(beat).length).toBeGreaterThan(text.length)
    await cancel()
  })

  test('may be sent before a BOM, which is then removed', async () => {
    for (const first of ['data: a\n\n', ': a\n']) {
      const { clock, received, send, cancel } = relayed({ heartbeatMs: 1000 })
      await clock.pass(1000)
      await send(`\uFEFF${first}`)
      await send('\uFEFFdata: b\n\n')
      expect(received()).toBe(`${beat}${first}\uFEFFdata: b\n\n`)
      await cancel()
    }
  })

  test('is sent only once while the client does not read', async () => {
    const { clock, received, send, read, cancel } = relayed({ heartbeatMs: 1000 }, { reading: false })
    await clock.pass(10_000)
    void read()
    await settled()
    await send('data: 1\n\n')
    await clock.pass(10)
    expect(['data: 1\n\n', `${beat}data: 1\n\n`]).toContain(received())
    await cancel()
  })

  test('is not queued for a client that has stopped reading', async () => {
    const body = new ControlledBody()
    const clock = new VirtualClock()
    const reader = relayFrames(readFrames(body.body), { heartbeatMs: 1000, clock }).getReader()
    const first = reader.read()
    await clock.pass(10_000)
    expect(new TextDecoder().decode((await first).value)).toBe(beat)
    body.send('data: 1\n\n')
    body.end()
    const rest: Uint8Array[] = []
    for (let read = await reader.read(); !read.done; read = await reader.read()) rest.push(read.value)
    expect(new TextDecoder().decode(joined(rest))).toBe('data: 1\n\n')
    expect(clock.pending).toBe(0)
  })

  test('is not sent after the end, nor without heartbeatMs', async () => {
    const { body, clock, received, over } = relayed({ heartbeatMs: 1000 })
    body.end()
    await clock.pass(5000)
    expect([received(), over(), clock.pending]).toEqual(['', 'closed', 0])
    const without = relayed({})
    await without.clock.pass(1e9)
    expect([without.received(), without.clock.pending]).toEqual(['', 0])
    await without.cancel()
  })

  test('is not sent while onEnd is pending', async () => {
    const thought = Promise.withResolvers<undefined>()
    const { body, clock, received, over } = relayed({ heartbeatMs: 1000, onEnd: () => thought.promise })
    body.send('data: half')
    body.end()
    await clock.pass(5000)
    thought.resolve(undefined)
    await settled()
    expect([received(), over(), clock.pending]).toEqual(['data: half', 'closed', 0])
  })
})

describe('an upstream that is silent for too long', () => {
  test('is treated as broken and cancelled', async () => {
    const { body, clock, received, over, send } = relayed({ maxSilenceMs: 3000 })
    await send('data: 1\n\ndata: ')
    await clock.pass(2999)
    expect(over()).toBeUndefined()
    await clock.pass(1)
    await settled()
    expect([received(), over()]).toEqual(['data: 1\n\n', expect.any(Error)])
    expect(body.cancelled).toEqual([over()])
    expect(clock.pending).toBe(0)
  })

  test('calls onEnd like a broken one', async () => {
    const { clock, received, over } = relayed({
      maxSilenceMs: 3000,
      onEnd: ({ kind }) => bytesOf(`event: error\ndata: ${kind}\n\n`),
    })
    await clock.pass(3000)
    await settled()
    expect([received(), over()]).toEqual(['event: error\ndata: broken\n\n', 'closed'])
  })

  test('is still silent when the relay sends heartbeats', async () => {
    const { clock, received, over } = relayed({ heartbeatMs: 1000, maxSilenceMs: 3500 })
    await clock.pass(4000)
    await settled()
    expect([received(), over()]).toEqual([beat.repeat(3), expect.any(Error)])
    expect(clock.pending).toBe(0)
  })

  test('is not silent while single bytes arrive', async () => {
    const { clock, received, send, cancel } = relayed({ maxSilenceMs: 3000 })
    for (const byte of bytesOf('data: slowly\n\n')) {
      await clock.pass(2000)
      await send(Uint8Array.of(byte))
    }
    expect(received()).toBe('data: slowly\n\n')
    await cancel()
    expect(clock.pending).toBe(0)
  })

  test('is not silent while the client does not read', async () => {
    const { body, clock, received, over, read } = relayed({ maxSilenceMs: 3000 }, { reading: false })
    await clock.pass(10_000)
    body.send('data: 1\n\n')
    body.end()
    await read()
    expect([received(), over()]).toEqual(['data: 1\n\n', 'closed'])
  })
})
