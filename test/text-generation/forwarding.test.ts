import { describe, expect, test } from 'bun:test'
import { chunk, dataOf, openApp, streaming } from './fixture.ts'

const messages = [{ role: 'user', content: 'hi' }]
const done = [chunk({ role: 'assistant', content: 'x' }), chunk({}, 'stop'), '[DONE]']

describe('an upstream request', () => {
  test('contains the account’s key, never the caller’s token, cookies, address or client headers', async () => {
    const app = openApp(() => streaming(done))
    await app.post(
      '/chat/completions',
      { model: 'm', messages },
      {
        headers: {
          cookie: 'session=1',
          'x-forwarded-for': '10.0.0.1',
          forwarded: 'for=10.0.0.1',
          'x-stainless-lang': 'js',
          'openai-organization': 'org',
          'x-request-id': 'mine',
          connection: 'x-odd',
          'x-odd': '1',
        },
      },
    )
    const [asked] = app.asked
    expect(asked?.url).toBe('http://upstream.invalid/v1/chat/completions')
    expect(Object.fromEntries(asked?.headers ?? [])).toEqual({
      accept: 'text/event-stream',
      'accept-encoding': 'identity',
      authorization: 'Bearer the-upstream-key',
      'content-type': 'application/json',
      'user-agent': 'sluice',
      via: '1.1 sluice',
      'x-request-id': 'mine',
    })
  })

  test('is the caller’s request byte for byte when no rule changes it', async () => {
    const body =
      '{ "messages":[{"role":"user","content":"\\u0068i"}],  "seed":12345678901234567890, "model":"m", "max_tokens":5.0,\n"stream":true,"stream_options":{"include_usage":true, "x":1},"unknown":{"z":1.0,"a":[]} }'
    const app = openApp(() => streaming(done))
    for (const written of [body, ` \n${body}\t\n`]) await (await app.post('/chat/completions', written)).text()
    expect(app.asked.map(({ text }) => text)).toEqual([body, ` \n${body}\t\n`])
  })

  test('without a maximum gets one, and keeps all else', async () => {
    const app = openApp(() => streaming(done))
    await app.post(
      '/chat/completions',
      '{"model":"m","seed":12345678901234567890,"messages":[{"role":"user","content":"hi"}]}',
    )
    expect(app.asked[0]?.text).toContain('"seed":12345678901234567890')
    expect(app.asked[0]?.json).toMatchObject({
      max_tokens: 4096,
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  for (const named of [{ max_tokens: 7 }, { max_completion_tokens: 7 }]) {
    test(`keeps ${JSON.stringify(named)}`, async () => {
      const app = openApp(() => streaming(done))
      await app.post('/chat/completions', { model: 'm', messages, ...named })
      const { max_tokens, max_completion_tokens } = app.asked[0]?.json ?? {}
      expect({ max_tokens, max_completion_tokens }).toEqual({
        max_tokens: undefined,
        max_completion_tokens: undefined,
        ...named,
      })
    })
  }

  test('gets no maximum without configuration, nor in the responses protocol', async () => {
    const app = openApp(() => streaming(done), { defaultMaxTokens: null })
    await app.post('/chat/completions', { model: 'm', messages })
    await app.post('/responses', { model: 'm', input: 'hi' })
    for (const { text } of app.asked) expect(text).not.toContain('max_')
  })

  test('is not sent when validation fails, and the error names the field', async () => {
    const app = openApp(() => streaming(done))
    const response = await app.post('/chat/completions', { model: 'm', messages: [{ role: 'tool', content: 'x' }] })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: {
        type: 'invalid_request_error',
        param: 'messages[0].tool_call_id',
        message: expect.any(String),
        code: null,
      },
    })
    expect(app.asked).toEqual([])
  })
})

describe('the response to the caller', () => {
  test('is an upstream error with its status, body and headers', async () => {
    const body = '{ "error" : {"message":"slow down","type":"rate_limit_error","n":12345678901234567890} }'
    for (const stream of [true, false]) {
      const app = openApp(
        () =>
          new Response(body, {
            status: 429,
            headers: {
              'content-type': 'application/json; charset=utf-8',
              'retry-after': '7',
              'x-request-id': 'req-7',
              'x-ratelimit-remaining-requests': '0',
              'set-cookie': 'a=b',
              server: 'upstream',
            },
          }),
      )
      const response = await app.post('/chat/completions', { model: 'm', messages, stream })
      expect([response.status, await response.text()]).toEqual([429, body])
      expect(Object.fromEntries(response.headers)).toEqual({
        'content-type': 'application/json; charset=utf-8',
        'retry-after': '7',
        'x-request-id': 'req-7',
        'x-upstream-request-id': 'req-7',
        'x-ratelimit-remaining-requests': '0',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
      })
    }
  })

  test('is a non-JSON error unchanged, and 502 for an error with the key', async () => {
    const page = openApp(() => new Response('<html>', { status: 503, headers: { 'content-type': 'text/html' } }))
    const response = await page.post('/chat/completions', { model: 'm', messages })
    expect([response.status, await response.text(), response.headers.get('content-type')]).toEqual([
      503,
      '<html>',
      'text/html',
    ])
    const leak = openApp(() => Response.json({ error: { message: 'bad key the-upstream-key' } }, { status: 401 }))
    const hidden = await leak.post('/chat/completions', { model: 'm', messages })
    expect([hidden.status, (await hidden.text()).includes('the-upstream-key')]).toEqual([502, false])
  })

  const notUtf8 = Buffer.from(JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'ÿ' } }] }), 'latin1')
  const failures: readonly [string, () => Response | Promise<Response>, string][] = [
    ['a refused connection', () => Promise.reject(new Error('ECONNREFUSED 10.0.0.1:443')), 'upstream unavailable'],
    [
      'a redirect',
      () => new Response(null, { status: 302, headers: { location: 'http://elsewhere' } }),
      'upstream returned an invalid response',
    ],
    [
      'an HTML page',
      () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
      'upstream returned an invalid response',
    ],
    [
      'a completion that is not UTF-8',
      () => new Response(notUtf8, { headers: { 'content-type': 'application/json' } }),
      'upstream returned an invalid response',
    ],
    ['JSON that is not an object', () => Response.json([1]), 'upstream returned an invalid response'],
    ['an empty response', () => new Response(null, { status: 200 }), 'upstream returned an invalid response'],
  ]
  for (const [what, answer, message] of failures) {
    for (const stream of [true, false]) {
      test(`is a 502 without details after ${what} (${stream ? 'stream' : 'no stream'})`, async () => {
        const response = await openApp(answer).post('/chat/completions', { model: 'm', messages, stream })
        expect(response.status).toBe(502)
        expect(await response.json()).toEqual({ error: { message, type: 'server_error', param: null, code: null } })
      })
    }
  }

  for (const [what, ending] of [
    ['breaks off', 'reset'],
    ['ends too early', 'close'],
  ] as const) {
    test(`is a 502 for a stream that ${what} during the assembly`, async () => {
      const response = await openApp(() => streaming(done.slice(0, 1), ending)).post('/chat/completions', {
        model: 'm',
        messages,
      })
      expect(response.status).toBe(502)
    })
  }

  test('is a 401 in OpenAI’s error format without a token', async () => {
    const app = openApp(() => streaming(done))
    const response = await app.post('/chat/completions', { model: 'm', messages }, { headers: { authorization: '' } })
    expect(response.status).toBe(200)
    const rejected = openApp(() => streaming(done), { identify: () => undefined })
    for (const ask of [
      () => rejected.post('/responses', {}),
      () => rejected.get('/models'),
      () => rejected.get('/models/m'),
    ]) {
      const answer = await ask()
      expect([answer.status, await answer.json()]).toEqual([
        401,
        { error: { message: 'not authenticated', type: 'authentication_error', param: null, code: 'invalid_api_key' } },
      ])
    }
    expect(rejected.asked).toEqual([])
  })

  test('is in this format for unknown paths and methods, too', async () => {
    const app = openApp(() => streaming(done))
    expect([(await app.get('/nothing')).status, (await app.get('/chat/completions')).status]).toEqual([404, 405])
    expect(await (await app.get('/nothing')).json()).toMatchObject({ error: { code: 'unknown_url' } })
  })
})

describe('an upstream response that does not match `stream`', () => {
  const completion = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'whole', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  }

  test('but a JSON response to a non-streaming call passes byte for byte', async () => {
    const body = `${JSON.stringify(completion).slice(0, -1)}, "n":12345678901234567890 }`
    const app = openApp(() => new Response(body, { headers: { 'content-type': 'application/json' } }))
    const response = await app.post('/chat/completions', { model: 'm', messages })
    expect(await response.text()).toBe(body)
    expect(app.usage[0]?.tokens).toEqual({ input: 1, cachedInput: 0, output: 2, reasoning: 0 })
  })

  test('a JSON response to a streaming call becomes a stream', async () => {
    const app = openApp(() => Response.json(completion))
    const response = await app.post('/chat/completions', { model: 'm', messages, stream: true })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const data = dataOf(await response.text())
    expect(data.at(-1)).toBe('[DONE]')
    expect(data.join('')).toContain('whole')
    expect(app.usage[0]?.tokens?.output).toBe(2)
  })

  test('a stream without Content-Type is recognized', async () => {
    const app = openApp(async () => new Response(await streaming(done).text()))
    const response = await app.post('/chat/completions', { model: 'm', messages })
    expect(((await response.json()) as typeof completion).choices[0]?.message.content).toBe('x')
  })

  test('an error body with a success status is an error', async () => {
    const app = openApp(() => Response.json({ error: { message: 'no', code: 429 } }))
    for (const stream of [true, false]) {
      expect((await app.post('/chat/completions', { model: 'm', messages, stream })).status).toBe(429)
    }
  })
})
