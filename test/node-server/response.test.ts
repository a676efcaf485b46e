import { describe, expect, test } from 'bun:test'
import { readJsonBody } from '../../plugins/shared/http/body/body.ts'
import { responseOf } from '../../plugins/shared/http/body/known-body.ts'
import type { Problem } from '../../plugins/shared/problem.ts'
import { bufferedBytes, host, startTestServer } from './raw-connection.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

describe('a response is sent unchanged', () => {
  test('with status, headers, cookies and bytes', async () => {
    await using served = await startTestServer(() => {
      const headers = new Headers({ 'content-type': 'text/plain', 'x-one': '1' })
      headers.append('set-cookie', 'a=1')
      headers.append('set-cookie', 'b=2')
      return new Response('\u00e4', { status: 418, headers })
    })
    const { status, headers, body } = await served.ask(`GET / HTTP/1.1\r\n${host}\r\n`)
    expect([status, headers.get('x-one'), headers.getSetCookie(), headers.get('content-length')]).toEqual([
      418,
      '1',
      ['a=1', 'b=2'],
      '2',
    ])
    expect(Buffer.from(body, 'latin1').toString()).toBe('ä')
  })

  test('to HEAD with the headers of GET and without a body', async () => {
    await using served = await startTestServer(() => new Response('four', { headers: { 'x-one': '1' } }))
    const connection = served.dial()
    connection.write(`HEAD / HTTP/1.1\r\n${host}\r\nGET / HTTP/1.1\r\n${host}\r\n`)
    const head = await connection.readResponse(true)
    expect([head.status, head.headers.get('x-one'), head.headers.get('content-length')]).toEqual([200, '1', '4'])
    expect((await connection.readResponse()).body).toBe('four')
  })

  test('without a body for statuses that have none', async () => {
    for (const status of [204, 304]) {
      await using served = await startTestServer(() => new Response(null, { status }))
      const connection = served.dial()
      connection.write(`GET / HTTP/1.1\r\n${host}\r\nGET / HTTP/1.1\r\n${host}\r\n`)
      for (const _ of [1, 2]) {
        const { status: heard, headers } = await connection.readResponse()
        expect([heard, headers.get('content-length')]).toEqual([status, null])
      }
    }
    await using served = await startTestServer(() => new Response(null))
    expect((await served.ask(`GET / HTTP/1.1\r\n${host}\r\n`)).headers.get('content-length')).toBe('0')
  })
})

describe('several requests on one connection', () => {
  test('receive their responses in order, sequential and pipelined', async () => {
    await using served = await startTestServer(async (request) => {
      const { pathname } = new URL(request.url)
      // The first request is the slowest.
      for (let turn = 0; turn < 20 - Number(pathname.slice(1)); turn++)
        await new Promise<void>((resolve) => setImmediate(resolve))
      return new Response(pathname)
    })
    const connection = served.dial()
    connection.write(Array.from({ length: 20 }, (_, at) => `GET /${at} HTTP/1.1\r\n${host}\r\n`).join(''))
    for (let at = 0; at < 20; at++) expect((await connection.readResponse()).body).toBe(`/${at}`)
    connection.write(`GET /19 HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
    expect((await connection.readResponse()).body).toBe('/19')
    await connection.closed
  })

  test('are handled one after the other: a client that does not read a response gets no further one', async () => {
    let handled = 0
    await using served = await startTestServer(() => {
      handled++
      return responseOf(new Uint8Array(bufferedBytes), {})
    })
    const connection = served.dial()
    connection.socket.pause()
    connection.write(`GET / HTTP/1.1\r\n${host}\r\n`.repeat(10))
    // Later requests, on other connections, have their responses.
    for (let ask = 0; ask < 20; ask++) {
      const other = served.dial()
      other.write(`HEAD / HTTP/1.1\r\n${host}\r\n`)
      await other.readResponse(true)
    }
    expect(handled).toBe(1 + 20)
    connection.socket.resume()
    for (let at = 0; at < 10; at++) expect((await connection.readResponse()).body).toHaveLength(bufferedBytes)
    expect(handled).toBe(10 + 20)
  }, 300_000)

  test('that wait are dropped when the client disconnects', async () => {
    let handled = 0
    const aborted = Promise.withResolvers<void>()
    await using served = await startTestServer((request) => {
      handled++
      return new Promise((resolve) => {
        request.signal.addEventListener('abort', () => {
          resolve(new Response('late'))
          aborted.resolve()
        })
      })
    })
    const connection = served.dial()
    connection.write(`GET / HTTP/1.1\r\n${host}\r\n`.repeat(10))
    while (handled === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    connection.socket.destroy()
    await aborted.promise
    // The server has responded to a request that came later.
    expect((await served.ask(`GET / HTTP/1.1\r\n\r\n`)).status).toBe(400)
    expect(handled).toBe(1)
  }, 300_000)

  test('also when the app does not read a body', async () => {
    await using served = await startTestServer(() => new Response('no', { status: 401 }))
    const connection = served.dial()
    for (const length of [5, 500_000]) {
      connection.write(`POST / HTTP/1.1\r\n${host}Content-Length: ${length}\r\n\r\n${'x'.repeat(length)}`)
      expect((await connection.readResponse()).status).toBe(401)
    }
    connection.write(`DELETE / HTTP/1.1\r\n${host}\r\n`)
    expect((await connection.readResponse()).status).toBe(401)
  })
})

describe('a large request body', () => {
  test('is streamed completely', async () => {
    await using served = await startTestServer(async (request) =>
      Response.json((await request.arrayBuffer()).byteLength),
    )
    const length = 20_000_000
    const connection = served.dial()
    connection.write(`POST / HTTP/1.1\r\n${host}Content-Length: ${length}\r\n\r\n`)
    for (let sent = 0; sent < length; sent += 1_000_000) connection.write('x'.repeat(1_000_000))
    expect((await connection.readResponse()).body).toBe(String(length))
  })

  test('above the app’s limit receives an error response', async () => {
    await using served = await startTestServer((request) =>
      readJsonBody(request, 1000).then(
        () => new Response('read'),
        (error: Problem) => error.toResponse(),
      ),
    )
    const large = 'x'.repeat(3_000_000)
    for (const framing of [
      `Content-Length: ${large.length}\r\n\r\n${large}`,
      `Transfer-Encoding: chunked\r\n\r\n${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`,
    ]) {
      const connection = served.dial()
      connection.write(`POST / HTTP/1.1\r\n${host}${framing}GET / HTTP/1.1\r\n${host}\r\n`)
      expect((await connection.readResponse()).status).toBe(413)
      expect((await connection.readResponse()).status).toBe(400)
    }
  })

  test('is read with backpressure', async () => {
    const begun = Promise.withResolvers<ReadableStreamDefaultReader<Uint8Array>>()
    const done = Promise.withResolvers<void>()
    await using served = await startTestServer(async (request) => {
      const reader = request.body?.getReader()
      if (reader) begun.resolve(reader as ReadableStreamDefaultReader<Uint8Array>)
      await done.promise
      return new Response('done')
    })
    const connection = served.dial()
    const length = 100_000_000
    connection.write(`POST / HTTP/1.1\r\n${host}Content-Length: ${length}\r\n\r\n`)
    let accepted = 0
    const chunk = 'x'.repeat(1_000_000)
    const stuck = new Promise<void>((resolve) => {
      const push = () => {
        if (accepted >= length) return resolve()
        accepted += chunk.length
        let moved = false
        connection.socket.write(chunk, () => {
          moved = true
          push()
        })
        setTimeout(() => {
          if (!moved) resolve()
        }, 300)
      }
      push()
    })
    await begun.promise
    await stuck
    expect(accepted).toBeLessThan(length)
    done.resolve()
  })
})

describe('a caller who does not read', () => {
  test('causes backpressure on the response stream', async () => {
    const chunk = bytes(`data: ${'x'.repeat(100_000)}\n\n`)
    let drawn = 0
    await using served = await startTestServer(
      () =>
        new Response(
          new ReadableStream(
            {
              async pull(controller) {
                await new Promise<void>((resolve) => setImmediate(resolve))
                drawn += chunk.length
                if (drawn > 500_000_000) controller.close()
                else controller.enqueue(chunk)
              },
            },
            { highWaterMark: 0 },
          ),
          { headers: { 'content-type': 'text/event-stream' } },
        ),
    )
    const connection = served.dial()
    connection.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await connection.until('data: ')
    connection.socket.pause()
    let before = -1
    while (drawn !== before) {
      before = drawn
      await new Promise<void>((resolve) => setTimeout(resolve, 200))
    }
    expect(drawn).toBeLessThan(100_000_000)
  })
})
