import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Elysia } from 'elysia'
import { concurrencyLimits } from '../../plugins/concurrency-limits/index.ts'
import { textGeneration } from '../../plugins/text-generation/index.ts'
import { createNodeServer } from '../../src/node-server.ts'
import { listenBun, maxMessageBytes } from '../../src/server/listen.ts'
import { clientFrame } from '../node-server/client-frame.ts'

const handshake = [
  'GET /v1/responses HTTP/1.1',
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '\r\n',
].join('\r\n')

const open = async (port: number) => {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  let received = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
  })
  socket.write(handshake)
  await once(socket, 'data')
  return { socket, closed: once(socket, 'close'), received: () => received }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 5))

for (const [name, unfinished] of [
  ['a frame', (payload: Buffer) => clientFrame(0x81, payload).subarray(0, -1)],
  ['a fragmented message', (payload: Buffer) => clientFrame(0x01, payload)],
] as const) {
  test(`the unfinished part of ${name} counts among the bytes of its user, and of the process`, async () => {
    const app = new Elysia().use(
      textGeneration({ upstreams: [{ url: 'http://127.0.0.1:9/v1' }], identify: () => ({ user: 'ann' }) }),
    )
    const limits = concurrencyLimits({ user: { maxUnreadBodyBytes: 1_000_000 } })
    await using server = await createNodeServer(limits.limited((request) => app.handle(request))).listen()
    const first = await open(server.port)
    first.socket.write(unfinished(Buffer.alloc(600_000)))
    while (limits.counts().bodyBytes < 599_999) await pause()
    const second = await open(server.port)
    second.socket.write(unfinished(Buffer.alloc(600_000)))
    while (!second.received().includes('too many bytes of bodies at once')) await pause()
    // The code of the close frame: 1013.
    expect(second.received().includes(Buffer.from([0x03, 0xf5]))).toBe(true)
    expect(limits.counts().bodyBytes).toBeLessThanOrEqual(600_000)
    second.socket.destroy()
    first.socket.destroy()
    await Promise.all([first.closed, second.closed])
    while (limits.counts().bodyBytes > 0 || limits.counts().streams > 0) await pause()
  }, 300_000)
}

for (const length of [600_000, 1_200_000]) {
  test(`a message of ${length} bytes that arrives in parts counts once when it is complete`, async () => {
    const app = new Elysia().use(
      textGeneration({ upstreams: [{ url: 'http://127.0.0.1:9/v1' }], identify: () => ({ user: 'ann' }) }),
    )
    const counted: number[] = []
    const limits = concurrencyLimits({ user: { maxUnreadBodyBytes: length * 1.5 } })
    await using server = await createNodeServer(limits.limited((request) => app.handle(request))).listen()
    const { socket, received } = await open(server.port)
    const frame = clientFrame(0x81, Buffer.alloc(length))
    socket.write(frame.subarray(0, -1))
    while (limits.counts().bodyBytes < length - 1) await pause()
    socket.write(frame.subarray(-1))
    while (!received().includes('"error"')) {
      counted.push(limits.counts().bodyBytes)
      await pause()
    }
    expect(received().toString()).toContain('message is not valid JSON')
    expect(Math.max(0, ...counted)).toBeLessThanOrEqual(length)
    socket.destroy()
  }, 300_000)
}

test('with Bun.serve, whose unfinished messages nobody counts, a message of more than 3 MiB closes its connection', async () => {
  const app = new Elysia().use(
    textGeneration({ upstreams: [{ url: 'http://127.0.0.1:9/v1' }], identify: () => ({ user: 'ann' }) }),
  )
  const http = { host: '127.0.0.1', port: 0, getBodies: false, maxBodyBytes: 2 ** 26 }
  await using server = await listenBun((request) => app.handle(request), {
    ...{ http, media: { segment: 'media' }, shared: false },
  })
  const half = Buffer.alloc(maxMessageBytes / 2)
  const longest = await open(server.port)
  longest.socket.write(Buffer.concat([clientFrame(0x01, half), clientFrame(0x80, half)]))
  while (!longest.received().includes('"error"')) await pause()
  for (const frames of [
    // The header of a frame is sufficient.
    [clientFrame(0x81, Buffer.alloc(maxMessageBytes + 1)).subarray(0, 14)],
    [clientFrame(0x01, half), clientFrame(0x00, half), clientFrame(0x00, Buffer.alloc(1))],
  ]) {
    const { socket, closed } = await open(server.port)
    for (const frame of frames) socket.write(frame)
    await closed
  }
  longest.socket.destroy()
}, 300_000)
