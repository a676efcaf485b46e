import { describe, expect, test } from 'bun:test'
import { hasQueryBody, readQueryBody } from '../../plugins/shared/body.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { front, host, json } from './wire.ts'

/** Says what the app would read of a GET's body. */
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

describe('a body on GET reaches the app', () => {
  test('with a length, and in chunks', async () => {
    await using served = await front(reading)
    for (const body of [sized('{"PageSize":5}'), chunked('{"Page', 'Size":5}'), chunked('{"PageSize":5}')]) {
      const { status, body: heard } = await served.ask(`GET /list?a=b HTTP/1.1\r\n${host}${json}${body}`)
      expect([status, JSON.parse(heard)]).toEqual([200, ['?a=b', '{"PageSize":5}']])
    }
  })

  test('byte by byte, however slowly', async () => {
    await using served = await front(reading)
    const wire = served.dial()
    for (const letter of `GET /list HTTP/1.1\r\n${host}${json}${sized('{"a":1}')}`) {
      wire.write(letter)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    expect(JSON.parse((await wire.answer()).body)).toEqual(['', '{"a":1}'])
  })

  test('and no other request gets it: the next on the connection has its own, or none', async () => {
    await using served = await front(reading)
    const wire = served.dial()
    wire.write(`GET /1 HTTP/1.1\r\n${host}${json}${sized('{"a":1}')}`)
    wire.write(`GET /2 HTTP/1.1\r\n${host}${json}\r\n`)
    wire.write(`GET /3 HTTP/1.1\r\n${host}${json}${chunked('{"a":3}')}`)
    for (const expected of ['{"a":1}', null, '{"a":3}']) {
      expect(JSON.parse((await wire.answer()).body)[1]).toBe(expected)
    }
  })

  test('of the very size that is allowed', async () => {
    await using served = await front(reading)
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

describe('a body on GET that is too large is answered, not cut off', () => {
  const large = 'x'.repeat(3_000_000)

  test('with a length, and in chunks', async () => {
    await using served = await front(reading)
    for (const body of [
      sized(large),
      chunked(large),
      chunked(...Array.from({ length: 300 }, () => 'x'.repeat(10_000))),
    ]) {
      const { status, body: heard } = await served.ask(`GET / HTTP/1.1\r\n${host}${json}${body}`)
      expect([status, JSON.parse(heard)]).toMatchObject([413, { success: false }])
    }
  })

  test('before the rest has come', async () => {
    await using served = await front(reading)
    const { status } = await served.ask(
      `GET / HTTP/1.1\r\n${host}${json}Content-Length: 3000000\r\n\r\n${'x'.repeat(2000)}`,
    )
    expect(status).toBe(413)
  })

  test('and the connection goes on', async () => {
    await using served = await front(reading)
    const wire = served.dial()
    wire.write(`GET / HTTP/1.1\r\n${host}${json}${sized(large)}GET /next HTTP/1.1\r\n${host}\r\n`)
    expect((await wire.answer()).status).toBe(413)
    expect((await wire.answer()).status).toBe(200)
  })
})
