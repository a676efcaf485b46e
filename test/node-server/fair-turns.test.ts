import { describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { requestTurn, requestTurnCounts } from '../../plugins/shared/http/turn/request-turn.ts'
import { type Identify, requireIdentity } from '../../plugins/shared/identity/identify.ts'
import { createNodeServer, type ListeningServer } from '../../src/node-server.ts'
import { listenBun } from '../../src/server/listen.ts'
import { until } from '../support/until.ts'

type Handle = (request: Request) => Promise<Response>

const fronts: readonly (readonly [name: string, listen: (handle: Handle) => Promise<ListeningServer>])[] = [
  ['node:http', (handle) => createNodeServer(handle).listen()],
  [
    'Bun.serve',
    (handle) =>
      listenBun(handle, {
        http: { host: '127.0.0.1', port: 0, getBodies: false, maxBodyBytes: 2 ** 20 },
        media: { segment: 'media' },
        shared: false,
      }),
  ],
]

const identify: Identify = ({ headers }) => ({ user: headers.get('authorization') ?? headers.get('host') ?? '' })

/** A server, and the users of the requests that it has handled. */
const serve = async (listen: (typeof fronts)[number][1], onRequest = (_handled: readonly string[]) => {}) => {
  const handled: string[] = []
  const server = await listen(async (request) => {
    const { user } = await requireIdentity(identify, request)
    handled.push(user)
    onRequest(handled)
    return new Response('x')
  })
  return { server, handled }
}

const dial = async ({ port }: ListeningServer, localAddress = '127.0.0.1'): Promise<Socket> => {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

const dialMany = (server: ListeningServer, count: number) =>
  Promise.all(Array.from({ length: count }, () => dial(server)))

const getAs = (user: string): string => `GET / HTTP/1.1\r\nHost: x\r\nAuthorization: ${user}\r\n\r\n`

const partOfPostAs = (user: string): string =>
  `POST / HTTP/1.1\r\nHost: x\r\nAuthorization: ${user}\r\nContent-Length: 10\r\n\r\npart`

const flooding = 300

for (const [front, listen] of fronts) {
  describe(front, () => {
    test('a quiet user’s request is handled before most of the earlier requests of a user who floods', async () => {
      const { server, handled } = await serve(listen)
      await using _ = server
      const flood = await dialMany(server, flooding)
      const quiet = await dial(server)
      for (let round = 0; round < 2; round++) {
        const all = Promise.all([...flood, quiet].map((socket) => once(socket, 'data')))
        for (const socket of flood) socket.write(getAs('flood'))
        quiet.write(getAs('quiet'))
        await all
        expect(handled).toHaveLength(flooding + 1)
        expect(handled.indexOf('quiet')).toBeLessThan(flooding / 3)
        handled.length = 0
      }
      for (const socket of [...flood, quiet]) socket.destroy()
    })

    test('without credentials, addresses take turns', async () => {
      const { server, handled } = await serve(listen)
      await using _ = server
      const flood = await dialMany(server, flooding)
      const quiet = await dial(server, '127.0.0.2')
      const all = Promise.all([...flood, quiet].map((socket) => once(socket, 'data')))
      for (const socket of flood) socket.write('GET / HTTP/1.1\r\nHost: flood\r\n\r\n')
      quiet.write('GET / HTTP/1.1\r\nHost: quiet\r\n\r\n')
      await all
      expect(handled).toHaveLength(flooding + 1)
      expect(handled.indexOf('quiet')).toBeLessThan(flooding / 3)
      for (const socket of [...flood, quiet]) socket.destroy()
    })

    test('a request whose caller has left while it waited is not handled', async () => {
      const { server, handled } = await serve(listen)
      await using _ = server
      const flood = await dialMany(server, flooding)
      const leaving = await dialMany(server, 5)
      const all = Promise.all(flood.map((socket) => once(socket, 'data')))
      for (const socket of flood) socket.write(getAs('flood'))
      // The newest of the flood's, so the last ones to be handled. Some have sent a part of their body.
      for (const [nth, socket] of leaving.entries()) socket.write(nth === 0 ? getAs('flood') : partOfPostAs('flood'))
      for (const socket of leaving) socket.resetAndDestroy()
      await all
      await until(() => requestTurnCounts().waiting === 0)
      expect(handled).toHaveLength(flooding)
      for (const socket of flood) socket.destroy()
    })

    test('a server that stops handles the requests that wait', async () => {
      let stopped: Promise<void> | undefined
      const { server, handled } = await serve(listen, () => {
        stopped ??= server.stop()
      })
      const flood = await dialMany(server, flooding)
      const all = Promise.all(flood.map((socket) => once(socket, 'data')))
      for (const socket of flood) socket.write(getAs('flood'))
      await all
      await stopped
      expect(handled).toHaveLength(flooding)
    })

    test('a server that closes its connections handles no request that waits', async () => {
      let stopped: Promise<void> | undefined
      const { server, handled } = await serve(listen, () => {
        stopped ??= server.stop({ closeActiveConnections: true })
      })
      const flood = await dialMany(server, flooding)
      const all = Promise.all(flood.map((socket) => new Promise((resolve) => socket.on('close', resolve))))
      for (const socket of flood) socket.write(getAs('flood'))
      await all
      await stopped
      await until(() => requestTurnCounts().waiting === 0)
      expect(handled.length).toBeLessThanOrEqual(64)
    })

    test('a request is refused while too many wait', async () => {
      const { server, handled } = await serve(listen)
      await using _ = server
      const socket = await dial(server)
      let ended = false
      let invented = 0
      const fill = () => {
        if (ended) return
        while (requestTurnCounts().waiting < 4_096) {
          const request = new Request('http://localhost/', { headers: { authorization: `${invented++}` } })
          void requestTurn(request, () => ended)
        }
        setImmediate(fill)
      }
      fill()
      socket.write(getAs('refused'))
      const [data] = await once(socket, 'data')
      ended = true
      expect(String(data)).toMatch(/^HTTP\/1\.1 503 /)
      expect(String(data)).toMatch(/\r\nretry-after: 1\r\n/i)
      expect(String(data)).toContain('the server is busy')
      expect(handled).toEqual([])
      await until(() => requestTurnCounts().waiting === 0)
      socket.destroy()
    })
  })
}
