import { describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { Elysia } from 'elysia'
import { sseRelay } from '../../plugins/sse-relay/index.ts'
import { bytesOf } from './bodies.ts'
import { bareUpstream, Client, servers } from './servers.ts'

const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n'
const event = 'data: 1\n\n'
const half = 'data: 2'
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`

/** The bytes that an upstream sends before its connection ends, and how it ends. */
const deaths: Readonly<Record<string, { said: string; die: (socket: Socket) => void }>> = {
  'closes in the middle of an event': { said: chunked + chunk(event + half), die: (socket) => socket.end() },
  'closes between two events': { said: chunked + chunk(event), die: (socket) => socket.end() },
  'is reset in the middle of an event': {
    said: chunked + chunk(event + half),
    die: (socket) => socket.resetAndDestroy(),
  },
  'closes before its Content-Length': {
    said: `${head}Content-Length: 100\r\n\r\n${event}${half}`,
    die: (socket) => socket.end(),
  },
  'closes in the middle of a chunk': { said: `${chunked}ff\r\n${event}${half}`, die: (socket) => socket.end() },
  'sends a chunk without a size': {
    said: chunked + chunk(event + half),
    die: (socket) => socket.end('zz\r\nnonsense\r\n'),
  },
}

for (const [server, serve] of Object.entries(servers)) {
  describe(`${server}: an upstream that`, () => {
    const hear = async (death: keyof typeof deaths, options?: Parameters<typeof sseRelay>[0]) => {
      const { said = '', die } = deaths[death] ?? {}
      const dead = Promise.withResolvers<void>()
      await using source = await bareUpstream((socket) => {
        socket.write(said)
        void dead.promise.then(() => die?.(socket))
      })
      const app = new Elysia()
        .use(sseRelay(options))
        .get('/', ({ relay }) => relay((signal) => fetch(source.url, { signal })))
      await using served = await serve((request) => app.handle(request))
      const client = new Client(served.port, '/')
      await client.until(event)
      dead.resolve()
      await client.ended()
      return client
    }

    for (const death of Object.keys(deaths)) {
      test(`${death}: the client sees an incomplete response without a partial event`, async () => {
        const client = await hear(death)
        expect([client.whole, client.text.includes(half)]).toEqual([false, false])
      })

      test(`${death}: with a final event from onEnd the response is complete`, async () => {
        const client = await hear(death, { onEnd: ({ kind }) => bytesOf(`event: error\ndata: ${kind}\n\n`) })
        expect([client.whole, client.text.includes(half)]).toEqual([true, false])
        expect(client.text).toContain('event: error\ndata: broken\n\n')
      })
    }

    test('ends normally: the client receives all of it', async () => {
      await using source = await bareUpstream((socket) => socket.end(`${head}Connection: close\r\n\r\n${event}${half}`))
      const app = new Elysia().use(sseRelay()).get('/', ({ relay }) => relay(() => fetch(source.url)))
      await using served = await serve((request) => app.handle(request))
      const client = new Client(served.port, '/')
      await client.ended()
      expect([client.whole, client.text.includes(event), client.text.includes(half)]).toEqual([true, true, true])
    })
  })
}
