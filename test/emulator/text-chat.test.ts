import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { chat, clientOf, dataOf, MODEL, post } from './text-client.ts'

let emulator: Emulator
let client: ReturnType<typeof clientOf>

beforeAll(async () => {
  emulator = await startEmulator({ clock: () => Date.UTC(2026, 0) })
  client = clientOf(emulator)
})
afterAll(() => emulator.stop())

const WEATHER = {
  type: 'function',
  function: {
    name: 'weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 3 }, why: { type: 'string' } },
      required: ['city', 'days'],
    },
  },
} as const
const TIME = { type: 'function', function: { name: 'time_of-day', parameters: { type: 'object' } } } as const
const user = (content: string) => [{ role: 'user' as const, content }]

describe('chat completions', () => {
  test('a completion quotes the last user message in several sentences', async () => {
    const messages = [
      ...[{ role: 'system' as const, content: 'Be brief.' }, ...user('first')],
      ...[{ role: 'assistant' as const, content: 'yes' }, ...user('你好 🌊 naïve')],
    ]
    const made = await client.chat.completions.create({ model: MODEL, messages })
    expect(made).toMatchObject({
      ...{ object: 'chat.completion', created: Date.UTC(2026, 0) / 1000, model: MODEL, service_tier: 'default' },
      choices: [{ index: 0, finish_reason: 'stop', logprobs: null, message: { role: 'assistant', refusal: null } }],
    })
    const content = made.choices[0]?.message.content ?? ''
    expect(content).toContain('“你好 🌊 naïve”')
    expect(content.split('. ').length).toBeGreaterThan(3)
    expect(content).toContain('👩‍👩‍👧')
  })

  test('the same request gets the same content with another id', async () => {
    const [one, two] = await Promise.all([
      post(emulator, '/chat/completions', chat('a', { seed: 7 })),
      post(emulator, '/chat/completions', chat('a', { seed: 7 })),
    ])
    expect(one.json.choices).toEqual(two.json.choices)
    expect(one.json.system_fingerprint).toBe(two.json.system_fingerprint)
    expect(one.json.id).not.toBe(two.json.id)
    const other = await post(emulator, '/chat/completions', chat('a', { seed: 8 }))
    expect(other.json.system_fingerprint).not.toBe(one.json.system_fingerprint)
  })

  const CASES: Readonly<Record<string, object>> = {
    'a text': chat('hello'),
    'a truncated text': chat('hello', { max_tokens: 9 }),
    'reasoning, then a text': chat('hello', { model: 'emulated-reasoner' }),
    'truncated reasoning': chat('hello', { model: 'emulated-reasoner', max_tokens: 5 }),
    'a refusal with log probabilities': chat('refuse to answer', { logprobs: true, top_logprobs: 2 }),
    'three choices with log probabilities': chat('hello', { n: 3, logprobs: true, top_logprobs: 2 }),
    'two parallel tool calls': chat('call weather and call time_of-day', { tools: [WEATHER, TIME] }),
    'tool calls of two choices': chat('call weather, call weather', { tools: [WEATHER], n: 2 }),
    'a truncated tool call': chat('call weather', { tools: [WEATHER], max_tokens: 4 }),
    'a custom tool': chat('call shell', { tools: [{ type: 'custom', custom: { name: 'shell' } }] }),
  }
  for (const [name, body] of Object.entries(CASES)) {
    test(`the chunks of a stream add up to the non-streaming response: ${name}`, async () => {
      const plain = (await post(emulator, '/chat/completions', body)).json
      const options = { stream: true, stream_options: { include_usage: true } }
      const { text } = await post(emulator, '/chat/completions', { ...body, ...options })
      const events = dataOf(text)
      expect(events.at(-1)).toBe('[DONE]')
      const chunks = events.slice(0, -1)
      const made = assembled(chunks)
      const bare = (choices: object) => JSON.parse(JSON.stringify(choices).replaceAll(/call_\w+/g, 'call'))
      expect(bare(made)).toEqual(bare(plain.choices))
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: plain.usage })
      expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null && chunk.choices.length === 1)).toBe(true)
      expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1)
      expect(plain.usage.completion_tokens).toBe(plain.usage.total_tokens - plain.usage.prompt_tokens)
    })
  }

  test('the helper of the official client assembles a stream', async () => {
    const streamed = await client.chat.completions
      .stream({ model: MODEL, messages: user('hi'), stream_options: { include_usage: true } })
      .finalChatCompletion()
    const plain = await client.chat.completions.create({ model: MODEL, messages: user('hi') })
    expect(streamed.choices[0]?.message.content).toBe(plain.choices[0]?.message.content ?? '')
    expect(streamed.usage).toEqual(plain.usage)
  })

  test('a stream has no usage unless the request includes it', async () => {
    const { text, headers } = await post(emulator, '/chat/completions', chat('hi', { stream: true }))
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(text).not.toContain('"usage"')
    expect(text).not.toContain('event:')
    expect(text).toEndWith('data: [DONE]\n\n')
  })

  test('prompt tokens exceed those of the text, and reasoning counts as output', async () => {
    const usage = async (body: object) => (await post(emulator, '/chat/completions', body)).json.usage
    const plain = await usage(chat('abcd abcd'))
    expect(plain.prompt_tokens).toBe(3 + 4 + 2)
    expect((await usage(chat('abcd abcd', { tools: [TIME] }))).prompt_tokens).toBeGreaterThan(9)
    const image = { type: 'image_url', image_url: { url: 'https://a.example/b.png' } }
    const seen = { role: 'user', content: [{ type: 'text', text: 'abcd abcd' }, image] }
    expect((await usage({ model: MODEL, messages: [seen] })).prompt_tokens).toBe(9 + 85)
    const thought = await usage(chat('abcd abcd', { reasoning_effort: 'high' }))
    const { reasoning_tokens } = thought.completion_tokens_details
    expect(reasoning_tokens).toBeGreaterThan(5)
    expect(thought.completion_tokens).toBe(plain.completion_tokens + reasoning_tokens)
  })

  test('max_tokens, the requested number of tokens, and stop end the text', async () => {
    const made = async (text: string, more: object) =>
      (await post(emulator, '/chat/completions', chat(text, more))).json
    const cut = await made('hello', { max_completion_tokens: 7 })
    expect([cut.choices[0].finish_reason, cut.usage.completion_tokens]).toEqual(['length', 7])
    const thoughtful = await made('hello', { max_tokens: 40, model: 'emulated-reasoner' })
    expect(thoughtful.choices[0].message.content).toStartWith('You wrote')
    expect([thoughtful.choices[0].finish_reason, thoughtful.usage.completion_tokens]).toEqual(['length', 40])
    const long = await made('write 500 tokens', {})
    expect([long.choices[0].finish_reason, long.usage.completion_tokens]).toEqual(['stop', 500])
    const unbounded = await made('write 5000 tokens', {})
    expect([unbounded.choices[0].finish_reason, unbounded.usage.completion_tokens]).toEqual(['length', 4096])
    const stopped = await made('hello', { stop: ['characters', 'wrote'] })
    expect([stopped.choices[0].finish_reason, stopped.choices[0].message.content]).toEqual(['stop', 'You '])
  })

  test('a tool call has the required arguments of its schema', async () => {
    const tools = [WEATHER, TIME]
    const made = await client.chat.completions.create({ model: MODEL, messages: user('please call weather'), tools })
    const [choice] = made.choices
    expect([choice?.finish_reason, choice?.message.content]).toEqual(['tool_calls', null])
    const [call] = choice?.message.tool_calls ?? []
    expect(call).toMatchObject({ type: 'function', function: { name: 'weather' } })
    const input = call?.type === 'function' ? JSON.parse(call.function.arguments) : {}
    expect(Object.keys(input)).toEqual(['city', 'days'])
    expect(input.days).toBeGreaterThanOrEqual(3)
  })

  test('deltas of parallel tool calls are interleaved', async () => {
    const body = chat('call weather, call weather', { tools: [WEATHER], stream: true })
    const { text } = await post(emulator, '/chat/completions', body)
    const turns = dataOf(text).flatMap(
      (chunk) => chunk.choices?.[0]?.delta.tool_calls?.map((one: Call) => one.index) ?? [],
    )
    expect(turns.slice(0, 6)).toEqual([0, 1, 0, 1, 0, 1])
  })

  test('tool_choice and parallel_tool_calls are respected', async () => {
    const names = async (text: string, more: object) => {
      const { json } = await post(emulator, '/chat/completions', chat(text, { tools: [WEATHER, TIME], ...more }))
      return json.choices[0].message.tool_calls?.map((call: Call) => call.function.name)
    }
    expect(await names('call weather', { tool_choice: 'none' })).toBeUndefined()
    expect(await names('hello', { tool_choice: 'required' })).toEqual(['weather'])
    const named = { type: 'function', function: { name: 'time_of-day' } }
    expect(await names('call weather', { tool_choice: named })).toEqual(['time_of-day'])
    expect(await names('call weather, call time_of-day', { parallel_tool_calls: false })).toEqual(['weather'])
    expect(await names('call nobody', {})).toBeUndefined()
  })

  test('the completion quotes the result of a tool', async () => {
    const tool = { name: 'weather', description: 'The weather.', parameters: { type: 'object' }, parse: JSON.parse }
    const runner = client.chat.completions.runTools({
      ...{ model: MODEL, messages: user('call weather') },
      tools: [{ type: 'function', function: { ...tool, function: () => 'rain ☔' } }],
    })
    expect(await runner.finalContent()).toContain('The tool answered: “rain ☔”.')
  })

  test('structured output satisfies its schema', async () => {
    const Answer = z.object({
      kind: z.enum(['a', 'b']),
      parts: z.array(z.object({ n: z.number().int().min(5), maybe: z.string().nullable(), yes: z.boolean() })),
    })
    const response_format = zodResponseFormat(Answer, 'answer')
    const made = await client.chat.completions.parse({ model: MODEL, messages: user('hi'), response_format })
    expect(made.choices[0]?.message.parsed).toEqual({
      ...{ kind: 'a', parts: [{ n: 5, maybe: expect.any(String), yes: true }] },
    })
    const { json } = await post(emulator, '/chat/completions', chat('hi', { response_format: { type: 'json_object' } }))
    expect(JSON.parse(json.choices[0].message.content)).toEqual({ answer: 'hi', characters: 2 })
  })

  test('log probabilities cover each token and the requested number of alternatives', async () => {
    const { json } = await post(emulator, '/chat/completions', chat('hi', { logprobs: true, top_logprobs: 3 }))
    const [{ logprobs, message }] = json.choices
    expect(logprobs.content.map((one: { token: string }) => one.token).join('')).toBe(message.content)
    for (const one of logprobs.content) {
      expect(one.logprob).toBeLessThanOrEqual(0)
      expect(Buffer.from(one.bytes).toString()).toBe(one.token)
      expect(one.top_logprobs.length).toBe(3)
    }
  })
})

interface Call {
  readonly index: number
  readonly function: { readonly name: string }
}

/** Assembles chunks: concatenates strings, and takes the last value of all other fields. */
// biome-ignore lint/suspicious/noExplicitAny: it must not know the forms that it puts together
const assembled = (chunks: readonly any[]) => {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const choices: any[] = []
  for (const { index, delta, logprobs, finish_reason } of chunks.flatMap((chunk) => chunk.choices)) {
    choices[index] ??= { index, message: {}, logprobs: null, finish_reason: null }
    const choice = choices[index]
    for (const [name, value] of Object.entries(delta)) {
      if (name !== 'tool_calls') choice.message[name] = joined(choice.message[name], value)
    }
    for (const { index: at, ...call } of delta.tool_calls ?? []) {
      choice.message.tool_calls ??= []
      choice.message.tool_calls[at] ??= {}
      const made = choice.message.tool_calls[at]
      const kind = call.function ? 'function' : 'custom'
      const named = { ...made[kind] }
      for (const [name, value] of Object.entries(call[kind])) named[name] = joined(named[name], value)
      Object.assign(made, call, { [kind]: named })
    }
    if (logprobs) {
      choice.logprobs ??= { content: null, refusal: null }
      for (const name of ['content', 'refusal'] as const) {
        if (logprobs[name]) choice.logprobs[name] = [...(choice.logprobs[name] ?? []), ...logprobs[name]]
      }
    }
    choice.finish_reason ??= finish_reason
  }
  return choices
}

const joined = (before: unknown, value: unknown) => {
  if (typeof value === 'string' && typeof before === 'string') return before + value
  return value === null ? (before ?? null) : value
}
