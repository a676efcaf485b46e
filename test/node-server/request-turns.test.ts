import { describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { createNodeServer, type ListeningServer } from '../../src/node-server.ts'
import { type DefaultServerOptions, listenBun } from '../../src/server/listen.ts'

type Handle = (request: Request) => Response

const options: DefaultServerOptions = {
  http: { host: '127.0.0.1', port: 0, getBodies: false, maxBodyBytes: 2 ** 20 },
  media: { segment: 'media' },
  shared: false,
}
const fronts: readonly (readonly [name: string, listen: (handle: Handle) => Promise<ListeningServer>])[] = [
  ['node:http', (handle) => createNodeServer(handle).listen()],
  ['Bun.serve', (handle) => listenBun(handle, options)],
]

/** The most requests that a server handles in one turn of the event loop while `work` runs. */
const mostInATurn = async (
  listen: (handle: Handle) => Promise<ListeningServer>,
  work: (server: ListeningServer) => Promise<void>,
  beforeResponse = () => {},
): Promise<{ readonly most: number; readonly all: number }> => {
  let all = 0
  let most = 0
  let before = 0
  let ended = false
  await using server = await listen(() => {
    all++
    beforeResponse()
    return new Response('x')
  })
  const onTurn = () => {
    most = Math.max(most, all - before)
    before = all
    if (!ended) setImmediate(onTurn)
  }
  setImmediate(onTurn)
  await work(server)
  ended = true
  onTurn()
  return { most, all }
}

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const connections = 200

for (const [front, listen] of fronts) {
  describe(front, () => {
    test('requests that arrive at once on many connections are handled in many turns of the event loop', async () => {
      const { most, all } = await mostInATurn(listen, async ({ port }) => {
        const sockets = await Promise.all(Array.from({ length: connections }, () => dial(port)))
        for (let round = 0; round < 3; round++) {
          const responses = sockets.map((socket) => once(socket, 'data'))
          for (const socket of sockets) socket.write(get)
          await Promise.all(responses)
        }
        for (const socket of sockets) socket.destroy()
      })
      expect(all).toBe(3 * connections)
      expect(most).toBeLessThanOrEqual(32)
    })

    test('callers that open a connection for each request keep no other request waiting', async () => {
      const opened = new Int32Array(new SharedArrayBuffer(4))
      const requests = 2_000
      let handled = 0
      const { most, all } = await mostInATurn(
        listen,
        async ({ port }) => {
          const callers = new Worker(newConnections, { eval: true, workerData: { port, requests, opened } })
          await once(callers, 'exit')
        },
        // The next caller has connected before this one has its response: the server is slower than its callers.
        () => {
          const known = Atomics.load(opened, 0)
          if (known < requests && known <= ++handled) Atomics.wait(opened, 0, known, 20)
        },
      )
      expect(all).toBe(requests)
      expect(most).toBeLessThanOrEqual(32)
    })
  })
}

const dial = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

/** 20 callers, each of which connects again when it has a response. They count the requests that they have sent. */
const newConnections = `
const { connect } = require('node:net')
const { workerData: { port, requests, opened } } = require('node:worker_threads')
let begun = 0
const call = () => {
  if (begun++ >= requests) return
  const socket = connect(port, '127.0.0.1', () => {
    socket.write('GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n')
    Atomics.add(opened, 0, 1)
    Atomics.notify(opened, 0)
  })
  socket.on('data', () => {
    socket.destroy()
    call()
  })
}
for (let caller = 0; caller < 20; caller++) call()
`
