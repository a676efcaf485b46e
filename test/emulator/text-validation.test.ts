import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { chat, clientOf, MODEL, post } from './text-client.ts'

let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator()
})
afterAll(() => emulator.stop())

const tool = (name: string) => ({ type: 'function', function: { name } })
const call = (id: string) => ({ id, ...tool('t'), function: { name: 't', arguments: '{}' } })
const chatWith = (messages: unknown, more: object = {}) => ({ model: MODEL, messages, ...more })
const user = { role: 'user', content: 'hi' }
const withPart = (part: object) => chatWith([{ role: 'user', content: [part] }])

/** Invalid requests: the body, and the expected status, param and code. */
const CHAT: readonly (readonly [body: unknown, status: number, param: string | null, code: string | null])[] = [
  [{ messages: [user] }, 400, 'model', 'missing_required_parameter'],
  [{ model: 7, messages: [user] }, 400, 'model', 'invalid_type'],
  [chatWith([user], { model: 'gpt-nothing' }), 404, 'model', 'model_not_found'],
  [chatWith([user], { model: MODEL.toUpperCase() }), 404, 'model', 'model_not_found'],
  [chatWith(undefined), 400, 'messages', 'missing_required_parameter'],
  [chatWith([]), 400, 'messages', 'empty_array'],
  [chatWith('hi'), 400, 'messages', 'invalid_type'],
  [chatWith(['hi']), 400, 'messages[0]', 'invalid_type'],
  [chatWith([{ content: 'hi' }]), 400, 'messages[0].role', 'missing_required_parameter'],
  [chatWith([user, { role: 'robot', content: 'hi' }]), 400, 'messages[1].role', 'invalid_value'],
  [chatWith([{ role: 'user' }]), 400, 'messages[0].content', 'missing_required_parameter'],
  [chatWith([{ role: 'user', content: 5 }]), 400, 'messages[0].content', 'invalid_type'],
  [withPart({ text: 'x' }), 400, 'messages[0].content[0].type', 'missing_required_parameter'],
  [withPart({ type: 'smell', smell: 'x' }), 400, 'messages[0].content[0].type', 'invalid_value'],
  [withPart({ type: 'text' }), 400, 'messages[0].content[0].text', 'missing_required_parameter'],
  [withPart({ type: 'image_url', image_url: 'x' }), 400, 'messages[0].content[0].image_url', 'invalid_type'],
  [
    withPart({ type: 'image_url', image_url: { url: 'ftp://x' } }),
    400,
    'messages[0].content[0].image_url.url',
    'invalid_image_url',
  ],
  [withPart({ type: 'video', video: [] }), 400, 'messages[0].content[0].video', 'invalid_type'],
  [
    withPart({ type: 'video', video: ['https://a.example/1.png', 3] }),
    400,
    'messages[0].content[0].video[1]',
    'invalid_type',
  ],
  [chatWith([{ role: 'tool', content: 'x' }]), 400, 'messages[0].tool_call_id', 'missing_required_parameter'],
  [chatWith([user, { role: 'tool', tool_call_id: 'c', content: 'x' }]), 400, 'messages[1].role', 'invalid_value'],
  [chatWith([user, { role: 'assistant', tool_calls: [call('c')] }]), 400, 'messages', 'invalid_value'],
  [chatWith([user, { role: 'assistant', tool_calls: [call('c')] }, user]), 400, 'messages[2].role', 'invalid_value'],
  [chat('x', { temperature: 1.5 }), 400, 'temperature', 'decimal_above_max_value'],
  [chat('x', { temperature: -1 }), 400, 'temperature', 'decimal_below_min_value'],
  [chat('x', { temperature: '1' }), 400, 'temperature', 'invalid_type'],
  [chat('x', { model: 'emulated-wide', temperature: 2.1 }), 400, 'temperature', 'decimal_above_max_value'],
  [chat('x', { top_p: 2 }), 400, 'top_p', 'decimal_above_max_value'],
  [chat('x', { max_tokens: 0 }), 400, 'max_tokens', 'integer_below_min_value'],
  [chat('x', { max_tokens: 1.5 }), 400, 'max_tokens', 'invalid_type'],
  [chat('x', { max_tokens: 32_769 }), 400, 'max_tokens', 'invalid_value'],
  [chat('x', { max_tokens: 1, max_completion_tokens: 1 }), 400, 'max_tokens', 'invalid_parameter_combination'],
  [chat('x '.repeat(1100), { model: 'emulated-small' }), 400, 'messages', 'context_length_exceeded'],
  [chat('x', { stream: 'yes' }), 400, 'stream', 'invalid_type'],
  [chat('x', { stream: true, model: 'emulated-no-stream' }), 400, 'stream', 'unsupported_value'],
  [chat('x', { model: 'emulated-no-stream-options', stream: true, stream_options: {} }), 400, null, null],
  [chat('x', { stream_options: { include_usage: true } }), 400, 'stream_options', 'invalid_value'],
  [chat('x', { tools: {} }), 400, 'tools', 'invalid_type'],
  [chat('x', { tools: [{ type: 'web_search' }] }), 400, 'tools[0].type', 'invalid_value'],
  [chat('x', { tools: [{ type: 'function', name: 't' }] }), 400, 'tools[0].function', 'missing_required_parameter'],
  [chat('x', { tools: [tool('a b')] }), 400, 'tools[0].function.name', 'invalid_value'],
  [chat('x', { tools: Array.from({ length: 129 }, () => tool('t')) }), 400, 'tools', 'array_above_max_length'],
  [chat('x', { tool_choice: 'auto' }), 400, 'tool_choice', 'invalid_value'],
  [chat('x', { tools: [tool('a')], tool_choice: tool('b') }), 400, 'tool_choice', 'invalid_value'],
  [chat('x', { response_format: { type: 'yaml' } }), 400, 'response_format.type', 'invalid_value'],
  [chat('x', { response_format: {} }), 400, 'response_format.type', 'missing_required_parameter'],
  [chat('x', { response_format: 'json' }), 400, 'response_format', 'invalid_type'],
  [
    chat('x', { response_format: { type: 'json_schema' } }),
    400,
    'response_format.json_schema',
    'missing_required_parameter',
  ],
  [chat('x', { top_logprobs: 2 }), 400, 'top_logprobs', 'invalid_value'],
  [chat('x', { logprobs: true, top_logprobs: 21 }), 400, 'top_logprobs', 'integer_above_max_value'],
  [chat('x', { stop: ['a', 'b', 'c', 'd', 'e'] }), 400, 'stop', 'invalid_type'],
  [chat('x', { n: 0 }), 400, 'n', 'integer_below_min_value'],
  [chat('x', { service_tier: 'gold' }), 400, 'service_tier', 'invalid_value'],
  [chat('x', { reasoning_effort: 'low', model: 'emulated-wide' }), 400, 'reasoning_effort', 'unsupported_parameter'],
  ['{"model":', 400, null, null],
  ['[]', 400, null, null],
  [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, null, null],
]

const RESPONSES: typeof CHAT = [
  [{ model: MODEL }, 400, 'input', 'missing_required_parameter'],
  [{ input: 'x' }, 400, 'model', 'missing_required_parameter'],
  [{ model: 'x', input: 'x' }, 404, 'model', 'model_not_found'],
  [{ model: 'emulated-chat-only', input: 'x' }, 404, 'model', 'unsupported_api'],
  [{ model: 'emulated-no-stream', input: 'x', stream: true }, 400, 'stream', 'unsupported_value'],
  [{ model: MODEL, input: 5 }, 400, 'input', 'invalid_type'],
  [{ model: MODEL, input: [{ type: 'song' }] }, 400, 'input[0].type', 'invalid_value'],
  [{ model: MODEL, input: [{ role: 'tool', content: 'x' }] }, 400, 'input[0].role', 'invalid_value'],
  [
    { model: MODEL, input: [{ role: 'user', content: [{ type: 'image_url' }] }] },
    400,
    'input[0].content[0].type',
    'invalid_value',
  ],
  [{ model: MODEL, input: 'x', max_output_tokens: 0 }, 400, 'max_output_tokens', 'integer_below_min_value'],
  [{ model: MODEL, input: 'x', temperature: 1.2 }, 400, 'temperature', 'decimal_above_max_value'],
  [{ model: MODEL, input: 'x', background: true, store: false }, 400, 'background', 'invalid_value'],
  [
    { model: MODEL, input: 'x', previous_response_id: 'resp_x' },
    400,
    'previous_response_id',
    'previous_response_not_found',
  ],
  [{ model: MODEL, input: 'x', tools: [{ type: 'function' }] }, 400, 'tools[0].name', 'missing_required_parameter'],
  [{ model: MODEL, input: 'x', tools: [{ type: 'telepathy' }] }, 400, 'tools[0].type', 'invalid_value'],
  [
    { model: MODEL, input: 'x', text: { format: { type: 'json_schema', name: 'n' } } },
    400,
    'text.format.schema',
    'missing_required_parameter',
  ],
  [{ model: MODEL, input: 'x', include: 'all' }, 400, 'include', 'invalid_type'],
  [{ model: MODEL, input: 'x', reasoning: { effort: 'huge' } }, 400, 'reasoning.effort', 'invalid_value'],
  [
    { model: 'emulated-wide', input: 'x', reasoning: { effort: 'low' } },
    400,
    'reasoning.effort',
    'unsupported_parameter',
  ],
]

describe('an invalid field is rejected with its path', () => {
  for (const [path, cases] of Object.entries({ '/chat/completions': CHAT, '/responses': RESPONSES })) {
    for (const [body, status, param, code] of cases) {
      const shown = body instanceof Uint8Array ? 'not UTF-8' : JSON.stringify(body).slice(0, 90)
      test(`${path} ${shown}`, async () => {
        const response = await post(emulator, path, body)
        const { message, type, ...rest } = response.json.error
        expect([response.status, type, rest]).toEqual([status, 'invalid_request_error', { param, code }])
        expect(message).toMatch(/^.{10,}\.$/s)
      })
    }
  }

  test('errors for unsupported parameters of a model have the original’s messages', async () => {
    const messageFor = async (body: object) => (await post(emulator, '/chat/completions', body)).json.error.message
    expect(await messageFor(chat('x', { model: 'emulated-2k', max_tokens: 4096 }))).toBe(
      'max_tokens is too large: 4096. This model supports at most 2048 completion tokens, whereas you provided 4096.',
    )
    expect(await messageFor(chat('x', { model: 'emulated-2k', max_completion_tokens: 2049 }))).toStartWith(
      'max_tokens is too large: 2049.',
    )
    expect(await messageFor(chat('x', { model: 'emulated-no-stream', stream: true }))).toBe(
      "Unsupported value: 'stream' does not support true with this model. Only the default (false) value is supported.",
    )
    const options = { stream: true, stream_options: { include_usage: true } }
    expect(await messageFor(chat('x', { model: 'emulated-no-stream-options', ...options }))).toBe(
      'Unrecognized request argument supplied: stream_options.',
    )
    const plain = chat('x', { model: 'emulated-no-stream-options', stream: true })
    expect((await post(emulator, '/chat/completions', plain)).text).toEndWith('data: [DONE]\n\n')
  })

  test('null counts as absent, because clients send it', async () => {
    const nothing = {
      temperature: null,
      max_tokens: null,
      tools: null,
      tool_choice: null,
      stop: null,
      n: null,
      stream: null,
    }
    expect((await post(emulator, '/chat/completions', chat('x', nothing))).status).toBe(200)
  })

  test('valid requests of every form are accepted', async () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'video_url', video_url: { url: 'asset://asset-1' } },
      { type: 'video', video: ['https://a.example/1.png'] },
    ]
    const messages = [
      { role: 'developer', content: 'x' },
      { role: 'user', content: parts },
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'b', content: 'B' },
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'A' }] },
    ]
    const { json } = await post(emulator, '/chat/completions', chatWith(messages, { temperature: 1, vendor_field: 1 }))
    expect(json.choices[0].message.content).toContain('“B”. The tool answered: “A”.')
    expect(
      (await post(emulator, '/chat/completions', chat('x', { model: 'emulated-wide', temperature: 2 }))).status,
    ).toBe(200)
  })

  test('unknown fields are rejected only with rejectUnknownFields', async () => {
    const strict = await startEmulator({ text: { rejectUnknownFields: true } })
    const codes = async (path: string, body: object) => (await post(strict, path, body)).json.error?.param
    expect(await codes('/chat/completions', chat('x', { vendor_field: 1 }))).toBe('vendor_field')
    expect(await codes('/responses', { model: MODEL, input: 'x', messages: [] })).toBe('messages')
    expect(await codes('/chat/completions', chat('x', { max_tokens: 5, seed: 1 }))).toBeUndefined()
    await strict.stop()
  })
})

describe('keys, paths and content types', () => {
  test('the key is checked first', async () => {
    for (const authorization of ['', 'Bearer', 'Bearer wrong', emulator.text.key, `Basic ${emulator.text.key}`]) {
      const { status, json } = await post(emulator, '/nowhere', {}, { authorization })
      expect([status, json.error.code]).toEqual([401, 'invalid_api_key'])
    }
    expect(
      (await post(emulator, '/chat/completions', chat('x'), { authorization: `bearer ${emulator.text.key}` })).status,
    ).toBe(200)
  })

  test('unknown paths, methods and content types get an error in the format of the API', async () => {
    const headers = { authorization: `Bearer ${emulator.text.key}` }
    const got = async (path: string, method = 'GET') => {
      const response = await fetch(emulator.text.url + path, { method, headers })
      return [response.status, response.headers.get('allow'), JSON.parse(await response.text()).error.code]
    }
    expect(await got('/moderations', 'POST')).toEqual([404, null, 'unknown_url'])
    expect(await got('')).toEqual([404, null, 'unknown_url'])
    expect(await got('/models/a/b')).toEqual([404, null, 'unknown_url'])
    expect(await got('/chat/completions')).toEqual([405, 'POST', 'method_not_supported'])
    expect(await got('/models', 'DELETE')).toEqual([405, 'GET', 'method_not_supported'])
    for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/jsonp']) {
      const { status, json } = await post(emulator, '/chat/completions', chat('x'), { 'content-type': type })
      expect([status, json.error.code]).toEqual([415, 'unsupported_content_type'])
    }
    const type = { 'content-type': 'application/json;charset=UTF-8' }
    expect((await post(emulator, '/chat/completions', chat('x'), type)).status).toBe(200)
  })

  test('models are listed, and found by percent-encoded ids', async () => {
    const client = clientOf(emulator)
    const { data } = await client.models.list()
    expect(data.map((model) => model.id)).toContain('emulated/odd name:v1')
    expect(data[0]).toEqual({ id: MODEL, object: 'model', created: expect.any(Number), owned_by: 'emulated' })
    expect(await client.models.retrieve('emulated/odd name:v1')).toMatchObject({ id: 'emulated/odd name:v1' })
    expect(await client.models.retrieve('nobody').catch((error) => error)).toBeInstanceOf(OpenAI.NotFoundError)
    expect(emulator.calls.at(-1)).toMatchObject({
      api: 'text',
      action: 'GetModel',
      path: '/v1/models/nobody',
      status: 404,
    })
  })

  test('the models option replaces the default models', async () => {
    const own = await startEmulator({ text: { models: [{ id: 'mine', chat: false }], key: 'k' } })
    expect((await clientOf(own).models.list()).data.map((model) => model.id)).toEqual(['mine'])
    expect((await post(own, '/chat/completions', chat('x', { model: 'mine' }))).json.error.code).toBe('unsupported_api')
    expect((await post(own, '/responses', { model: 'mine', input: 'x' })).status).toBe(200)
    await own.stop()
  })

  test('the official client maps the errors to its error classes', async () => {
    const client = clientOf(emulator)
    const create = (body: object, one = client) => one.chat.completions.create(body as never).catch((error) => error)
    expect(await create(chat('x', { temperature: 9 }))).toBeInstanceOf(OpenAI.BadRequestError)
    expect(await create(chat('x', { model: 'x' }))).toBeInstanceOf(OpenAI.NotFoundError)
    const unauthorized = await create(chat('x'), clientOf(emulator, { apiKey: 'x' }))
    expect(unauthorized).toBeInstanceOf(OpenAI.AuthenticationError)
    expect([unauthorized.code, unauthorized.requestID]).toEqual(['invalid_api_key', expect.stringMatching(/^req_/)])
  })
})

describe('rate limits and headers', () => {
  test('every response has headers for its id, the version, the processing time and the rate limits', async () => {
    const separate = await startEmulator({ clock: () => Date.UTC(2026, 0) })
    const { headers } = await post(separate, '/chat/completions', chat('x'))
    expect(Object.fromEntries([...headers].filter(([name]) => /^(x-|openai)/.test(name)))).toEqual({
      'x-request-id': expect.stringMatching(/^req_[0-9a-f]{24}$/),
      'openai-version': '2020-10-01',
      'openai-processing-ms': '0',
      'x-ratelimit-limit-requests': '10000',
      'x-ratelimit-remaining-requests': '9999',
      'x-ratelimit-reset-requests': '60000ms',
      'x-ratelimit-limit-tokens': '2000000',
      'x-ratelimit-remaining-tokens': expect.stringMatching(/^1999\d{3}$/),
      'x-ratelimit-reset-tokens': '60000ms',
    })
    expect((await post(separate, '/chat/completions', '{')).headers.get('x-request-id')).toStartWith('req_')
    await separate.stop()
  })

  test('calls above the limit per minute are rejected until the oldest call has left the window', async () => {
    let now = Date.UTC(2026, 0)
    const tight = await startEmulator({ clock: () => now, text: { requestsPerMinute: 2 } })
    const tried = () => post(tight, '/chat/completions', chat('x'))
    expect((await tried()).status).toBe(200)
    now += 20_500
    expect(
      (await post(tight, '/responses', { model: MODEL, input: 'x' })).headers.get('x-ratelimit-remaining-requests'),
    ).toBe('0')
    const rejected = await tried()
    expect([rejected.status, rejected.json.error.type, rejected.json.error.code]).toEqual([
      429,
      'requests',
      'rate_limit_exceeded',
    ])
    expect([rejected.headers.get('retry-after'), rejected.headers.get('retry-after-ms')]).toEqual(['40', '39500'])
    expect((await clientOf(tight).models.list()).data.length).toBeGreaterThan(1)
    now += 39_499
    expect((await tried()).status).toBe(429)
    now += 1
    expect((await tried()).status).toBe(200)
    now += 60_000
    const { headers } = await clientOf(tight).models.list().asResponse()
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('2')
    expect(headers.get('x-ratelimit-remaining-tokens')).toBe('2000000')
    await tight.stop()
  })

  test('invalid options are rejected at the start', async () => {
    await expect(startEmulator({ text: { msPerDelta: -1 } })).rejects.toThrow('text.msPerDelta must be a number from 0')
    await expect(startEmulator({ text: { requestsPerMinute: Number.NaN } })).rejects.toThrow('text.requestsPerMinute')
  })
})
