import { describe, expect, test } from 'bun:test'
import { chunk, dataOf, type Ending, openApp, streaming, streamingText, usageChunk } from './fixture.ts'

const messages = [{ role: 'user', content: 'hi' }]
const asking = { model: 'm', messages, stream: true, stream_options: { include_usage: true } }
const whole = [chunk({ role: 'assistant', content: 'a' }), chunk({ content: 'b' }), chunk({}, 'stop')]

const ask = async (data: readonly (object | string)[], ending: Ending = 'close', request: object = asking) => {
  const app = openApp(({ signal }) => streaming(data, ending, signal))
  const response = await app.post('/chat/completions', request)
  const text = await response.text()
  return { app, response, text, data: dataOf(text) }
}

describe('the end of a chat stream', () => {
  test('a complete stream passes byte for byte with [DONE]', async () => {
    const text = `: hello\n\n${whole.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join('')}data: [DONE]\n\n`
    const app = openApp(() => streamingText(text))
    expect(await (await app.post('/chat/completions', asking)).text()).toBe(text)
  })

  test('a missing [DONE] is added', async () => {
    expect((await ask(whole)).data.at(-1)).toBe('[DONE]')
  })

  test('a duplicate [DONE] is removed', async () => {
    expect((await ask([...whole, '[DONE]', '[DONE]'])).data.filter((each) => each === '[DONE]')).toHaveLength(1)
  })

  for (const ending of ['close', 'reset'] as const) {
    test(`a stream without a finish reason (${ending}) ends with an error and no [DONE]`, async () => {
      const { data } = await ask(whole.slice(0, 2), ending)
      expect(JSON.parse(data.at(-1) ?? '')).toEqual({
        error: { message: 'upstream broke off its answer', type: 'server_error', param: null, code: 'upstream_error' },
      })
      expect(data).not.toContain('[DONE]')
    })
  }

  test('[DONE] without a finish reason is an error, too', async () => {
    const { data } = await ask([...whole.slice(0, 2), '[DONE]'])
    expect(data).not.toContain('[DONE]')
    expect(data.at(-1)).toContain('"error"')
  })

  test('an unfinished choice makes the stream incomplete', async () => {
    const { data } = await ask([chunk({ content: 'x' }, null, 1), ...whole])
    expect(data).not.toContain('[DONE]')
  })

  test('an empty finish reason does not count, and audio ends with its expiry', async () => {
    expect((await ask([chunk({ content: 'x' }, '')])).data).not.toContain('[DONE]')
    const spoken = [chunk({ audio: { id: 'a', data: 'AAAA' } }), chunk({ audio: { expires_at: 1 } }), '[DONE]']
    expect((await ask(spoken)).data.at(-1)).toBe('[DONE]')
  })

  test('a completion without a stream is complete, also with an empty finish reason', async () => {
    for (const finish_reason of ['', null]) {
      const message = { role: 'assistant', content: 'x' }
      const completion = { object: 'chat.completion', choices: [{ index: 0, message, finish_reason }] }
      const app = openApp(() => Response.json(completion))
      const data = dataOf(await (await app.post('/chat/completions', asking)).text())
      expect([JSON.parse(data[1] ?? '').choices[0].finish_reason, data.at(-1)]).toEqual(['stop', '[DONE]'])
    }
  })

  test('a reset after the last finish reason is an error', async () => {
    expect((await ask(whole, 'reset')).data).not.toContain('[DONE]')
  })

  for (const ending of ['close', 'reset'] as const) {
    test(`a partial event is not sent before the error (${ending})`, async () => {
      const app = openApp(() => streamingText(`data: ${JSON.stringify(whole[0])}\n\ndata: {"id":"chatc`, ending))
      const text = await (await app.post('/chat/completions', asking)).text()
      expect(dataOf(text)).toHaveLength(2)
      expect(dataOf(text)[1]).toContain('"error"')
    })
  }

  test('a stream that ends within its first event is no stream, so that client libraries try again', async () => {
    for (const path of ['/chat/completions', '/messages']) {
      const app = openApp(() => streamingText('data: {"id":"chatc'))
      expect((await app.post(path, { ...asking, max_tokens: 9 })).status).toBe(502)
    }
  })

  test('a chunk after the finish reason does not make the stream incomplete', async () => {
    expect((await ask([...whole, chunk({ content: '' }), '[DONE]'])).data.at(-1)).toBe('[DONE]')
  })

  test('an error event of the upstream passes and ends the stream', async () => {
    const { data } = await ask([...whole.slice(0, 1), { error: { message: 'no more', code: 500 } }, ...whole, '[DONE]'])
    expect(data).toHaveLength(2)
    expect(data[1]).toContain('no more')
  })

  test('an event with the upstream’s key is not sent', async () => {
    const { text } = await ask([...whole.slice(0, 1), { error: { message: 'bad key the-upstream-key' } }])
    expect(text).not.toContain('the-upstream-key')
    expect(text).toContain('upstream broke off its answer')
  })
})

describe('an error as the first event becomes an error response', () => {
  const cases = [
    [{ error: { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' } }, 429],
    [{ error: { message: 'x', code: 503 } }, 503],
    [{ error: { message: 'x', code: '400' } }, 400],
    [{ error: { message: 'x', type: 'invalid_request_error' } }, 400],
    [{ error: { message: 'x' } }, 502],
    [{ error: 'boom' }, 502],
    [{ type: 'error', code: 'server_error', message: 'x', param: null, sequence_number: 0 }, 500],
  ] as const
  for (const [said, status] of cases) {
    for (const stream of [true, false]) {
      test(`${JSON.stringify(said)} is ${status} (${stream ? 'stream' : 'no stream'})`, async () => {
        const { response, text } = await ask([said], 'close', { ...asking, stream })
        expect(response.status).toBe(status)
        expect(response.headers.get('content-type')).toBe('application/json')
        expect(JSON.parse(text).error.message).toBe(
          typeof said === 'object' && 'error' in said
            ? typeof said.error === 'string'
              ? said.error
              : said.error.message
            : 'x',
        )
      })
    }
  }

  for (const ending of ['close', 'reset'] as const) {
    test(`a stream without events (${ending}) is a 502`, async () => {
      const app = openApp(() => streamingText(': nothing\n\n', ending))
      const response = await app.post('/chat/completions', asking)
      expect(response.status).toBe(502)
      expect(((await response.json()) as { error: { type: string } }).error.type).toBe('server_error')
    })
  }
})

describe('usage is always requested, and sent only to callers who request it', () => {
  const withNull = whole.map((each) => ({ ...each, usage: null }))
  const plain = { model: 'm', messages, stream: true }

  test('every upstream stream requests usage', async () => {
    const { app } = await ask(whole, 'close', plain)
    expect(app.asked[0]?.json.stream_options).toEqual({ include_usage: true })
  })

  test('without a request the usage chunk and null usage are removed', async () => {
    const { data, app } = await ask([...withNull, usageChunk, '[DONE]'], 'close', plain)
    expect(data).toEqual([...whole.map((each) => JSON.stringify(each)), '[DONE]'])
    expect(app.usage).toEqual([
      {
        user: 'ann',
        token: 't1',
        model: 'm',
        at: expect.any(Number),
        tokens: { input: 3, cachedInput: 0, output: 2, reasoning: 0 },
      },
    ])
  })

  const [text, more, finish] = whole as [object, object, object]
  const counts = (completion_tokens: number) => ({
    prompt_tokens: 3,
    completion_tokens,
    total_tokens: 3 + completion_tokens,
  })
  test.each([
    ['on the chunk with the finish reason', [text, more, { ...finish, usage: counts(2) }]],
    ['on every chunk, as a running total', [text, more, finish].map((each, nth) => ({ ...each, usage: counts(nth) }))],
    [
      'before the choices',
      [
        { usage: counts(0), ...text },
        { usage: counts(1), ...more },
        { usage: counts(2), ...finish },
      ],
    ],
    [
      'on every chunk and on one without choices',
      [...whole.map((each) => ({ ...each, usage: counts(1) })), usageChunk],
    ],
    ['on a chunk that has no member `choices`', [...whole, { id: 'chatcmpl-1', usage: counts(2) }]],
  ] as const)('usage %s is removed, recorded once, and sent to who requests it', async (_, sent) => {
    const { data, app } = await ask([...sent, '[DONE]'], 'close', plain)
    const kept = sent.filter((each) => each !== usageChunk).map(({ usage: _, ...rest }: { usage?: object }) => rest)
    expect(data).toEqual([...kept.map((each) => JSON.stringify(each)), '[DONE]'])
    expect(app.usage.map(({ tokens }) => tokens)).toEqual([{ input: 3, cachedInput: 0, output: 2, reasoning: 0 }])
    expect((await ask([...sent, '[DONE]'])).data).toEqual([...sent.map((each) => JSON.stringify(each)), '[DONE]'])
  })

  test('of a chunk with usage, every other byte stays', async () => {
    const odd = `{ "id":"c",\t"usage" : {"prompt_tokens":3} ,"choices":[{"index":0,"delta":{"content":"\\u0061 \\"usage\\":{}"},"finish_reason":"stop"}],"n":1e400 }`
    const app = openApp(() => streamingText(`id: 7\ndata: ${odd}\r\n\ndata: [DONE]\n\n`))
    const sent = await (await app.post('/chat/completions', plain)).text()
    expect(sent).toContain('{"content":"\\u0061 \\"usage\\":{}"},"finish_reason":"stop"}],"n":1e400 }')
    expect(sent).not.toContain('prompt_tokens')
  })

  test('with a request both are sent', async () => {
    const { data } = await ask([...withNull, usageChunk, '[DONE]'])
    expect(data).toEqual([...[...withNull, usageChunk].map((each) => JSON.stringify(each)), '[DONE]'])
  })

  test('a call without usage counts as unreported', async () => {
    const { app } = await ask(whole, 'close', plain)
    expect(app.usage.map(({ tokens }) => tokens)).toEqual([undefined])
  })

  test('a rejected call is not recorded', async () => {
    const app = openApp(() => Response.json({ error: { message: 'no' } }, { status: 400 }))
    await app.post('/chat/completions', plain)
    expect(app.usage).toEqual([])
  })
})
