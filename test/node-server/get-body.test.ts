import { describe, expect, test } from 'bun:test'
import { hasQueryBody, readQueryBody } from '../../plugins/shared/http/body/body.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { host, json, startTestServer } from './raw-connection.ts'

/** Responds with the GET body that the app reads. */
const reading = async (request: Request): Promise<Response> => {
  try {
    const body = hasQueryBody(request) ? await readQueryBody(request, 1000) : undefined
    return Response.json([new URL(request.url).search, body?.raw ?? null])
  } catch (error) {
    if (error instanceof Problem) return error.toResponse()
    throw error
  }
}

const chunked = (...chunks: readonly string[]) =>
  `Transfer-Encoding: chunked\r\n\r\n${[...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}`

const sized = (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`

describe('a GET body reaches the app', () => {
  test('with Content-Length and in chunks', async () => {
    await using served = await startTestServer(reading)
    for (const body of [sized('{"PageSize":5}'), chunked('{"Page', 'Size":5}'), chunked('{"PageSize":5}')]) {
      const { status, body: received } = await served.ask(`GET /list?a=b HTTP/1.1\r\n${host}${json}${body}`)
      expect([status, JSON.parse(received)]).toEqual([200, ['?a=b', '{"PageSize":5}']])
    }
  })

  test('byte by byte, at any speed', async () => {
    await using served = await startTestServer(reading)
    const connection = served.dial()
    for (const letter of `GET /list HTTP/1.1\r\n${host}${json}${sized('{"a":1}')}`) {
      connection.write(letter)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    expect(JSON.parse((await connection.readResponse()).body)).toEqual(['', '{"a":1}'])
  })

  test('and no later request on the connection', async () => {
    await using served = await startTestServer(reading)
    const connection = served.dial()
    connection.write(`GET /1 HTTP/1.1\r\n${host}${json}${sized('{"a":1}')}`)
    connection.write(`GET /2 HTTP/1.1\r\n${host}${json}\r\n`)
    connection.write(`GET /3 HTTP/1.1\r\n${host}${json}${chunked('{"a":3}')}`)
    for (const expected of ['{"a":1}', null, '{"a":3}']) {
      expect(JSON.parse((await connection.readResponse()).body)[1]).toBe(expected)
    }
  })

  test('of exactly the maximum size', async () => {
    await using served = await startTestServer(reading)
    const most = `{"a":"${'x'.repeat(1000 - 8)}"}`
    for (const [body, status] of [
      [most, 200],
      [`${most} `, 413],
    ] as const) {
      expect((await served.ask(`GET / HTTP/1.1\r\n${host}${json}${sized(body)}`)).status).toBe(status)
      expect((await served.ask(`GET / HTTP/1.1\r\n${host}${json}${chunked(body)}`)).status).toBe(status)
    }
  })
})

describe('a GET body that is too large receives an error response', () => {
  const large = 'x'.repeat(3_000_000)

  test('with Content-Length and in chunks', async () => {
    await using served = await startTestServer(reading)
    for (const body of [
      sized(large),
      chunked(large),
      chunked(...Array.from({ length: 300 }, () => 'x'.repeat(10_000))),
    ]) {
      const { status, body: received } = await served.ask(`GET / HTTP/1.1\r\n${host}${json}${body}`)
      expect([status, JSON.parse(received)]).toMatchObject([413, { success: false }])
    }
  })

  test('before the rest has arrived', async () => {
    await using served = await startTestServer(reading)
    const { status } = await served.ask(
      `GET / HTTP/1.1\r\n${host}${json}Content-Length: 3000000\r\n\r\n${'x'.repeat(2000)}`,
    )
    expect(status).toBe(413)
  })

  test('and the connection stays usable', async () => {
    await using served = await startTestServer(reading)
    const connection = served.dial()
    connection.write(`GET / HTTP/1.1\r\n${host}${json}${sized(large)}GET /next HTTP/1.1\r\n${host}\r\n`)
    expect((await connection.readResponse()).status).toBe(413)
    expect((await connection.readResponse()).status).toBe(200)
  })
})
