import { describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { settled, VirtualClock } from '../support/virtual-clock.ts'
import { chunk, streaming } from './fixture.ts'
import { hello, minimal, openMessages } from './messages-fixture.ts'

const user = (...content: readonly object[]) => ({ messages: [{ role: 'user', content }] })
const assistant = (...content: readonly object[]) => ({
  messages: [...minimal.messages, { role: 'assistant', content }, { role: 'user', content: 'and?' }],
})
const image = (source: object) => ({ type: 'image', source })
const webSearch = { type: 'web_search_20250305', name: 'web_search', max_uses: 8 }

describe('A request is rejected with the field that is wrong:', () => {
  const wrong: readonly (readonly [param: string, request: object])[] = [
    ['max_tokens is required', { max_tokens: undefined }],
    ['max_tokens must be', { max_tokens: 0 }],
    ['model must not be empty', { model: '' }],
    ['messages must be a non-empty array', { messages: [] }],
    ['messages[0].role', { messages: [{ role: 'tool', content: 'a' }] }],
    ['messages[0].content is required', { messages: [{ role: 'user' }] }],
    ['messages[0].content[0].type', user({ type: 'video', source: {} })],
    ['messages[0].content[0].text is required', user({ type: 'text' })],
    [
      'messages[0].content[1].source.url must be',
      user({ type: 'text', text: 'a' }, image({ type: 'url', url: 'file:///etc' })),
    ],
    ['messages[0].content[0].source.media_type', user(image({ type: 'base64', media_type: 'image/"', data: '' }))],
    ['messages[0].content[0].source.file_id names a file', user(image({ type: 'file', file_id: 'file-1' }))],
    [
      'messages[0].content[0].source.file_id names a file',
      user({ type: 'document', source: { type: 'file', file_id: 'f' } }),
    ],
    [
      'messages[0].content[0].source.type',
      user({ type: 'document', source: { type: 'url', url: 'https://a.invalid' } }),
    ],
    ['messages[0].content[0].file_id names a file', user({ type: 'container_upload', file_id: 'file-1' })],
    [
      'messages[1].content[0].input must be an object',
      assistant({ type: 'tool_use', id: 'a', name: 'b', input: '{}' }),
    ],
    ['messages[1].content[0].type', assistant({ type: 'image', source: {} })],
    ['container', { container: 'container-1' }],
    ['container', { container: { id: 'container-1' } }],
    ['thread', { thread: { id: 'thread-1' } }],
    ['inference_geo', { inference_geo: 'eu' }],
    ["tool_choice 'web_search' is a tool", { tools: [webSearch], tool_choice: { type: 'tool', name: 'web_search' } }],
    ["tool_choice 'any'", { tools: [webSearch], tool_choice: { type: 'any' } }],
    ['tools[0].input_schema is required', { tools: [{ name: 'a' }] }],
    ['tool_choice.type', { tools: [{ name: 'a', input_schema: {} }], tool_choice: { type: 'some' } }],
    ['temperature', { temperature: 1.5 }],
    ['top_p', { top_p: 2 }],
    ['stop_sequences[0]', { stop_sequences: [1] }],
    ['system[0].type', { system: [image({})] }],
    ['stream', { stream: 'yes' }],
    ['metadata', { metadata: 'ann' }],
    ['output_config.format.type', { output_config: { format: { type: 'grammar' } } }],
    ['thinking.budget_tokens', { thinking: { type: 'enabled', budget_tokens: 'many' } }],
  ]
  for (const [message, request] of wrong) {
    test(`${message} ${JSON.stringify(request).slice(0, 60)}`, async () => {
      const error = await openMessages().rejected(request)
      expect(error).toMatchObject({ status: 400, type: 'invalid_request_error' })
      expect(error.message).toStartWith(message)
    })
  }
})

describe('Tools that only Anthropic’s API runs', () => {
  const rejecting = () => openMessages(hello, { upstreams: [{ url: 'http://u.invalid/v1', hostedTools: 'reject' }] })
  const used = assistant(
    { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
    { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
    { type: 'text', text: 'found' },
  )
  const servers = { mcp_servers: [{ type: 'url', url: 'https://mcp.invalid', name: 'm' }] }

  test('are left out, and the response names them', async () => {
    const app = openMessages()
    const tools = [webSearch, { name: 'a', input_schema: {} }]
    const response = await app.post('/messages', {
      ...minimal,
      ...used,
      ...servers,
      tools,
      tool_choice: { type: 'any' },
    })
    expect(response.headers.get('x-dropped-tools')).toBe(
      'web_search_20250305, mcp, server_tool_use, web_search_tool_result',
    )
    const { tools: sent, tool_choice, messages } = app.asked[0]?.json ?? {}
    expect(sent).toMatchObject([{ function: { name: 'a' } }])
    expect(tool_choice).toBe('required')
    expect(messages[1]).toEqual({ role: 'assistant', content: 'found' })
  })

  test('are rejected when there are no other tools, unless the operator wants them left out', async () => {
    const { message } = await openMessages().rejected({ tools: [webSearch] })
    expect(message).toBe("tools[0].type 'web_search_20250305' is a tool that model m does not have")
    const app = openMessages(hello, { upstreams: [{ url: 'http://u.invalid/v1', hostedTools: 'drop' }] })
    const choice = { type: 'auto', disable_parallel_tool_use: true }
    await app.post('/messages', { ...minimal, tools: [webSearch], tool_choice: choice })
    expect(app.asked[0]?.json).not.toContainAnyKeys(['tools', 'tool_choice', 'parallel_tool_calls'])
  })

  test('are rejected where the operator wants that', async () => {
    const { rejected } = rejecting()
    const message = async (request: object) => (await rejected(request)).message
    expect(await message({ tools: [{ name: 'a', input_schema: {} }, webSearch] })).toStartWith(
      "tools[1].type 'web_search_2",
    )
    expect(await message(used)).toStartWith("messages[1].content[0].type 'server_tool_use' is a tool")
    expect(await message(servers)).toStartWith('mcp_servers')
  })
})

describe('Errors have the shape of Anthropic’s API', () => {
  const thrown = (app: ReturnType<typeof openMessages>, request: object = {}) =>
    app.client.messages.create({ ...minimal, ...request }).then(
      () => undefined,
      (error: unknown) => error,
    )

  test('errors of the upstream keep their status and Retry-After', async () => {
    const app = openMessages(() =>
      Response.json(
        { error: { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' } },
        { status: 429, headers: { 'retry-after': '7' } },
      ),
    )
    const error = (await thrown(app)) as InstanceType<typeof Anthropic.RateLimitError>
    expect(error).toBeInstanceOf(Anthropic.RateLimitError)
    expect(error.error as object).toEqual({
      type: 'error',
      error: { type: 'rate_limit_error', message: 'slow down' },
      request_id: null,
    })
    expect(error.headers.get('retry-after')).toBe('7')
  })

  const tooLong: readonly (readonly [string, object, string])[] = [
    [
      'OpenAI',
      {
        message:
          "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion).",
        code: 'context_length_exceeded',
      },
      '70000 tokens > 65536 maximum. This model',
    ],
    [
      'llama.cpp',
      {
        message: 'request (60031 tokens) exceeds the available context size (32768 tokens), try increasing it',
        type: 'exceed_context_size_error',
        code: 400,
      },
      '60031 tokens > 32768 maximum. request (',
    ],
    ['another server', { message: 'the input exceeds the context window' }, 'the input exceeds the context window'],
  ]
  for (const [server, upstreamError, message] of tooLong) {
    test(`agents recognize a too long input, as ${server} reports it`, async () => {
      const app = openMessages(() => Response.json({ error: upstreamError }, { status: 400 }))
      const expected = { status: 400, apiMessage: expect.stringContaining(`prompt is too long: ${message}`) }
      expect(await thrown(app)).toMatchObject(expected)
      const late = openMessages(() => streaming([chunk({ content: 'a' }), { error: upstreamError }]))
      const text = await (await late.post('/messages', { ...minimal, stream: true })).text()
      expect(text).toContain(`prompt is too long: ${message}`)
    })
  }

  test('a message about anything else stays', async () => {
    const error = { message: 'max_tokens is too large: 32000. This model supports at most 16384 completion tokens' }
    const app = openMessages(() => Response.json({ error }, { status: 400 }))
    expect(await thrown(app)).toMatchObject({ apiMessage: error.message })
  })

  test('are JSON, whatever type the upstream gives them', async () => {
    const problem = JSON.stringify({ title: 'x', detail: 'no' })
    const headers = { 'content-type': 'application/problem+json' }
    const app = openMessages(() => new Response(problem, { status: 400, headers }))
    const response = await app.post('/messages', minimal)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ type: 'error', error: { message: 'no' } })
  })

  test('a count is named only if it is above the limit', async () => {
    const message = 'The output of 4096 tokens exceeds the context length: it has 8192 tokens'
    const app = openMessages(() => Response.json({ error: { message } }, { status: 400 }))
    expect(await thrown(app)).toMatchObject({ apiMessage: `prompt is too long: ${message}` })
  })

  test('pages of proxies are not shown', async () => {
    const page = () => new Response('<html>nginx</html>', { status: 503, headers: { 'content-type': 'text/html' } })
    expect(await thrown(openMessages(page))).toMatchObject({
      status: 503,
      type: 'overloaded_error',
      apiMessage: 'upstream responded with status 503',
    })
  })

  test('a first event that is an error becomes an HTTP error', async () => {
    const app = openMessages(() => streaming([{ error: { message: 'too long', code: 'context_length_exceeded' } }]))
    for (const stream of [true, false])
      expect(await thrown(app, { stream })).toMatchObject({
        status: 400,
        type: 'invalid_request_error',
        apiMessage: 'prompt is too long: too long',
      })
  })

  test('those of the gateway itself: 401, 404, 405, 413 and 502', async () => {
    const app = openMessages(() => new Response('{}', { headers: { 'content-type': 'application/json' } }), {
      maxBodyBytes: 400,
    })
    const errors = await Promise.all(
      [
        app.ask('/messages', { method: 'POST', body: '{}' }),
        app.get('/messages/batches'),
        app.get('/messages'),
        app.get('/messages/count_tokens?beta=true'),
        app.post('/messages', { ...minimal, system: 'x'.repeat(400) }),
        app.post('/messages', minimal),
      ].map(async (response) => {
        const { status } = await response
        const { type, error } = (await (await response).json()) as { type: string; error: { type: string } }
        return [status, type, error.type]
      }),
    )
    expect(errors).toEqual([
      [401, 'error', 'authentication_error'],
      [404, 'error', 'not_found_error'],
      [405, 'error', 'invalid_request_error'],
      [405, 'error', 'invalid_request_error'],
      [413, 'error', 'request_too_large'],
      [502, 'error', 'api_error'],
    ])
  })

  test('other routes keep their shape', async () => {
    const response = await openMessages().get('/messages2')
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param: null } })
  })

  test('a host app can choose its own', async () => {
    const app = openMessages(hello, { errors: ({ status }) => ({ wrong: status }) })
    expect(await (await app.post('/messages', {})).json()).toEqual({ wrong: 400 })
  })
})

test('At the time limit a non-streaming call returns what there is, with complete tool calls only', async () => {
  const clock = new VirtualClock()
  const call = (index: number, args: string) => ({
    tool_calls: [{ index, id: `c${index}`, function: { name: `f${index}`, arguments: args } }],
  })
  const data = [
    chunk({ reasoning_content: 'hm' }),
    chunk({ content: 'a' }),
    chunk(call(0, '{}')),
    chunk(call(1, '{"x":')),
  ]
  const app = openMessages(({ signal }) => streaming(data, 'stall', signal), { clock })
  const answering = app.post('/messages', { ...minimal, thinking: { type: 'adaptive' } })
  for (let turn = 0; turn < 20; turn++) await settled()
  await clock.pass(200_000)
  const response = await answering
  expect(response.status).toBe(200)
  expect(response.headers.get('x-upstream-partialresponse')).toBe('true')
  expect(await response.json()).toMatchObject({
    type: 'message',
    stop_reason: 'max_tokens',
    content: [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'a' },
      { type: 'tool_use', name: 'f0' },
    ],
  })
  expect(app.usage.map(({ tokens }) => tokens)).toEqual([undefined])
  expect(clock.pending).toBe(0)
})
