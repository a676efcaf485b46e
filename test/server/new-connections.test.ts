import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { createNodeServer } from '../../src/node-server.ts'
import { ignoreNewConnections } from '../../src/server/new-connections.ts'
import { host, RawConnection } from '../node-server/raw-connection.ts'
import { repetitions } from '../support/repetitions.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { sendOnNewConnection } from './new-connection.ts'

test('a connection that begins after ignoreNewConnections is refused when the server closes, and others go on', async () => {
  await using server = await createNodeServer(() => new Response('ok')).listen()
  await using other = await createNodeServer(() => new Response('ok')).listen()
  const before = new RawConnection(connect(server.port, '127.0.0.1'))
  before.write(`GET / HTTP/1.1\r\n${host}\r\n`)
  expect((await before.readResponse()).body).toBe('ok')

  expect(await ignoreNewConnections(server.port)).toBe(true)
  const late = connect(server.port, '127.0.0.1')
  const outcome = new Promise((resolve) => {
    late.on('connect', () => resolve('connected'))
    late.on('error', (error: Error & { code: string }) => resolve(error.code))
  })
  // A whole request to another port: by then the system has seen the first packet of the connection.
  expect(await (await fetch(other.url, { keepalive: false })).text()).toBe('ok')
  before.write(`GET / HTTP/1.1\r\n${host}\r\n`)
  expect((await before.readResponse()).body).toBe('ok')
  await server.stop()
  expect(await outcome).toBe('ECONNREFUSED')
})

test('without a socket on the port it has no effect', async () => {
  const { port } = await createNodeServer(() => new Response())
    .listen()
    .then(async (server) => {
      await server.stop()
      return server
    })
  expect(await ignoreNewConnections(port)).toBe(false)
})

for (const GET_BODIES of repetitions('on', 'off')) {
  test(`a server that stops resets no connection that the system has accepted (GET_BODIES=${GET_BODIES})`, async () => {
    await using fixture = await openServerFixture()
    const counts = { answered: 0, reset: 0, refused: 0 }
    for (let round = 0; round < 2; round++) {
      const server = await fixture.start({ GET_BODIES, DRAIN_GRACE_SECONDS: '0.1' })
      const port = Number(new URL(server.url).port)
      const work = async () => {
        for (let outcome = ''; outcome !== 'refused'; ) {
          const sent = await sendOnNewConnection(port)
          counts[sent]++
          outcome = sent
        }
      }
      const working = Array.from({ length: 24 }, work)
      const answered = counts.answered
      while (counts.answered < answered + 100) await new Promise(setImmediate)
      expect(await server.kill('SIGTERM')).toBe(0)
      await Promise.all(working)
    }
    expect(counts).toMatchObject({ reset: 0, refused: 2 * 24 })
  }, 300_000)
}
