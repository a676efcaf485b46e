import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { bodyStream } from '../../plugins/shared/http/body/body.ts'
import type { ListeningServer } from '../../src/node-server.ts'
import { listenBun } from '../../src/server/listen.ts'
import { describeSlow } from '../support/run-if.ts'
import { handle } from './fixture.ts'
import { bufferedBytes, host, json, pour, RawConnection } from './raw-connection.ts'

const huge = 'Content-Length: 60000000\r\n'

let handled = 0
let server: ListeningServer
const connections: RawConnection[] = []
const dial = (text = '') => {
  const connection = new RawConnection(connect(server.port, '127.0.0.1'))
  connections.push(connection)
  if (text !== '') connection.write(text)
  return connection
}

beforeAll(async () => {
  const http = { host: '127.0.0.1', port: 0, getBodies: false, maxBodyBytes: 2 ** 26 }
  const counting = (request: Request) => {
    handled++
    return handle(request)
  }
  const times = { keepAliveMs: 6_000, bodyStallMs: 6_000 }
  server = await listenBun(counting, { http, media: { segment: 'media' }, shared: false, timeouts: times })
})
afterAll(async () => {
  for (const connection of connections) connection.socket.destroy()
  await server.stop({ closeActiveConnections: true })
})

describe('the server with Bun.serve', () => {
  test('answers what has arrived on idle connections when it stops, and only then closes them', async () => {
    const http = { host: '127.0.0.1', port: 0, getBodies: false, maxBodyBytes: 2 ** 26 }
    const stopping = await listenBun(handle, { http, media: { segment: 'media' }, shared: false })
    const get = `GET / HTTP/1.1\r\n${host}\r\n`
    const idle = Array.from({ length: 20 }, () => new RawConnection(connect(stopping.port, '127.0.0.1')))
    connections.push(...idle)
    for (const connection of idle) connection.write(get)
    for (const connection of idle) await connection.readResponse()
    // The server shares this thread, so it cannot have read them yet.
    for (const connection of idle) connection.write(get)
    const stopped = stopping.stop()
    for (const connection of idle) expect((await connection.readResponse()).headers.get('connection')).toBe('close')
    await stopped
  })

  test('joins the chunks of a body with one chunk per byte', async () => {
    let chunks = 0
    let bytes = 0
    const http = { host: '127.0.0.1', port: 0, getBodies: false, maxBodyBytes: 2 ** 26 }
    await using counting = await listenBun(
      async (request) => {
        for await (const chunk of bodyStream(request) ?? []) {
          chunks++
          bytes += chunk.length
        }
        return new Response('read')
      },
      { http, media: { segment: 'media' }, shared: false },
    )
    const connection = new RawConnection(connect(counting.port, '127.0.0.1'))
    connections.push(connection)
    connection.write(
      `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(20_000)}0\r\n\r\n`,
    )
    expect((await connection.readResponse()).body).toBe('read')
    expect(bytes).toBe(20_000)
    expect(chunks).toBeLessThan(1_000)
  })

  // Bun's own behaviour, which src/limits.md says. When a version of Bun changes it, the page changes.
  test('closes a connection whose client sends a further request before the response', async () => {
    const before = handled
    const connection = dial(`GET /silent?50 HTTP/1.1\r\n${host}\r\n`.repeat(2))
    await connection.closed
    expect([connection.rest(), handled - before]).toEqual(['', 1])
  })

  for (const [what, head, status] of [
    ['a duplicate Content-Length', `${host}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`, 400],
    ['a list of lengths', `${host}Content-Length: 5, 5\r\n\r\nhello`, 400],
    [
      'a length and chunks',
      `${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
      400,
    ],
    ['an unknown coding', `${host}Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`, 400],
    ['two hosts', `${host}${host}\r\n`, 400],
    ['no host', '\r\n', 400],
    ...['a/b', 'a,b', 'x@y', 'a?b', 'a#b', 'a b', ':80', 'a:b', 'a:99999', '[zz]', 'a%41', '\u00e4'].map(
      (name) => [`a Host of ${name}`, `Host: ${name}\r\n\r\n`, 400] as const,
    ),
  ] as const) {
    test(`${what} is rejected before the app, and the connection is closed`, async () => {
      const before = handled
      const connection = dial(`POST / HTTP/1.1\r\n${head}`)
      expect(await connection.until('\r\n')).toStartWith(`HTTP/1.1 ${status}`)
      await connection.closed
      expect(handled).toBe(before)
    })
  }

  test('an error has the format of the requested part', async () => {
    for (const [path, member] of [
      ['/v1/models', 'error'],
      ['/api/media/proxy/assets', 'success'],
    ] as const) {
      const { body, headers } = await dial(`GET ${path} HTTP/1.1\r\nHost: a,b\r\n\r\n`).readResponse()
      expect(Object.keys(JSON.parse(body))[0]).toBe(member)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  test('a body is read completely when the app reads it, with Content-Length and in chunks', async () => {
    const connection = dial()
    for (const framed of [
      'Content-Length: 5\r\n\r\nhello',
      'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    ]) {
      connection.write(`POST /read HTTP/1.1\r\n${host}${framed}`)
      expect((await connection.readResponse()).body).toBe('5')
    }
    const large = 'x'.repeat(900_000)
    connection.write(`POST /read HTTP/1.1\r\n${host}Content-Length: ${large.length}\r\n\r\n${large}`)
    expect((await connection.readResponse()).body).toBe('900000')
    connection.write(`POST /read HTTP/1.1\r\n${host}Content-Length: 1000001\r\n\r\n${'x'.repeat(1_000_001)}`)
    expect((await connection.readResponse()).body).toBe('null')
  })

  test('an unread body is limited to the kernel’s buffers', async () => {
    const connection = dial(`POST /silent?3000 HTTP/1.1\r\n${host}${json}${huge}\r\n`)
    expect(await pour(connection, 60_000_000)).toBeLessThan(bufferedBytes)
    expect((await connection.readResponse()).headers.get('connection')).toBe('close')
  })

  for (const method of ['GET', 'POST']) {
    test(`an unread huge body of a ${method} ends the connection after the response`, async () => {
      const connection = dial(`${method} / HTTP/1.1\r\n${host}${json}${huge}\r\n{`)
      const { body, headers } = await connection.readResponse()
      expect([body, headers.get('connection')]).toEqual(['answered', 'close'])
      await connection.closed
    })
  }

  // Bun checks its timeouts every four seconds.
  describeSlow('in real time', () => {
    test.concurrent('every idle connection is closed: without a request, with half a request or body, after a response, after a stream', async () => {
      const silent = [dial(), dial('GET / HT'), dial(`GET / HTTP/1.1\r\n${host}\r\n`)]
      const half = `Content-Length: 100\r\n\r\n{"a":`
      const stalled = dial(`POST /read HTTP/1.1\r\n${host}${half}`)
      const unwanted = dial(`POST / HTTP/1.1\r\n${host}${half}`)
      const streamed = dial(`GET /stream HTTP/1.1\r\n${host}\r\n`)
      await Promise.all([...silent, stalled, unwanted, streamed].map((connection) => connection.closed))
    }, 300_000)

    test.concurrent('a response and a stream may be silent for longer than these timeouts', async () => {
      const call = dial(`POST /silent?13000 HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\n{}`)
      const stream = dial(`GET /stream?13000 HTTP/1.1\r\n${host}\r\n`)
      expect((await call.readResponse()).body).toBe('answered')
      expect((await stream.readResponse()).body).toBe('data: 1\n\ndata: 2\n\n')
    }, 300_000)

    for (const [size, atOnce] of [
      ['short', 0],
      ['long', 100_000],
    ] as const) {
      test.concurrent(`a ${size} body that keeps arriving has no total timeout`, async () => {
        const connection = dial(
          `POST /read HTTP/1.1\r\n${host}Content-Length: ${atOnce + 24}\r\n\r\n${'x'.repeat(atOnce)}`,
        )
        const dripping = setInterval(() => connection.write('x'), 500)
        expect((await connection.readResponse()).body).toBe(String(atOnce + 24))
        clearInterval(dripping)
      }, 300_000)
    }
  })
})
