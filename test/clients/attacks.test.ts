import { describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import OpenAI from 'openai'
import type { ScriptChunk } from '../../src/emulator/index.ts'
import { inside } from '../support/gateway.ts'
import { all, type Clients, hello, model, openClients, openVariant, thrown, until, variants } from './fixture.ts'

const [native, chatOnly] = variants

const event = (data: object | string) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
const chunk = (delta: object, finish_reason: string | null = null) =>
  event({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta, finish_reason }] })
const end = [chunk({}, 'stop'), event('[DONE]')]

const post = async (
  { baseURL, apiKey }: Clients,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: object = {},
) => {
  const response = await fetch(baseURL + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, ...headers },
    body,
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** A connection to the gateway, and the received bytes. */
const open = ({ gateway }: Clients): { socket: Socket; received: () => string; closed: Promise<string> } => {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.on('data', (bytes) => {
    received += bytes
  })
  socket.on('error', () => {})
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(received)))
  return { socket, received: () => received, closed }
}

const request = ({ apiKey }: Clients, body: string, more = '', line = 'POST /v1/chat/completions HTTP/1.1') =>
  `${line}\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`

describe('hostile requests', () => {
  const rest = `"messages":[{"role":"user","content":"x"}]`
  const bodies: Record<
    string,
    { body: string | Uint8Array<ArrayBuffer>; param?: string; path?: string; headers?: object }
  > = {
    'a model twice': { body: `{"model":"a","model":"${model}",${rest}}`, param: 'model' },
    'a model twice, once escaped': { body: `{"model":"${model}","mod\\u0065l":"a",${rest}}`, param: 'model' },
    'messages twice': { body: `{"model":"${model}",${rest},"messages":[]}`, param: 'messages' },
    'input twice': { body: `{"model":"${model}","input":"a","input":"b"}`, param: 'input', path: '/responses' },
    'tools twice': {
      body: `{"model":"${model}","input":"a","tools":[],"tools":[]}`,
      param: 'tools',
      path: '/responses',
    },
    'stream as a string': { body: `{"model":"${model}",${rest},"stream":"true"}`, param: 'stream' },
    'a model that is a number': { body: `{"model":7,${rest}}`, param: 'model' },
    'a model that is empty': { body: `{"model":"",${rest}}`, param: 'model' },
    'a byte order mark': { body: `\ufeff{"model":"${model}",${rest}}` },
    'UTF-16': { body: Buffer.from(`{"model":"${model}",${rest}}`, 'utf16le') },
    'invalid UTF-8': { body: Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xff, 0x22, 0x7d])]) },
    nothing: { body: '' },
    'an array': { body: '[]' },
    'half an object': { body: `{"model":"${model}",` },
    'an object nested 500,000 deep': { body: `{"model":"${model}",${rest},"x":${'['.repeat(5e5)}${']'.repeat(5e5)}}` },
    'a body in gzip': {
      body: Bun.gzipSync(`{"model":"${model}",${rest}}`),
      headers: { 'content-encoding': 'gzip' },
    },
  }
  for (const [title, { body, param = null, path = '/chat/completions', headers }] of Object.entries(bodies)) {
    test(`${title} is rejected without an upstream call`, async () => {
      await using clients = await openClients()
      const reply = await post(clients, path, body, headers)
      expect(reply.status).toBe(400)
      expect(reply.headers.get('content-type')).toBe('application/json')
      expect(JSON.parse(reply.text)).toEqual({
        error: { message: expect.any(String), type: 'invalid_request_error', param, code: null },
      })
      expect(reply.text).not.toMatch(inside)
      expect(clients.generatingCalls()).toEqual([])
    })
  }

  test('model names reach the upstream unchanged, and only in the body', async () => {
    await using clients = await openClients()
    for (const name of ['x\r\nX-Evil: 1', 'x\0', '\ud800', '{"a":1}', '\u2028', '../../etc', 'x'.repeat(100_000)]) {
      const caught = await thrown(clients.openai.chat.completions.create({ model: name, messages: hello('x') }))
      expect(caught).toMatchObject({ status: 404, code: 'model_not_found' })
      expect(clients.generatingCalls().at(-1)?.json).toMatchObject({ model: name })
      expect(clients.generatingCalls().at(-1)?.headers).not.toHaveProperty('x-evil')
      expect(clients.generatingCalls().at(-1)?.path).toBe('/v1/chat/completions')
    }
  })

  test('model ids cannot select another path', async () => {
    await using clients = await openClients()
    for (const id of [
      '..%2f..%2fapi',
      'a%0d%0ab',
      'x%00',
      'a%3fb',
      '%ff',
      '%2e%2e',
      '..%5c..',
      'a%252fb',
      '%2f',
      'a%23',
    ]) {
      const { socket, closed } = open(clients)
      socket.write(request(clients, '', 'Connection: close\r\n', `GET /v1/models/${id} HTTP/1.1`))
      expect(await closed).toStartWith('HTTP/1.1 404')
    }
    expect(clients.emulator.calls).toEqual([])
  })

  test('line separators and lone surrogates pass in both directions', async () => {
    for (const variant of [native, chatOnly]) {
      await using clients = await openVariant(variant)
      const odd = 'a\u2028b\u2029c\u0085d\ud83de\ude00f\u0000g\r\nh\ufeff'
      const response = await clients.openai.chat.completions.create({ model, messages: hello(odd) })
      expect(response.choices[0]?.message.content).toStartWith(`You wrote: “${odd}”.`)
      const stream = clients.openai.responses.stream({ model, input: odd })
      expect((await stream.finalResponse()).output_text).toStartWith(`You wrote: “${odd}”.`)
    }
  })

  test('a surrogate pair that is split over two deltas is joined', async () => {
    for (const variant of [native, chatOnly]) {
      await using clients = await openVariant(variant)
      const chunks = [
        event('{"choices":[{"index":0,"delta":{"content":"\\ud83e"},"finish_reason":null}]}'),
        event('{"choices":[{"index":0,"delta":{"content":"\\udd8a\u2028!"},"finish_reason":"stop"}]}'),
        event('[DONE]'),
      ]
      clients.emulator.text.answer({ chunks }, { times: 2 })
      if (variant === native) {
        const response = await clients.openai.chat.completions.create({ model, messages: hello('x') })
        expect(response.choices[0]?.message.content).toBe('🦊\u2028!')
      } else {
        expect((await clients.openai.responses.create({ model, input: 'x' })).output_text).toBe('🦊\u2028!')
        const final = await clients.openai.responses.stream({ model, input: 'x' }).finalResponse()
        expect(final.output_text).toBe('🦊\u2028!')
      }
    }
  })

  test('keys such as __proto__ are ordinary keys', async () => {
    await using clients = await openClients()
    const odd = '"__proto__":{"polluted":1},"constructor":"c","toString":"s"'
    const chunks = [
      event(`{"choices":[{"index":0,"delta":{"content":"a",${odd}},"finish_reason":null}],${odd}}`),
      event(`{"choices":[{"index":0,"delta":{"content":"b",${odd}},"finish_reason":"stop"}],${odd}}`),
      event('[DONE]'),
    ]
    clients.emulator.text.answer({ chunks })
    const response = await clients.openai.chat.completions.create({ model, messages: hello('x') })
    expect(response.choices[0]?.message.content).toBe('ab')
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})

describe('large amounts of data', () => {
  test('60 MB of images pass, and 70 MB are rejected', async () => {
    await using clients = await openClients()
    const look = (bytes: number) => ({
      model,
      messages: [
        {
          role: 'user' as const,
          content: [{ type: 'image_url' as const, image_url: { url: `data:image/png;base64,${'A'.repeat(bytes)}` } }],
        },
      ],
    })
    const { usage } = await clients.openai.chat.completions.create(look(60_000_000))
    expect(clients.generatingCalls()[0]?.body.length).toBeGreaterThan(60_000_000)
    expect(await clients.recorded()).toMatchObject({ input: usage?.prompt_tokens })
    const caught = await thrown(clients.openai.chat.completions.create(look(70_000_000)))
    expect(caught).toMatchObject({ status: 413, type: 'invalid_request_error', param: null })
    expect(clients.generatingCalls()).toHaveLength(1)
    clients.emulator.clearCalls()
  }, 20_000)

  test('a body that is too large keeps its connection usable, with and without Content-Length', async () => {
    await using clients = await openClients({ text: { maxBodyBytes: 1000 } })
    const { socket, closed } = open(clients)
    const large = JSON.stringify({ model, messages: hello('x'.repeat(300_000)) })
    const small = JSON.stringify({ model, messages: hello('x') })
    const chunked = request(clients, '', 'Transfer-Encoding: chunked\r\n').replace('Content-Length: 0\r\n', '')
    socket.write(request(clients, large))
    socket.write(`${chunked}${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`)
    socket.write(request(clients, small, 'Connection: close\r\n'))
    expect((await closed).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 413', 'HTTP/1.1 200'])
  })

  const five: readonly ScriptChunk[] = [
    ...Array.from({ length: 5_000 }, () => chunk({ content: 'é'.repeat(500) })),
    ...end,
  ]

  test('a response of 5 MB arrives complete with each upstream variant', async () => {
    const whole = 'é'.repeat(2_500_000)
    for (const variant of [native, chatOnly]) {
      await using clients = await openVariant(variant)
      const { emulator, openai } = clients
      emulator.text.answer({ chunks: five }, { times: 3 })
      if (variant === native) {
        const response = await openai.chat.completions.create({ model, messages: hello('x') })
        expect(response.choices[0]?.message.content === whole).toBe(true)
        const stream = await all(await openai.chat.completions.create({ model, messages: hello('x'), stream: true }))
        expect(stream.map(({ choices }) => choices[0]?.delta.content ?? '').join('') === whole).toBe(true)
      } else {
        expect((await openai.responses.create({ model, input: 'x' })).output_text === whole).toBe(true)
        const events = await all(await openai.responses.create({ model, input: 'x', stream: true }))
        const last = events.at(-1)
        expect(last?.type === 'response.completed' && last.response.output_text === undefined).toBe(true)
        const text = events.flatMap((one) => (one.type === 'response.output_text.delta' ? [one.delta] : [])).join('')
        expect(text === whole).toBe(true)
      }
    }
  }, 20_000)

  test('a response above the assembly limit is an error, but passes as a stream', async () => {
    await using clients = await openClients({ text: { maxResponseBytes: 100_000 } })
    clients.emulator.text.answer({ chunks: five }, { times: 2 })
    const caught = await thrown(clients.openai.chat.completions.create({ model, messages: hello('x') }))
    expect(caught).toMatchObject({ status: 502, type: 'server_error' })
    const stream = await all(
      await clients.openai.chat.completions.create({ model, messages: hello('x'), stream: true }),
    )
    expect(stream).toHaveLength(5_001)
  })

  test('an endless line is rejected', async () => {
    for (const variant of [native, chatOnly]) {
      await using clients = await openVariant(variant)
      function* endless() {
        yield 'data: '
        for (;;) yield 'x'.repeat(100_000)
      }
      const { emulator, openai } = clients
      for (const ask of [
        async () => all(await openai.chat.completions.create({ model, messages: hello('x'), stream: true })),
        async () => all(await openai.responses.create({ model, input: 'x', stream: true })),
        () => openai.responses.create({ model, input: 'x' }) as Promise<unknown>,
      ]) {
        const before = clients.generatingCalls().length
        emulator.text.answer({ chunks: endless() })
        expect(await thrown(ask)).toMatchObject({ status: 502 })
        await until(() => clients.generatingCalls()[before]?.aborted === true)
      }
    }
  })

  test('a slow reader causes backpressure, not buffering in the gateway', async () => {
    for (const [variant, path] of [
      [native, '/v1/chat/completions'],
      [native, '/v1/responses'],
      [chatOnly, '/v1/responses'],
    ] as const) {
      await using clients = await openVariant(variant)
      let made = 0
      function* endless() {
        const text =
          variant === native && path === '/v1/responses'
            ? event({ type: 'response.output_text.delta', delta: 'x'.repeat(10_000) })
            : chunk({ content: 'x'.repeat(10_000) })
        for (;;) {
          made += text.length
          yield text
        }
      }
      clients.emulator.text.answer({ chunks: endless() })
      const generatingCalls = path === '/v1/responses' ? { input: 'x' } : { messages: hello('x') }
      const body = JSON.stringify({ model, ...generatingCalls, stream: true })
      const { socket, received } = open(clients)
      socket.pause()
      socket.write(request(clients, body, '', `POST ${path} HTTP/1.1`))
      await until(() => made > 1_000_000)
      // Socket buffers hold a few MB per connection. The gateway would have to buffer more than that.
      let before = -1
      while (before !== made) {
        before = made
        await new Promise((resolve) => setTimeout(resolve, 300))
      }
      expect(made).toBeLessThan(40_000_000)
      // After a small read the upstream sends a little more.
      socket.resume()
      await until(() => received().length > 100_000)
      socket.pause()
      socket.destroy()
      await until(() => clients.generatingCalls()[0]?.aborted === true)
      await until(async () => (await clients.recorded()).unreported === 1)
    }
  }, 20_000)

  test('a hundred concurrent streams of both protocols are complete', async () => {
    await using clients = await openClients({ limiting: { user: { maxStreams: 100 } } })
    const { direct, emulator, openai } = clients
    const own = await direct.chat.completions.create({ model, messages: hello('90 tokens') })
    // All streams have started before one continues.
    const gate = emulator.faults.add({ kind: 'silence', events: 5, times: 100 })
    const asking = Array.from({ length: 100 }, async (_, index) => {
      if (index % 2) return (await openai.responses.stream({ model, input: '90 tokens' }).finalResponse()).output_text
      const stream = await openai.chat.completions.create({ model, messages: hello('90 tokens'), stream: true })
      return (await all(stream)).map(({ choices }) => choices[0]?.delta.content ?? '').join('')
    })
    await gate.struck(100)
    gate.release()
    expect(new Set(await Promise.all(asking))).toEqual(new Set([own.choices[0]?.message.content ?? '']))
    expect(await clients.recorded()).toMatchObject({ calls: 100, unreported: 0, output: 9_000 })
  }, 20_000)
})

describe('unusual HTTP', () => {
  const body = JSON.stringify({ model, messages: hello('hi') })
  const streaming = JSON.stringify({ model, messages: hello('hi'), stream: true })

  test('an HTTP/1.0 client receives no chunked encoding, and its stream ends with the connection', async () => {
    await using clients = await openClients()
    for (const [given, last] of [
      [body, '}'],
      [streaming, 'data: [DONE]\n\n'],
    ] as const) {
      const { socket, closed } = open(clients)
      socket.write(request(clients, given, '', 'POST /v1/chat/completions HTTP/1.0'))
      const received = await closed
      expect(received).toStartWith('HTTP/1.1 200')
      expect(received).not.toMatch(/transfer-encoding/i)
      expect(received).toEndWith(last)
    }
  })

  test('Expect: 100-continue is honoured', async () => {
    await using clients = await openClients()
    const { socket, received, closed } = open(clients)
    const whole = request(clients, body, 'Expect: 100-continue\r\nConnection: close\r\n')
    socket.write(whole.slice(0, -body.length))
    await until(() => received().includes('HTTP/1.1 100 Continue\r\n\r\n'))
    socket.write(body)
    expect(await closed).toContain('HTTP/1.1 200 OK')
  })

  test('pipelined requests receive their responses in order', async () => {
    await using clients = await openClients()
    const { socket, closed } = open(clients)
    for (let n = 0; n < 10; n++) {
      const given = JSON.stringify({ model, messages: hello(`number ${n}`), stream: n % 2 === 1 })
      socket.write(request(clients, given, n === 9 ? 'Connection: close\r\n' : ''))
    }
    const received = await closed
    expect(received.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(10)
    expect(received.match(/data: \[DONE\]/g)).toHaveLength(5)
    const plain = [...received.matchAll(/You wrote: “number (\d)”/g)].map(([, n]) => n ?? '')
    expect(plain).toEqual(['0', '2', '4', '6', '8'])
  })

  test('other methods are 405, and a response to HEAD has no body', async () => {
    await using clients = await openClients()
    for (const line of ['OPTIONS /v1/responses', 'PUT /v1/responses', 'HEAD /v1/responses', 'DELETE /v1/models/x']) {
      const { socket, closed } = open(clients)
      socket.write(request(clients, '', 'Connection: close\r\n', `${line} HTTP/1.1`))
      const received = await closed
      expect(received).toStartWith('HTTP/1.1 405')
      expect(received).toMatch(/\r\nallow: (?:POST|GET)/i)
      if (line.startsWith('HEAD')) expect(received).toEndWith('\r\n\r\n')
      else expect(JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4))).toHaveProperty('error.type')
    }
    const { socket, closed } = open(clients)
    socket.write(request(clients, '', 'Connection: close\r\n', 'HEAD /v1/models HTTP/1.1'))
    expect(await closed).toMatch(/^HTTP\/1\.1 200[\s\S]*\r\n\r\n$/)
  })

  test('an incomplete request causes no upstream call', async () => {
    await using clients = await openClients()
    const { socket } = open(clients)
    socket.write(request(clients, body).slice(0, -5))
    await new Promise((resolve) => setTimeout(resolve, 50))
    socket.destroy()
    // Only the next request reaches the upstream.
    await clients.openai.chat.completions.create({ model, messages: hello('hi') })
    expect(clients.generatingCalls()).toHaveLength(1)
  })

  test('an invalid X-Stainless-Timeout is ignored', async () => {
    await using clients = await openClients()
    for (const seconds of ['0', '-1', 'soon', 'Infinity', 'NaN', '']) {
      const { status, headers } = await post(clients, '/chat/completions', body, { 'x-stainless-timeout': seconds })
      expect(status).toBe(200)
      expect(headers.has('x-upstream-partialresponse')).toBe(false)
    }
  })

  test('headers about the caller and his proxies do not reach the upstream', async () => {
    await using clients = await openClients()
    await post(clients, '/chat/completions', body, {
      ...{ cookie: 'a=b', forwarded: 'for=192.0.2.1', 'x-forwarded-for': '192.0.2.1', 'x-real-ip': '192.0.2.1' },
      ...{ 'x-stainless-lang': 'js', 'openai-organization': 'org-1', 'api-key': 'x', 'cf-ray': 'x' },
    })
    const { headers = {} } = clients.generatingCalls()[0] ?? {}
    expect(headers.authorization).toBe(`Bearer ${clients.emulator.text.key}`)
    expect(JSON.stringify(headers)).not.toMatch(/192\.0\.2\.1|a=b|stainless|org-1|api-key|cf-ray/)
    expect(JSON.stringify(headers)).not.toContain(clients.apiKey)
  })
})

test('heartbeat comments do not affect clients, and an error after them is raised', async () => {
  await using clients = await openClients({ text: { heartbeatMs: 20 } })
  const { emulator, openai } = clients
  for (const events of [0, 5]) {
    emulator.faults.add({ kind: 'silence', events, ms: 120, times: 2 })
    const chat = await openai.chat.completions.stream({ model, messages: hello('hi') }).finalChatCompletion()
    expect(chat.choices[0]?.finish_reason).toBe('stop')
    expect((await openai.responses.stream({ model, input: 'hi' }).finalResponse()).status).toBe('completed')
  }
  emulator.faults.add({ kind: 'silence', events: 0, ms: 120 })
  emulator.faults.add({ kind: 'error-event' })
  const caught = await thrown(openai.chat.completions.stream({ model, messages: hello('hi') }).finalChatCompletion())
  expect(caught).toBeInstanceOf(OpenAI.APIError)
  emulator.faults.add({ kind: 'delay', ms: 120 })
  emulator.faults.add({ kind: 'status', status: 429 })
  const limited = await thrown(openai.chat.completions.stream({ model, messages: hello('hi') }).finalChatCompletion())
  expect(limited).toBeInstanceOf(OpenAI.RateLimitError)
})
