import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { repetitions } from '../support/repetitions.ts'
import { type Program, runtimes, startProgram } from './program.ts'
import { host, json } from './raw-connection.ts'

/** A request with an incomplete body. */
const half = (method: string, path: string) =>
  `${method} ${path} HTTP/1.1\r\n${host}${json}Content-Length: 100\r\n\r\n{"a":`

describe.each(repetitions(...Object.entries(runtimes)))('on %s', (_, command) => {
  let program: Program
  const dial = (text?: string) => program.dial(text)
  beforeAll(async () => {
    program = await startProgram(command, './fixture.ts')
    // The first request compiles what the others need: on a busy machine it takes longer than the timeout for headers.
    const isAnswered = () =>
      dial(`GET / HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
        .readResponse()
        .then(
          ({ status }) => status === 200,
          () => false,
        )
    while (!(await isAnswered()));
  }, 300_000)
  afterAll(() => program[Symbol.asyncDispose]())

  test.concurrent('a connection without a complete request is closed', async () => {
    const others = [dial(), dial('GET / HT'), dial(`GET / HTTP/1.1\r\n${host}a: b`)]
    await Promise.all(others.map((connection) => connection.closed))
  }, 300_000)

  test.concurrent('slow headers do not extend the timeout', async () => {
    const connection = dial(`GET / HTTP/1.1\r\n${host}a: `)
    const dripping = setInterval(() => connection.write('b'), 100)
    await connection.closed
    clearInterval(dripping)
  }, 300_000)

  test.concurrent('an idle connection is closed after the keep-alive timeout', async () => {
    const connection = dial(`GET / HTTP/1.1\r\n${host}\r\n`)
    expect((await connection.readResponse()).body).toBe('answered')
    connection.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    expect((await connection.readResponse()).body).toBe('answered')
    await connection.closed
  }, 300_000)

  for (const method of ['GET', 'POST']) {
    test.concurrent(`a ${method} whose body stalls receives 408, and the connection is closed`, async () => {
      const connection = dial(half(method, '/read'))
      const { status, headers, body } = await connection.readResponse()
      expect([status, headers.get('connection')?.toLowerCase(), JSON.parse(body).error.message]).toEqual([
        408,
        'close',
        'request body did not arrive in time',
      ])
      await connection.closed
    }, 300_000)

    test.concurrent(`a ${method} with a very slow body has a total timeout`, async () => {
      const connection = dial(half(method, '/read'))
      const dripping = setInterval(() => connection.write(' '), 200)
      expect((await connection.readResponse()).status).toBe(408)
      await connection.closed
      clearInterval(dripping)
    }, 300_000)

    test.concurrent(`a ${method} whose body the app does not read yet has no body timeout`, async () => {
      const connection = dial(half(method, '/later'))
      connection.write(' '.repeat(95))
      const { status, body } = await connection.readResponse()
      expect([status, body]).toEqual([200, '100'])
    }, 300_000)

    test.concurrent(`the rest of an unread ${method} body is not awaited`, async () => {
      const connection = dial(half(method, '/'))
      expect((await connection.readResponse()).body).toBe('answered')
      await connection.closed
    }, 300_000)
  }

  test.concurrent('a silent response and a silent stream have no timeout', async () => {
    const call = dial(`POST /silent HTTP/1.1\r\n${host}Content-Length: 0\r\n\r\n`)
    const stream = dial(`GET /stream HTTP/1.1\r\n${host}\r\n`)
    expect((await stream.readResponse()).body).toBe('data: 1\n\ndata: 2\n\n')
    expect((await call.readResponse()).body).toBe('answered')
    await Promise.all([call.closed, stream.closed])
  }, 300_000)

  test.concurrent('hundreds of idle connections do not block others, and are closed', async () => {
    const idle = Array.from({ length: 300 }, (_, at) => dial(at % 2 === 0 ? '' : half('POST', '/read')))
    for (let turn = 0; turn < 20; turn++) {
      const connection = dial(`POST /read HTTP/1.1\r\n${host}Content-Length: 3\r\nConnection: close\r\n\r\nabc`)
      expect((await connection.readResponse()).body).toBe('3')
    }
    await Promise.all(idle.map((connection) => connection.closed))
  }, 300_000)
})
