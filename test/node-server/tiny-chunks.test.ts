import { describe, expect, test } from 'bun:test'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { createCoarseTimers } from '../../plugins/shared/background/coarse-timers.ts'
import { turns } from '../../plugins/shared/background/turns.ts'
import { readAtMost } from '../../plugins/shared/http/body/read-body.ts'
import { createBody } from '../../src/node-server/body.ts'
import { host, startTestServer } from './raw-connection.ts'

const chunked = `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n`
const each = '1\r\nx\r\n'
const last = '0\r\n\r\n'

describe('a body with one chunk per byte', () => {
  test('reaches the app in few chunks', async () => {
    let chunks = 0
    let bytes = 0
    await using served = await startTestServer(async (request) => {
      for await (const chunk of request.body ?? []) {
        chunks++
        bytes += chunk.length
      }
      return new Response('read')
    })
    expect((await served.ask(`${chunked}${each.repeat(20_000)}${last}`)).body).toBe('read')
    expect(bytes).toBe(20_000)
    expect(chunks).toBeLessThan(2_000)
  })

  test('is not read in a single turn of the event loop', async () => {
    let turn = 0
    let over = false
    void (async () => {
      for (; !over; turn++) await setImmediate()
    })()
    const turns = new Set<number>()
    await using served = await startTestServer(async (request) => {
      for await (const _ of request.body ?? []) turns.add(turn)
      over = true
      return new Response('read')
    })
    expect((await served.ask(`${chunked}${each.repeat(100_000)}${last}`)).body).toBe('read')
    expect(turns.size).toBeGreaterThan(100)
  })

  test('counts as a long body, of which one is read on in a turn', async () => {
    await using served = await startTestServer(async (request) => {
      await request.bytes()
      return new Response('read')
    })
    const before = turns.count
    expect((await served.ask(`${chunked}${each.repeat(20_000)}${last}`)).body).toBe('read')
    expect(turns.count - before).toBeGreaterThan(20)
  })

  test('is not buffered as single chunks', async () => {
    let first: WeakRef<Uint8Array> | undefined
    let kept: boolean | undefined
    let given = 0
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (given++ === 10_000) {
            await setImmediate()
            Bun.gc(true)
            kept = first?.deref() !== undefined
            return controller.close()
          }
          const chunk = new Uint8Array(1)
          first ??= new WeakRef(chunk)
          controller.enqueue(chunk)
        },
      },
      { highWaterMark: 0 },
    )
    expect((await readAtMost(new Response(stream), 20_000))?.length).toBe(10_000)
    expect(kept).toBe(false)
  })

  test('ends its connection early when the app does not read it', async () => {
    await using served = await startTestServer(() => new Response('no', { status: 401 }))
    const connection = served.dial()
    connection.write(`${chunked}${each.repeat(20_000)}`)
    expect((await connection.readResponse()).status).toBe(401)
    await connection.closed
  })
})

describe('a chunk that has arrived in this turn', () => {
  /** A body with one chunk that has just arrived. */
  const withPendingChunk = async () => {
    const incoming = new IncomingMessage(new Socket())
    const limits = { stallMs: 1_000, totalMs: 1_000, discard: { maxBytes: 100, ms: 1_000 } }
    const reader = createBody(incoming, limits, createCoarseTimers(1_000), () => {})
      .stream()
      .getReader()
    const read = reader.read()
    await setImmediate()
    incoming.emit('data', new Uint8Array(1))
    return { incoming, reader, read }
  }

  test('is dropped when the caller disconnects', async () => {
    const { incoming, read } = await withPendingChunk()
    incoming.emit('close')
    incoming.emit('data', new Uint8Array(1))
    await expect(read).rejects.toThrow('the caller disconnected')
    // An error in a later turn would end the process and fail this test.
    await setImmediate()
  })

  test('is dropped when the app cancels the body', async () => {
    const { reader, read } = await withPendingChunk()
    await reader.cancel()
    expect((await read).done).toBe(true)
    await setImmediate()
  })

  test('is delivered when the body ends', async () => {
    const { incoming, reader, read } = await withPendingChunk()
    incoming.emit('end')
    expect((await read).value).toHaveLength(1)
    expect((await reader.read()).done).toBe(true)
  })
})

describe('a body that is read as a whole', () => {
  const limits = { stallMs: 1_000, totalMs: 1_000, discard: { maxBytes: 100, ms: 1_000 } }
  const openBody = () => {
    const incoming = new IncomingMessage(new Socket())
    return { incoming, body: createBody(incoming, limits, createCoarseTimers(1_000), () => {}) }
  }

  test('contains all bytes in order, over several turns', async () => {
    const { incoming, body } = openBody()
    const read = body.bytes()
    for (let nth = 0; nth < 5_000; nth++) {
      incoming.emit('data', Uint8Array.of(nth % 251))
      if (nth % 100 === 0) await setImmediate()
    }
    incoming.emit('end')
    expect(await read).toEqual(Uint8Array.from({ length: 5_000 }, (_, nth) => nth % 251))
  })

  test('is not read in a single turn of the event loop', async () => {
    const { incoming, body } = openBody()
    const read = body.bytes()
    for (let nth = 0; nth < 255; nth++) incoming.emit('data', new Uint8Array(1))
    expect(incoming.isPaused()).toBe(false)
    incoming.emit('data', new Uint8Array(1))
    expect(incoming.isPaused()).toBe(true)
    await setImmediate()
    await setImmediate()
    expect(incoming.isPaused()).toBe(false)
    incoming.emit('end')
    expect(await read).toHaveLength(256)
  })

  test('pauses the connection of tiny chunks until those that have arrived are delivered', async () => {
    for (const end of ['end', 'close'] as const) {
      const { incoming, body } = openBody()
      const { socket } = incoming
      socket.resume()
      const waitedAtResume: number[] = []
      socket.on('resume', () => waitedAtResume.push(incoming.readableLength))
      const read = body.bytes().then(
        () => 'read',
        () => 'failed',
      )
      await setImmediate()
      // The later ones wait in the stream.
      for (let nth = 0; nth < 70_000; nth++) incoming.push(new Uint8Array(1))
      expect([socket.isPaused(), incoming.readableLength]).toEqual([true, 69_744])
      while (socket.isPaused()) await setImmediate()
      for (let nth = 0; nth < 256; nth++) incoming.push(new Uint8Array(1))
      expect(socket.isPaused()).toBe(true)
      // The connection's next request, or its end, must be read.
      incoming.emit(end)
      expect(socket.isPaused()).toBe(false)
      // Bun itself reads on when less waits than fills the stream's buffer.
      expect(Math.max(...waitedAtResume)).toBeLessThan(incoming.readableHighWaterMark)
      expect(await read).toBe(end === 'end' ? 'read' : 'failed')
    }
  })

  test('rejects when the caller disconnects before or during the read', async () => {
    for (const meanwhile of [true, false]) {
      const { incoming, body } = openBody()
      const read = meanwhile ? body.bytes() : undefined
      incoming.emit('data', new Uint8Array(1))
      incoming.emit('close')
      await expect(read ?? body.bytes()).rejects.toThrow('the caller disconnected')
      await setImmediate()
    }
  })

  test('can be read once: a second read rejects instead of hanging', async () => {
    const { incoming, body } = openBody()
    const read = body.bytes()
    await expect(body.bytes()).rejects.toThrow(TypeError)
    expect(() => body.stream()).toThrow(TypeError)
    incoming.emit('end')
    expect(await read).toHaveLength(0)
  })
})
