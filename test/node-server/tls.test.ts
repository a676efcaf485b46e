import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:tls'
import { repetitions } from '../support/repetitions.ts'
import { certificate } from './certificate.ts'
import { type Program, runtimes, startProgram } from './program.ts'
import { host, RawConnection } from './raw-connection.ts'

describe.each(repetitions(...Object.entries(runtimes)))('on %s with tls', (_, command) => {
  let program: Program
  const connections: RawConnection[] = []
  const dial = (text = '') => {
    const connection = new RawConnection(connect({ port: program.port, host: '127.0.0.1', ca: certificate.cert }))
    connections.push(connection)
    if (text !== '') connection.write(text)
    return connection
  }
  beforeAll(async () => {
    program = await startProgram(command, './upgrade-app.ts', 'tls')
  }, 300_000)
  afterAll(async () => {
    for (const connection of connections) connection.socket.destroy()
    await program[Symbol.asyncDispose]()
  })

  test('the URL of a request has the scheme https', async () => {
    const { status, body } = await dial(`GET /a HTTP/1.1\r\n${host}\r\n`).readResponse()
    expect([status, JSON.parse(body)]).toEqual([200, ['GET', 'https://gateway/a', null, '']])
  })

  test('the timeouts hold', async () => {
    const half = `POST / HTTP/1.1\r\n${host}Content-Length: 100\r\n\r\nhalf`
    const connections = [dial(), dial('GET / HT'), dial(half), dial(`GET / HTTP/1.1\r\n${host}\r\n`)]
    await Promise.all(connections.map((connection) => connection.closed))
  }, 300_000)

  test('a connection without a TLS handshake is closed', async () => {
    await program.dial('\x16').closed
  }, 300_000)
})
