import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { chat, dataOf, MODEL, post } from './text-client.ts'

let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator()
})
afterAll(() => emulator.stop())

/** A completion, the models, or an error. */
interface ChatOnlyJson {
  readonly choices: readonly [{ readonly message: OpenAI.ChatCompletionMessage }]
  readonly data: readonly { readonly id: string }[]
}

/** Sends a request to the server that knows chat completions only. */
const call = async (method: string, path: string, body?: object) => {
  const response = await fetch(emulator.text.chatOnlyUrl + path, {
    method,
    headers: { authorization: `Bearer ${emulator.text.key}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  const text = await response.text()
  const json: ChatOnlyJson = JSON.parse(text.startsWith('{') ? text : '{}')
  return { status: response.status, allow: response.headers.get('allow'), text, json }
}

const TOOL = { type: 'function', function: { name: 'ls', description: 'lists', parameters: {}, strict: false } }

describe('the server that knows chat completions only', () => {
  test('has no other routes, and answers as web frameworks do', async () => {
    for (const [method, path] of [
      ['POST', '/responses'],
      ['GET', '/responses/resp_1'],
      ['POST', '/conversations'],
      ['GET', `/models/${MODEL}`],
      ['POST', '/elsewhere'],
    ] as const) {
      const { status, json } = await call(method, path, method === 'POST' ? { model: MODEL, input: 'x' } : undefined)
      expect<unknown>([path, status, json]).toEqual([path, 404, { detail: 'Not Found' }])
    }
    const wrong = await call('GET', '/chat/completions')
    expect<unknown>([wrong.status, wrong.allow, wrong.json]).toEqual([405, 'POST', { detail: 'Method Not Allowed' }])
    expect((await call('GET', '/models')).json.data.map(({ id }) => id)).toContain(MODEL)
    expect((await fetch(`${emulator.text.chatOnlyUrl}/models`)).status).toBe(401)
  })

  test('generates and streams, with tools and their results, and with reasoning', async () => {
    const body = chat('call ls', { tools: [TOOL], max_tokens: 200, model: 'emulated-reasoner' })
    const { message } = (await call('POST', '/chat/completions', body)).json.choices[0]
    expect(message).toMatchObject({ tool_calls: [{ type: 'function', function: { name: 'ls' } }] })
    const { refusal: _, ...sent } = message
    const result = { role: 'tool', tool_call_id: message.tool_calls?.[0]?.id, content: 'a.txt' }
    const messages = [...body.messages, sent, result]
    const stream = await call('POST', '/chat/completions', { ...body, messages, stream: true })
    const deltas = dataOf(stream.text).flatMap((chunk) => chunk.choices?.[0]?.delta ?? [])
    expect(deltas.map(({ content }) => content ?? '').join('')).toContain('The tool answered: “a.txt”')
    expect(deltas.map(({ reasoning_content }) => reasoning_content ?? '').join('')).toContain('Let me think')
  })

  for (const [name, more, error] of [
    ['a field of newer APIs', { store: false }, 'Unrecognized request argument supplied: store'],
    ['a field of no API', { client_metadata: {} }, 'Unrecognized request argument supplied: client_metadata'],
    [
      'a custom tool',
      { tools: [TOOL, { type: 'custom', custom: { name: 'x' } }] },
      "'custom' is not one of ['function'] - 'tools.1.type'",
    ],
    [
      'an unknown field of a tool',
      { tools: [{ ...TOOL, function: { ...TOOL.function, defer_loading: true } }] },
      "Additional properties are not allowed ('defer_loading' was unexpected) - 'tools.0.function'",
    ],
    [
      'the role developer',
      { messages: [{ role: 'developer', content: 'x' }] },
      "'developer' is not one of ['system', 'user', 'assistant', 'tool'] - 'messages.0.role'",
    ],
    [
      'an unknown field of a message',
      { messages: [{ role: 'user', content: 'x', phase: 'y' }] },
      "Additional properties are not allowed ('phase' was unexpected) - 'messages.0'",
    ],
    [
      'a content part of the Responses API',
      { messages: [{ role: 'user', content: [{ type: 'input_text', text: 'x' }] }] },
      "'input_text' is not one of ['text', 'image_url'] - 'messages.0.content.0.type'",
    ],
    [
      'a call of a custom tool',
      { messages: [{ role: 'assistant', content: null, tool_calls: [{ type: 'custom' }] }] },
      "'custom' is not one of ['function'] - 'messages.0.tool_calls.0.type'",
    ],
  ] as const) {
    test(`rejects ${name}`, async () => {
      const { status, json } = await call('POST', '/chat/completions', { ...chat('x'), ...more })
      expect<unknown>([status, json]).toEqual([
        400,
        { error: { message: error, type: 'invalid_request_error', param: null, code: null } },
      ])
    })
  }
})

describe('models of different servers', () => {
  const send = (model: string, more: object) => post(emulator, '/chat/completions', chat('x', { model, ...more }))

  test('one wants max_tokens, another max_completion_tokens', async () => {
    for (const [model, right, wrong] of [
      ['emulated-max-tokens', 'max_tokens', 'max_completion_tokens'],
      ['emulated-max-completion-tokens', 'max_completion_tokens', 'max_tokens'],
    ] as const) {
      expect((await send(model, { [right]: 3 })).json.usage.completion_tokens).toBe(3)
      const rejected = await send(model, { [wrong]: 3 })
      const message = `Unsupported parameter: '${wrong}' is not supported with this model. Use '${right}' instead.`
      expect([rejected.status, rejected.json.error]).toEqual([
        400,
        { message, type: 'invalid_request_error', param: wrong, code: 'unsupported_parameter' },
      ])
    }
  })

  test('one names its reasoning reasoning_content, another reasoning', async () => {
    for (const [model, field] of [
      ['emulated-reasoner', 'reasoning_content'],
      ['emulated-reasoning-field', 'reasoning'],
    ] as const) {
      const { message } = (await send(model, {})).json.choices[0]
      expect(message[field]).toContain('Let me think')
      const chunks = dataOf((await send(model, { stream: true })).text)
      const streamed = chunks.map((chunk) => chunk.choices?.[0]?.delta[field] ?? '').join('')
      expect(streamed).toBe(message[field])
    }
  })
})
