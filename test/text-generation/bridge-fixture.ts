import OpenAI from 'openai'
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { readJson } from '../../plugins/shared/json/json.ts'
import {
  createStreamTranslator,
  readResponseSettings,
  type StreamTranslator,
} from '../../plugins/text-generation/bridge/response/stream-translator.ts'
import { toChatRequest } from './in-one-step.ts'

export type Chunk = Record<string, unknown>

/** A chunk with one choice. */
export const chunk = (delta: object, choice: object = {}, rest: object = {}): Chunk => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm-2026',
  choices: [{ index: 0, delta, finish_reason: null, ...choice }],
  ...rest,
})

export const finish = (reason: string): Chunk => chunk({}, { finish_reason: reason })

export const usageChunk: Chunk = {
  ...chunk({}),
  choices: [],
  usage: {
    prompt_tokens: 11,
    completion_tokens: 7,
    total_tokens: 18,
    prompt_tokens_details: { cached_tokens: 3, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 2 },
  },
}

/** A delta of a function call. */
export const toolDelta = (index: number | undefined, fields: object, id?: string): Chunk =>
  chunk({ tool_calls: [{ index, id, ...(id ? { type: 'function' } : {}), function: fields }] })

export const token = (text: string) => ({
  token: text,
  logprob: -0.5,
  bytes: text === 'y' ? null : [...new TextEncoder().encode(text)],
  top_logprobs: [{ token: text, logprob: -0.5, bytes: [1] }],
})

/** Members of a request beside model and input, or the text of a complete request. */
export type Request = object | string

export const newBridge = (request: Request = {}): StreamTranslator => {
  let made = 0
  const json = readJson(typeof request === 'string' ? request : JSON.stringify({ model: 'm', input: 'hi', ...request }))
  return createStreamTranslator({
    settings: readResponseSettings(json),
    toolOf: toChatRequest(json).tools.toolOf,
    sealReasoning: (text) => `sealed ${text}`,
    clock: { now: () => 1_700_000_000_900 },
    newId: (prefix) => `${prefix}${++made}`,
  })
}

export const dataOf = (value: unknown) => ({ type: 'message', data: JSON.stringify(value) })

/** The events of a bridged chat stream, as text. */
export const bridge = (chunks: readonly unknown[], request: Request = {}): string => {
  const bridge = newBridge(request)
  return chunks.map((each) => bridge.push(dataOf(each))).join('') + bridge.end()
}

export const eventsIn = (text: string): ResponseStreamEvent[] =>
  text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const [name, data, ...more] = event.split('\n')
      const value = JSON.parse((data ?? '').slice('data: '.length))
      if (name !== `event: ${value.type}` || more.length > 0) throw new Error(`not an event: ${event}`)
      return value
    })

/** The events between `response.in_progress` and the end, without sequence numbers. */
export const between = (chunks: readonly Chunk[]): { readonly type: string }[] =>
  eventsIn(bridge(chunks))
    .slice(2, -1)
    .map((event) => {
      const { sequence_number: _, ...rest } = event
      return rest
    })

export const last = (chunks: readonly unknown[], request: object = {}) => {
  const event = eventsIn(bridge(chunks, request)).at(-1)
  if (!event || !('response' in event)) throw new Error('no terminal event')
  return event.response
}

/** OpenAI's client with a stream of this text. */
export const clientOf = (text: string): OpenAI =>
  new OpenAI({
    apiKey: 'sk-test',
    baseURL: 'http://nowhere.invalid/v1',
    maxRetries: 0,
    fetch: async () =>
      new Response(`${text}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } }),
  })

/** Tools whose arguments OpenAI's client parses. */
export const tools = [
  { type: 'function' as const, name: 'weather', parameters: { type: 'object' }, strict: false },
  { type: 'function' as const, name: 'time', parameters: { type: 'object' }, strict: false },
  { type: 'custom' as const, name: 'sql' },
]

export const chatOf = (request: object) =>
  toChatRequest(readJson(JSON.stringify({ model: 'm', input: 'hi', ...request }))).json.value() as Record<
    string,
    unknown
  >

/** A test case: what is given, and what becomes of it. */
export type Row = readonly [name: string, from: unknown, to: unknown]

export interface Stream {
  readonly name: string
  readonly chunks: readonly Chunk[]
  /** The item types of the response. */
  readonly items: readonly string[]
  readonly status?: 'incomplete'
  readonly text?: string
}

const role = chunk({ role: 'assistant', content: '' })

/** Chat streams of upstreams. */
export const streams: readonly Stream[] = [
  {
    name: 'text',
    chunks: [role, chunk({ content: 'Hello ' }), chunk({ content: 'wörld 😀' }), finish('stop'), usageChunk],
    items: ['message'],
    text: 'Hello wörld 😀',
  },
  {
    name: 'text without usage',
    chunks: [role, chunk({ content: 'hi' }), finish('stop')],
    items: ['message'],
    text: 'hi',
  },
  {
    name: 'usage on every chunk',
    chunks: [
      chunk({ content: 'hi' }, {}, { usage: { prompt_tokens: 5 } }),
      { ...finish('stop'), usage: usageChunk.usage },
    ],
    items: ['message'],
    text: 'hi',
  },
  {
    name: 'reasoning before text, and both in one chunk',
    chunks: [
      role,
      chunk({ reasoning_content: 'Let me ' }),
      chunk({ reasoning_content: 'think.', content: 'It ' }),
      chunk({ content: 'is 4.', reasoning_content: null }),
      finish('stop'),
      usageChunk,
    ],
    items: ['reasoning', 'message'],
    text: 'It is 4.',
  },
  {
    name: 'reasoning under its other name, before a call',
    chunks: [
      chunk({ reasoning: 'hm' }),
      toolDelta(0, { name: 'weather', arguments: '{}' }, 'call_a'),
      finish('tool_calls'),
    ],
    items: ['reasoning', 'function_call'],
  },
  {
    name: 'reasoning that goes on after the text',
    chunks: [
      chunk({ reasoning: 'a' }),
      chunk({ content: 'x' }),
      chunk({ reasoning: 'b' }),
      chunk({ content: 'y' }),
      finish('stop'),
    ],
    items: ['reasoning', 'message', 'reasoning'],
    text: 'xy',
  },
  {
    name: 'a refusal after some text',
    chunks: [
      chunk({ content: 'Hm. ' }),
      chunk({ refusal: 'I ' }),
      chunk({ refusal: 'will not.' }),
      finish('stop'),
      usageChunk,
    ],
    items: ['message'],
    text: 'Hm. ',
  },
  {
    name: 'parallel calls, interleaved',
    chunks: [
      chunk({ content: 'Looking.' }),
      toolDelta(0, { name: 'weather', arguments: '' }, 'call_a'),
      toolDelta(1, { name: 'time', arguments: '' }, 'call_b'),
      toolDelta(0, { arguments: '{"city":' }),
      toolDelta(1, { arguments: '{"zone"' }),
      toolDelta(0, { arguments: '"Rome"}' }),
      toolDelta(1, { name: '', arguments: ':"CET"}' }),
      finish('tool_calls'),
      usageChunk,
    ],
    items: ['message', 'function_call', 'function_call'],
    text: 'Looking.',
  },
  {
    name: 'calls without index, separated by id',
    chunks: [
      toolDelta(undefined, { name: 'weather', arguments: '{"city"' }, 'call_a'),
      toolDelta(undefined, { arguments: ':"Rome"}' }),
      toolDelta(undefined, { name: 'time', arguments: '{"zone"' }, 'call_b'),
      toolDelta(undefined, { arguments: ':"CET"}' }, 'call_b'),
      finish('tool_calls'),
    ],
    items: ['function_call', 'function_call'],
  },
  {
    name: 'complete calls that all have index 0',
    chunks: [
      toolDelta(0, { name: 'weather', arguments: '{"city":"Rome"}' }, 'call_a'),
      toolDelta(0, { name: 'time', arguments: '{"zone":"CET"}' }, 'call_b'),
      finish('tool_calls'),
    ],
    items: ['function_call', 'function_call'],
  },
  {
    name: 'calls without ids, or with one id for two',
    chunks: [
      toolDelta(0, { name: 'weather', arguments: '{"city":"Rome"}' }),
      toolDelta(1, { name: 'time', arguments: '{}' }, 'call_a'),
      toolDelta(2, { name: 'time', arguments: '{}' }, 'call_a'),
      finish('tool_calls'),
    ],
    items: ['function_call', 'function_call', 'function_call'],
  },
  {
    name: 'a deprecated function_call',
    chunks: [
      chunk({ function_call: { name: 'weather', arguments: '{"city":' } }),
      chunk({ function_call: { arguments: '"Rome"}' } }),
      finish('function_call'),
    ],
    items: ['function_call'],
  },
  {
    name: 'a custom call',
    chunks: [
      chunk({ tool_calls: [{ index: 0, id: 'call_c', type: 'custom', custom: { name: 'sql', input: 'select ' } }] }),
      chunk({ tool_calls: [{ index: 0, custom: { input: '1' } }] }),
      finish('tool_calls'),
      usageChunk,
    ],
    items: ['custom_tool_call'],
  },
  {
    name: 'text truncated by a limit',
    chunks: [chunk({ content: 'Once upon' }), finish('length'), usageChunk],
    items: ['message'],
    status: 'incomplete',
    text: 'Once upon',
  },
  {
    name: 'a call truncated by a limit',
    chunks: [
      chunk({ content: 'Looking.' }),
      toolDelta(0, { name: 'weather', arguments: '{"city":"Rome"}' }, 'call_a'),
      toolDelta(1, { name: 'time', arguments: '{"zo' }, 'call_b'),
      finish('length'),
    ],
    items: ['message', 'function_call', 'function_call'],
    status: 'incomplete',
    text: 'Looking.',
  },
  {
    name: 'reasoning truncated by a limit',
    chunks: [chunk({ reasoning_content: 'Let me' }), finish('length')],
    items: ['reasoning'],
    status: 'incomplete',
  },
  {
    name: 'text stopped by a filter',
    chunks: [chunk({ content: 'The way to' }), finish('content_filter')],
    items: ['message'],
    status: 'incomplete',
    text: 'The way to',
  },
  {
    name: 'no content, stopped by a filter',
    chunks: [role, finish('content_filter')],
    items: [],
    status: 'incomplete',
  },
  { name: 'an empty completion', chunks: [role, finish('stop'), usageChunk], items: ['message'], text: '' },
  {
    name: 'logprobs and annotations',
    chunks: [
      chunk({ content: '' }, { logprobs: { content: [token('')], refusal: null } }),
      chunk({ content: 'x' }, { logprobs: { content: [token('x')], refusal: null } }),
      chunk({ content: '' }, { logprobs: { content: [token('y')] } }),
      chunk({ content: 'z' }, { logprobs: { content: [token('z')] } }),
      chunk({
        annotations: [
          { type: 'url_citation', url_citation: { url: 'https://a', title: 'A', start_index: 0, end_index: 1 } },
          { type: 'url_citation', url: 'https://b', title: 'B', start_index: 1, end_index: 2 },
          { type: 'file', file: {} },
        ],
      }),
      finish('stop'),
      usageChunk,
    ],
    items: ['message'],
    text: 'xz',
  },
]
