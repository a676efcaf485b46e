import { describe, expect, test } from 'bun:test'
import { readJsonBody } from '../../plugins/shared/body.ts'
import type { Problem } from '../../plugins/shared/problem.ts'
import { front, host } from './wire.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

describe('answers come as they were given', () => {
  test('status, headers, cookies and bytes', async () => {
    await using served = await front(() => {
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

  test('HEAD has the headers of GET and no body', async () => {
    await using served = await front(() => new Response('four', { headers: { 'x-one': '1' } }))
    const wire = served.dial()
    wire.write(`HEAD / HTTP/1.1\r\n${host}\r\nGET / HTTP/1.1\r\n${host}\r\n`)
    const head = await wire.answer(true)
    expect([head.status, head.headers.get('x-one'), head.headers.get('content-length')]).toEqual([200, '1', '4'])
    expect((await wire.answer()).body).toBe('four')
  })

  test('nothing is said where there is nothing to say', async () => {
    for (const status of [204, 304]) {
      await using served = await front(() => new Response(null, { status }))
      const wire = served.dial()
      wire.write(`GET / HTTP/1.1\r\n${host}\r\nGET / HTTP/1.1\r\n${host}\r\n`)
      for (const _ of [1, 2]) {
        const { status: heard, headers } = await wire.answer()
        expect([heard, headers.get('content-length')]).toEqual([status, null])
      }
    }
    await using served = await front(() => new Response(null))
    expect((await served.ask(`GET / HTTP/1.1\r\n${host}\r\n`)).headers.get('content-length')).toBe('0')
  })
})

describe('a connection carries many requests', () => {
  test('one after the other, and all at once, in their order', async () => {
    await using served = await front(async (request) => {
      const { pathname } = new URL(request.url)
      // The first is the slowest.
      for (let turn = 0; turn < 20 - Number(pathname.slice(1)); turn++)
        await new Promise<void>((resolve) => setImmediate(resolve))
      return new Response(pathname)
    })
    const wire = served.dial()
    wire.write(Array.from({ length: 20 }, (_, at) => `GET /${at} HTTP/1.1\r\n${host}\r\n`).join(''))
    for (let at = 0; at < 20; at++) expect((await wire.answer()).body).toBe(`/${at}`)
    wire.write(`GET /19 HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
    expect((await wire.answer()).body).toBe('/19')
    await wire.closed
  })

  test('also when the app did not care for a body', async () => {
    await using served = await front(() => new Response('no', { status: 401 }))
    const wire = served.dial()
    for (const length of [5, 500_000]) {
      wire.write(`POST / HTTP/1.1\r\n${host}Content-Length: ${length}\r\n\r\n${'x'.repeat(length)}`)
      expect((await wire.answer()).status).toBe(401)
    }
    wire.write(`DELETE / HTTP/1.1\r\n${host}\r\n`)
    expect((await wire.answer()).status).toBe(401)
  })
})

describe('a large body is streamed', () => {
  test('and read in whole', async () => {
    await using served = await front(async (request) => Response.json((await request.arrayBuffer()).byteLength))
    const length = 20_000_000
    const wire = served.dial()
    wire.write(`POST / HTTP/1.1\r\n${host}Content-Length: ${length}\r\n\r\n`)
    for (let sent = 0; sent < length; sent += 1_000_000) wire.write('x'.repeat(1_000_000))
    expect((await wire.answer()).body).toBe(String(length))
  })

  test('beyond the app’s bound it is refused, with an answer', async () => {
    await using served = await front((request) =>
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
      const wire = served.dial()
      wire.write(`POST / HTTP/1.1\r\n${host}${framing}GET / HTTP/1.1\r\n${host}\r\n`)
      expect((await wire.answer()).status).toBe(413)
      expect((await wire.answer()).status).toBe(400)
    }
  })

  test('no faster than the app reads it', async () => {
    const begun = Promise.withResolvers<ReadableStreamDefaultReader<Uint8Array>>()
    const done = Promise.withResolvers<void>()
    await using served = await front(async (request) => {
      const reader = request.body?.getReader()
      if (reader) begun.resolve(reader as ReadableStreamDefaultReader<Uint8Array>)
      await done.promise
      return new Response('done')
    })
    const wire = served.dial()
    const length = 100_000_000
    wire.write(`POST / HTTP/1.1\r\n${host}Content-Length: ${length}\r\n\r\n`)
    let accepted = 0
    const chunk = 'x'.repeat(1_000_000)
    const stuck = new Promise<void>((resolve) => {
      const push = () => {
        if (accepted >= length) return resolve()
        accepted += chunk.length
        let moved = false
        wire.socket.write(chunk, () => {
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

describe('a caller who does not read is waited for', () => {
  test('a stream is not drawn faster than it is taken', async () => {
    const chunk = bytes(`data: ${'x'.repeat(100_000)}\n\n`)
    let drawn = 0
    await using served = await front(
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
    const wire = served.dial()
    wire.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await wire.until('data: ')
    wire.socket.pause()
    let before = -1
    while (drawn !== before) {
      before = drawn
      await new Promise<void>((resolve) => setTimeout(resolve, 200))
    }
    expect(drawn).toBeLessThan(100_000_000)
  })
})
