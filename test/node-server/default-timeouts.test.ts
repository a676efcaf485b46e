import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { describeSlow } from '../support/run-if.ts'
import { type Runtime, startServer } from '../support/server.ts'
import { host, json, RawConnection } from './raw-connection.ts'

/** Every combination with a different listener. */
const servers: readonly [Runtime, 'on' | 'off'][] = [
  ['bun', 'on'],
  ['bun', 'off'],
  ['deno', 'on'],
]

describeSlow('the default server with its default timeouts', () => {
  test.concurrent.each(servers)(
    'on %s, GET_BODIES %s: closes idle connections',
    async (runtime, getBodies) => {
      const server = await startServer({ DATABASE_URL: 'sqlite::memory:', GET_BODIES: getBodies }, runtime)
      const connections: RawConnection[] = []
      const dial = (text = '') => {
        const connection = new RawConnection(connect(Number(new URL(server.url).port), '127.0.0.1'))
        connections.push(connection)
        if (text !== '') connection.write(text)
        return connection
      }
      try {
        const half = `POST /api/session HTTP/1.1\r\n${host}${json}Content-Length: 100\r\n\r\n{"name":`
        // Enough connections to exhaust the server if it closed none.
        const idle = Array.from({ length: 800 }, (_, at) => dial(['', 'GET / HT', half][at % 3]))
        const kept = dial(`GET /healthz HTTP/1.1\r\n${host}\r\n`)
        expect((await kept.readResponse()).status).toBe(200)
        for (let turn = 0; turn < 20; turn++) {
          const connection = dial(`GET /healthz HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
          expect((await connection.readResponse()).status).toBe(200)
        }
        await Promise.all(idle.map((connection) => connection.closed))
        await kept.closed
      } finally {
        for (const connection of connections) connection.socket.destroy()
        await server.kill('SIGKILL')
      }
    },
    // With GET_BODIES=off, half a small body has 120 s.
    180_000,
  )
})
