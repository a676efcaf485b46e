import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Elysia } from 'elysia'
import { concurrencyLimits } from '../../plugins/concurrency-limits/index.ts'
import { textGeneration } from '../../plugins/text-generation/index.ts'
import { createNodeServer } from '../../src/node-server.ts'
import { clientFrame } from '../node-server/client-frame.ts'

const handshake = [
  'GET /v1/responses HTTP/1.1',
  'Host: x',
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
