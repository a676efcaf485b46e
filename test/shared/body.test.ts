import { describe, expect, test } from 'bun:test'
import {
  announcesBody,
  attachBody,
  isJson,
  JsonBody,
  readJsonBody,
  readQueryBody,
} from '../../plugins/shared/http/body/body.ts'
import { readAtMost } from '../../plugins/shared/http/body/read-body.ts'
import { readJson, toJson } from '../../plugins/shared/json/json.ts'

const post = (body: RequestInit['body'], headers: Record<string, string> = {}) =>
  new Request('http://localhost/', { method: 'POST', body, headers })

/** A body of `count` chunks of ten bytes. `read` counts the chunks that were read. */
const dripping = (chunks: number) => {
  const state = { read: 0, cancelled: false }
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (state.read === chunks) return controller.close()
        state.read++
        controller.enqueue(new Uint8Array(10).fill(0x20))
      },
      cancel() {
        state.cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { state, stream }
}

test('a body that a server reads at once has its Content-Length, with any Content-Encoding', async () => {
  const text = '{"a":1}'
  const request = post(null, { 'content-length': String(text.length), 'content-encoding': 'identity' })
  attachBody(request, async () => new TextEncoder().encode(text))
  expect((await readJsonBody(request, 100)).json.get('a')?.value()).toBe(1)
  attachBody(request, () => Promise.reject(new Error('too much, and read all the same')))
  expect(await rejectionOf(readJsonBody(request, text.length - 1))).toBe('413 request body is too large')
})

const rejectionOf = async (reading: Promise<unknown>) =>
  reading.then(
    () => 'accepted',
    (error: { status: number; message: string }) => `${error.status} ${error.message}`,
  )

describe('a body is read up to its size limit', () => {
  test('exactly the limit is accepted, one byte more is rejected', async () => {
    for (const bytes of ['x'.repeat(100), 'é'.repeat(50)]) {
      expect((await readAtMost(post(bytes), 100))?.length).toBe(100)
      expect(await readAtMost(post(bytes), 99)).toBeUndefined()
      expect((await readAtMost(new Response(bytes), 100))?.length).toBe(100)
      expect(await readAtMost(new Response(bytes), 99)).toBeUndefined()
    }
  })

  test('chunks are counted as they arrive, and the rest is not read', async () => {
    const { state, stream } = dripping(1000)
    expect(await readAtMost(new Response(stream), 35)).toBeUndefined()
    expect(state.read).toBeLessThan(10)
    expect(state.cancelled).toBeTrue()
    expect((await readAtMost(new Response(dripping(3).stream), 30))?.length).toBe(30)
  })

  test('a body with Content-Length above the limit is not read', async () => {
    const { state, stream } = dripping(1000)
    expect(await readAtMost(new Response(stream, { headers: { 'content-length': '10000' } }), 35)).toBeUndefined()
    expect(state.read).toBe(0)
  })

  test('an invalid or wrong Content-Length does not circumvent the limit', async () => {
    for (const length of ['x', '-1', '1', '0', '', '1, 1', 'Infinity']) {
      const { stream } = dripping(1000)
      const collected = await readAtMost(new Response(stream, { headers: { 'content-length': length } }), 35)
      expect(collected?.length ?? 0).toBeLessThanOrEqual(35)
    }
  })

  test('a missing body is empty', async () => {
    expect(await readAtMost(new Response(null), 0)).toEqual(new Uint8Array())
    expect(await readAtMost(new Request('http://localhost/'), 0)).toEqual(new Uint8Array())
  })
})

describe('a body must be a JSON object', () => {
  test('and keeps its bytes', async () => {
    const text = ' {"a":1.0,"a":2} '
    const body = await readJsonBody(post(text), 100)
    expect(new TextDecoder().decode(body.bytes)).toBe(text)
    expect(body.edit((json) => json)).toBe(body)
    expect(new TextDecoder().decode(body.edit((json) => json.with('b', toJson(1))).bytes)).toBe('{"a":1.0,"a":2,"b":1}')
  })

  test('with any Content-Type', async () => {
    for (const type of ['', 'text/plain', 'APPLICATION/JSON', 'multipart/form-data; boundary=x']) {
      expect((await readJsonBody(post('{}', { 'content-type': type }), 10)).json.isObject).toBeTrue()
    }
  })

  test('or is rejected with a specific message', async () => {
    for (const [text, message] of [
      ['', '400 request body is not valid JSON'],
      ['[]', '400 request body must be a JSON object'],
      ['"{}"', '400 request body must be a JSON object'],
      ['{"a":}', '400 request body is not valid JSON'],
      [`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, '400 request body is nested deeper than 64 levels'],
      [`{"a":"${'x'.repeat(1000)}"}`, '413 request body is too large'],
    ] as const) {
      expect(await rejectionOf(readJsonBody(post(text), 1000))).toBe(message)
    }
    expect(await rejectionOf(readJsonBody(post(new Uint8Array([0x7b, 0xff, 0x7d])), 10))).toBe(
      '400 request body is not valid UTF-8',
    )
  })

  test('a body created from JSON has its text as bytes', () => {
    expect(Buffer.from(new JsonBody(readJson(' {} ')).bytes).toString()).toBe('{}')
  })
})

describe('a GET body is attached to the request', () => {
  const get = (headers: Record<string, string>) => new Request('http://localhost/', { headers })

  test('and to no other request', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '7' }
    const [one, other] = [get(headers), get(headers)]
    attachBody(one, new TextEncoder().encode('{"a":1}'))
    expect((await readQueryBody(one, 7))?.raw).toBe('{"a":1}')
    await expect(readQueryBody(other, 7)).rejects.toThrow('cannot read a body on GET')
    await expect(readQueryBody(one, 6)).rejects.toThrow('too large')
  })

  test('Content-Length or Transfer-Encoding announces it', () => {
    for (const [headers, announced] of [
      [{}, false],
      [{ 'content-length': '0' }, false],
      [{ 'content-length': '1' }, true],
      [{ 'content-length': '00' }, true],
      [{ 'transfer-encoding': 'chunked' }, true],
      [{ 'transfer-encoding': 'chunked', 'content-length': '0' }, true],
    ] as const) {
      expect(announcesBody(new Headers(headers as Record<string, string>))).toBe(announced)
    }
  })

  test('JSON is recognized by Content-Type', () => {
    const json = (type: string) => isJson(new Headers({ 'content-type': type }))
    for (const type of ['application/json', 'Application/Json;charset=x', 'application/json ;'])
      expect(json(type)).toBeTrue()
    for (const type of ['', 'application/json5', 'application/vnd.x+json', 'text/json', 'x application/json'])
      expect(json(type)).toBeFalse()
    expect(isJson(new Headers())).toBeFalse()
  })
})
