import { describe, expect, test } from 'bun:test'
import { createRequest } from '../../src/node-server/request.ts'

type Made = Partial<Parameters<typeof createRequest>[0]> & {
  readonly body?: Parameters<ReturnType<typeof createRequest>['setBody']>[0]
}

const made = (target: string, { body, ...more }: Made = {}) => {
  const request = createRequest({
    method: 'GET',
    origin: 'http://localhost',
    target,
    rawHeaders: ['Host', 'a', 'X-A', '1', 'x-a', '2'],
    ...more,
  })
  if (body) request.setBody(body)
  return request
}

describe('the lazy Request equals one of the runtime', () => {
  test('in its URL, for any characters of the target', () => {
    const parts = [
      ...[
        '/',
        '//',
        '.',
        '..',
        '%2e',
        '%2E%2e',
        '%2f',
        '%5c',
        '\\',
        '%',
        '%zz',
        '~',
        '-',
        '_',
        '?',
        '#',
        '@',
        ':',
        ';',
        '=',
      ],
      ...[
        'a',
        'b',
        'groups',
        '.a',
        'a.',
        'a..',
        "'",
        '"',
        '<',
        '>',
        '^',
        '|',
        '`',
        '{',
        '}',
        '[',
        ']',
        '*',
        '!',
        '$',
        '&',
      ],
      ...['(', ')', '+', ',', ' ', '\t', '\u00e4', '\u0000', '\u007f', '0'],
    ]
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    for (let round = 0; round < 20_000; round++) {
      const target = `/${Array.from({ length: random(7) }, () => parts[random(parts.length)]).join('')}`
      const native = new Request(`http://localhost${target}`)
      expect([target, made(target).url]).toEqual([target, native.url])
    }
  })

  test('in its headers, with repeated ones joined', () => {
    expect([...made('/').headers]).toEqual([
      ['host', 'a'],
      ['x-a', '1, 2'],
    ])
  })

  test('in its other properties and for instanceof', async () => {
    const body = {
      stream: () => new Response('{"a":1}').body as ReadableStream<Uint8Array<ArrayBuffer>>,
      bytes: () => new Response('{"a":1}').bytes(),
    }
    const request = made('/a?b', { method: 'POST', body })
    expect(request).toBeInstanceOf(Request)
    expect([request.method, request.redirect, request.bodyUsed]).toEqual(['POST', 'follow', false])
    const copy = request.clone()
    expect([await request.json(), await copy.text()]).toEqual([{ a: 1 }, '{"a":1}'])
    expect(made('/').body).toBeNull()
    expect((await made('/').bytes()).length).toBe(0)
    expect(new TextDecoder().decode(await made('/', { method: 'POST', body }).bytes())).toBe('{"a":1}')
  })

  test('in its bytes after the stream was accessed', async () => {
    const body = { stream: () => new Blob(['stream']).stream(), bytes: () => new Response('whole').bytes() }
    const request = made('/', { method: 'POST', body })
    expect(request.body).not.toBeNull()
    expect(new TextDecoder().decode(await request.bytes())).toBe('stream')
  })

  test('in a copy, with all body methods and bodyUsed', async () => {
    const body = { stream: () => new Blob(['body']).stream(), bytes: () => new Response('body').bytes() }
    const post = () => made('/', { method: 'POST', body })
    type Body = Pick<Request, 'bytes' | 'text' | 'body'>
    const reads: ((request: Body) => Promise<unknown>)[] = [
      (request) => request.bytes(),
      (request) => request.text(),
      (request) => new Response(request.body).text(),
    ]
    for (const way of reads) {
      for (const other of reads) {
        const request = post()
        const copy = request.clone()
        expect([String(await other(copy)), String(await way(request))].map((read) => read.length > 3)).toEqual([
          true,
          true,
        ])
        expect([request.bodyUsed, copy.bodyUsed]).toEqual([true, true])
      }
      const request = post()
      expect(request.bodyUsed).toBe(false)
      await way(request)
      expect(request.bodyUsed).toBe(true)
    }
    const request = post()
    await request.bytes()
    expect(request.bodyUsed).toBe(true)
    const empty = made('/')
    await empty.bytes()
    expect([empty.bodyUsed, await empty.text()]).toEqual([false, ''])
  })
})

describe('its parts are created on access only', () => {
  test('no body', () => {
    let opened = 0
    const body = {
      stream() {
        opened++
        return new ReadableStream<Uint8Array>()
      },
      async bytes() {
        opened++
        return new Uint8Array()
      },
    }
    const request = made('/', { method: 'POST', body })
    expect([request.method, request.headers.get('x-a'), request.signal.aborted, opened]).toEqual([
      'POST',
      '1, 2',
      false,
      0,
    ])
    const stream = request.body
    expect([request.body === stream, opened]).toEqual([true, 1])
  })

  test('and the signal reports a disconnect, also one before the access', () => {
    for (const before of [true, false]) {
      const request = made('/')
      if (before) expect(request.signal.aborted).toBe(false)
      let told = 0
      if (before) request.signal.addEventListener('abort', () => told++)
      request.abort()
      request.abort()
      expect([request.signal.aborted, told]).toEqual([true, before ? 1 : 0])
    }
  })
})
