import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { StreamError } from '../../plugins/text-generation/assembly.ts'
import type { ItemEvent } from '../../plugins/text-generation/bridge/events.ts'
import {
  bridge,
  type Chunk,
  chunk,
  dataOf,
  eventsIn,
  finish,
  newBridge,
  streams,
  token,
  toolDelta,
  usageChunk,
} from './bridging.ts'

/** A compile-time test: the bridge's item types are those of OpenAI's client. */
export const asClientEvent = (event: ItemEvent & { sequence_number: number }): ResponseStreamEvent => event

/** The events between `response.in_progress` and the end, without sequence numbers. */
const between = (chunks: readonly Chunk[]): { readonly type: string }[] =>
  eventsIn(bridge(chunks))
    .slice(2, -1)
    .map((event) => {
      const { sequence_number: _, ...rest } = event
      return rest
    })

const last = (chunks: readonly unknown[], request: object = {}) => {
  const event = eventsIn(bridge(chunks, request)).at(-1)
  if (!event || !('response' in event)) throw new Error('no terminal event')
  return event.response
}

describe('the events of an item are complete and in order', () => {
  test('text', () => {
    const at = { item_id: 'msg_2', output_index: 0, content_index: 0 }
    const message = { type: 'message', id: 'msg_2', role: 'assistant' }
    const part = { type: 'output_text', text: 'hello', annotations: [], logprobs: [] }
    expect(
      between([
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'hel' }),
        chunk({ content: 'lo' }),
        finish('stop'),
      ]),
    ).toEqual([
      { type: 'response.output_item.added', output_index: 0, item: { ...message, status: 'in_progress', content: [] } },
      { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
      { type: 'response.output_text.delta', ...at, delta: 'hel', logprobs: [] },
      { type: 'response.output_text.delta', ...at, delta: 'lo', logprobs: [] },
      { type: 'response.output_text.done', ...at, text: 'hello', logprobs: [] },
      { type: 'response.content_part.done', ...at, part },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...message, status: 'completed', content: [part] },
      },
    ] as never)
  })

  test('reasoning ends before the text begins', () => {
    const at = { item_id: 'rs_2', output_index: 0, content_index: 0 }
    const item = { type: 'reasoning', id: 'rs_2', summary: [] }
    const part = { type: 'reasoning_text', text: 'so' }
    expect(
      between([
        chunk({ reasoning_content: 's' }),
        chunk({ reasoning_content: 'o', content: 'x' }),
        finish('stop'),
      ]).slice(0, 8),
    ).toEqual([
      { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
      { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
      { type: 'response.reasoning_text.delta', ...at, delta: 's' },
      { type: 'response.reasoning_text.delta', ...at, delta: 'o' },
      { type: 'response.reasoning_text.done', ...at, text: 'so' },
      { type: 'response.content_part.done', ...at, part },
      { type: 'response.output_item.done', output_index: 0, item: { ...item, status: 'completed', content: [part] } },
      expect.objectContaining({ type: 'response.output_item.added', output_index: 1 }),
    ] as never)
  })

  test('reasoning ends before a call begins', () => {
    const order = (delta: object) =>
      between([chunk({ reasoning: 'hm' }), chunk(delta), finish('tool_calls')])
        .map(({ type }) => type)
        .slice(5, 7)
    for (const delta of [
      { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] },
      { function_call: { name: 'f', arguments: '{}' } },
    ])
      expect(order(delta)).toEqual(['response.output_item.done', 'response.output_item.added'])
  })

  test('a refusal', () => {
    const at = { item_id: 'msg_2', output_index: 0, content_index: 0 }
    expect(between([chunk({ refusal: 'no' }), finish('stop')]).slice(1, -1)).toEqual([
      { type: 'response.content_part.added', ...at, part: { type: 'refusal', refusal: '' } },
      { type: 'response.refusal.delta', ...at, delta: 'no' },
      { type: 'response.refusal.done', ...at, refusal: 'no' },
      { type: 'response.content_part.done', ...at, part: { type: 'refusal', refusal: 'no' } },
    ] as never)
  })

  test('parallel calls with separate deltas', () => {
    const chunks = [
      toolDelta(0, { name: 'f', arguments: '' }, 'a'),
      toolDelta(1, { name: 'g', arguments: '' }, 'b'),
      toolDelta(0, { arguments: '[1' }),
      toolDelta(1, { arguments: '[2' }),
      toolDelta(0, { arguments: ']' }),
      toolDelta(1, { arguments: ']' }),
      finish('tool_calls'),
    ]
    const one = { item_id: 'fc_2', output_index: 0 }
    const two = { item_id: 'fc_3', output_index: 1 }
    const item = { type: 'function_call', status: 'in_progress', arguments: '' }
    const f = { ...item, id: 'fc_2', call_id: 'a', name: 'f' }
    const g = { ...item, id: 'fc_3', call_id: 'b', name: 'g' }
    const delta = 'response.function_call_arguments.delta'
    expect(between(chunks)).toEqual([
      { type: 'response.output_item.added', output_index: 0, item: f },
      { type: 'response.output_item.added', output_index: 1, item: g },
      { type: delta, ...one, delta: '[1' },
      { type: delta, ...two, delta: '[2' },
      { type: delta, ...one, delta: ']' },
      { type: delta, ...two, delta: ']' },
      { type: 'response.function_call_arguments.done', ...one, name: 'f', arguments: '[1]' },
      { type: 'response.output_item.done', output_index: 0, item: { ...f, status: 'completed', arguments: '[1]' } },
      { type: 'response.function_call_arguments.done', ...two, name: 'g', arguments: '[2]' },
      { type: 'response.output_item.done', output_index: 1, item: { ...g, status: 'completed', arguments: '[2]' } },
    ] as never)
  })

  test('a custom call', () => {
    const at = { item_id: 'ctc_2', output_index: 0 }
    const item = { type: 'custom_tool_call', id: 'ctc_2', call_id: 'c', name: 'sql' }
    const chunks = [
      chunk({ tool_calls: [{ index: 0, id: 'c', type: 'custom', custom: { name: 'sql', input: '' } }] }),
      chunk({ tool_calls: [{ index: 0, custom: { input: 'x' } }] }),
      finish('tool_calls'),
    ]
    expect(between(chunks)).toEqual([
      { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', input: '' } },
      { type: 'response.custom_tool_call_input.delta', ...at, delta: 'x' },
      { type: 'response.custom_tool_call_input.done', ...at, input: 'x' },
      { type: 'response.output_item.done', output_index: 0, item: { ...item, status: 'completed', input: 'x' } },
    ] as never)
  })

  test('sources', () => {
    const citation = { url: 'https://a', title: 'A', start_index: 0, end_index: 1 }
    const annotation = { type: 'url_citation', ...citation }
    const events = between([
      chunk({ content: 'x', annotations: [{ type: 'url_citation', url_citation: citation }] }),
      finish('stop'),
    ])
    expect(events).toContainEqual({
      type: 'response.output_text.annotation.added',
      item_id: 'msg_2',
      output_index: 0,
      content_index: 0,
      annotation_index: 0,
      annotation,
    } as never)
  })
})

describe('every stream', () => {
  for (const { name, chunks, items, status = 'completed' } of streams) {
    const events = eventsIn(bridge(chunks))

    test(`is numbered from 0 without gaps: ${name}`, () => {
      expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, nth) => nth))
    })

    test(`begins and ends with the events of the protocol: ${name}`, () => {
      expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress'])
      expect(events.at(-1)?.type).toBe(`response.${status}`)
      expect(last(chunks)).toMatchObject({ status, id: 'resp_1' })
      expect(last(chunks).output.map(({ type }) => type)).toEqual(items as never)
    })

    test(`closes each item once, with a stable id, as in the final response: ${name}`, () => {
      const added = events.filter((event) => event.type === 'response.output_item.added')
      const done = events.filter((event) => event.type === 'response.output_item.done')
      expect(added.map(({ output_index }) => output_index)).toEqual(items.map((_, nth) => nth))
      expect(done.length).toBe(items.length)
      for (const { item, output_index } of done) {
        expect(item).toEqual(last(chunks).output[output_index] as never)
        expect(item.id).toBe(added[output_index]?.item.id as never)
        if (item.type === 'function_call') expect(item.id).not.toBe(item.call_id as never)
      }
      for (const event of events)
        if ('item_id' in event && 'output_index' in event)
          expect(event.item_id).toBe(added[event.output_index]?.item.id ?? '')
    })
  }
})

describe('tool calls', () => {
  const callsOf = (chunks: readonly Chunk[]) =>
    last([...chunks, finish('tool_calls')]).output.map((item) =>
      item.type === 'function_call' ? [item.call_id, item.name, item.arguments, item.status] : item.type,
    )

  test('without index are separated by id, or continue the last call', () => {
    const chunks = [
      toolDelta(undefined, { name: 'f', arguments: '{' }, 'a'),
      toolDelta(undefined, { arguments: '}' }),
      toolDelta(undefined, { name: 'g', arguments: '[' }, 'b'),
      toolDelta(undefined, { arguments: ' ' }, 'a'),
      toolDelta(undefined, { arguments: ']' }, 'b'),
    ]
    expect(callsOf(chunks)).toEqual([
      ['a', 'f', '{} ', 'completed'],
      ['b', 'g', '[]', 'completed'],
    ])
  })

  test('that all have index 0 are separated by id, name and complete arguments', () => {
    const chunks = [
      toolDelta(0, { name: 'f', arguments: '{}' }, 'a'),
      toolDelta(0, { name: 'f', arguments: '[]' }, 'b'),
    ]
    expect(callsOf(chunks)).toEqual([
      ['a', 'f', '{}', 'completed'],
      ['b', 'f', '[]', 'completed'],
    ])
  })

  test('without index and id are separated by name and complete arguments', () => {
    const chunks = [
      chunk({
        tool_calls: [{ function: { name: 'f', arguments: '{}' } }, { function: { name: 'g', arguments: '[' } }],
      }),
      toolDelta(undefined, { arguments: ']' }),
    ]
    expect(callsOf(chunks)).toEqual([
      ['call_2', 'f', '{}', 'completed'],
      ['call_4', 'g', '[]', 'completed'],
    ])
  })

  test('without index accept a late id', () => {
    const chunks = [toolDelta(undefined, { name: 'f' }), toolDelta(undefined, { arguments: '{}' }, 'a')]
    expect(callsOf(chunks)).toEqual([['a', 'f', '{}', 'completed']])
  })

  test('are identified by index when each delta has another id', () => {
    const chunks = [toolDelta(0, { name: 'f', arguments: '{' }, 'a'), toolDelta(0, { name: 'f', arguments: '}' }, 'b')]
    expect(callsOf(chunks)).toEqual([['a', 'f', '{}', 'completed']])
  })

  test('get a generated id when the upstream’s id is missing or duplicate', () => {
    const chunks = [
      toolDelta(0, { name: 'f', arguments: '1' }),
      toolDelta(1, { name: 'g', arguments: '2' }, 'a'),
      toolDelta(2, { name: 'h', arguments: '3' }, 'a'),
    ]
    expect(callsOf(chunks)).toEqual([
      ['call_2', 'f', '1', 'completed'],
      ['a', 'g', '2', 'completed'],
      ['call_5', 'h', '3', 'completed'],
    ])
  })

  test('are announced once name and id are known', () => {
    const chunks = [
      toolDelta(0, { arguments: '{' }),
      toolDelta(0, { name: 'f' }, 'a'),
      toolDelta(0, { name: '', arguments: '}' }),
    ]
    expect(callsOf(chunks)).toEqual([['a', 'f', '{}', 'completed']])
    expect(callsOf([toolDelta(0, { name: 'f' }), toolDelta(0, {}, 'a')])).toEqual([['a', 'f', '{}', 'completed']])
  })

  test('without arguments are complete', () => {
    expect(callsOf([toolDelta(0, { name: 'f' }, 'a')])).toEqual([['a', 'f', '{}', 'completed']])
  })

  test('with an object as arguments have it as text', () => {
    expect(callsOf([toolDelta(0, { name: 'f', arguments: { a: 1 } }, 'a')])).toEqual([
      ['a', 'f', '{"a":1}', 'completed'],
    ])
  })

  test('are limited to 128', () => {
    const bridge = newBridge()
    const push = (index: number) => bridge.push(dataOf(toolDelta(index, { name: 'f', arguments: '' }, `c${index}`)))
    for (let index = 0; index < 128; index++) push(index)
    expect(() => push(128)).toThrow(StreamError)
  })
})

describe('an incomplete completion', () => {
  test('has the reason', () => {
    expect(last([chunk({ content: 'x' }), finish('length')]).incomplete_details).toEqual({
      reason: 'max_output_tokens',
    })
    expect(last([chunk({ content: 'x' }), finish('content_filter')]).incomplete_details).toEqual({
      reason: 'content_filter',
    })
  })

  test('marks the incomplete item, also a partial call', () => {
    const statuses = (chunks: readonly Chunk[]) =>
      last([...chunks, finish('length')]).output.map((item) => ('status' in item ? item.status : undefined))
    const half = toolDelta(0, { name: 'f', arguments: '{"a' }, 'a')
    const whole = toolDelta(1, { name: 'g', arguments: '{}' }, 'b')
    expect(statuses([chunk({ content: 'x' })])).toEqual(['incomplete'])
    expect(statuses([chunk({ reasoning: 'x' }), chunk({ content: 'x' })])).toEqual(['completed', 'incomplete'])
    expect(statuses([chunk({ content: 'x' }), whole, half])).toEqual(['completed', 'completed', 'incomplete'])
    expect(statuses([half, whole])).toEqual(['incomplete', 'incomplete'])
  })
})

describe('the response', () => {
  test('has the usage in the format of responses, with every count', () => {
    expect(last([chunk({ content: 'x' }), finish('stop'), usageChunk]).usage).toEqual({
      input_tokens: 11,
      input_tokens_details: { cached_tokens: 3, cache_write_tokens: 0 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 18,
    })
    expect(last([finish('stop'), { usage: { prompt_tokens: 1, completion_tokens: 2 } }]).usage).toEqual({
      input_tokens: 1,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 2,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 3,
    })
  })

  test('has the last usage, or null', () => {
    const some = { usage: { prompt_tokens: 1, completion_tokens: 2 } }
    expect(last([some, usageChunk, { usage: null }, { usage: {} }, finish('stop')]).usage?.total_tokens).toBe(18)
    expect(last([chunk({ content: 'x' }), finish('stop')]).usage).toBeNull()
    const bridge = newBridge()
    expect(bridge.usage).toBeUndefined()
    bridge.push(dataOf(usageChunk))
    expect(bridge.usage).toMatchObject({ input_tokens: 11 })
  })

  test('repeats the request, with defaults for absent members', () => {
    const { output: _, ...response } = last([finish('stop')])
    expect(response).toEqual({
      id: 'resp_1',
      object: 'response',
      created_at: 1_700_000_000,
      status: 'completed',
      background: false,
      completed_at: 1_700_000_000,
      error: null,
      incomplete_details: null,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      metadata: {},
      model: 'm-2026',
      parallel_tool_calls: true,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      service_tier: 'auto',
      store: false,
      temperature: 1,
      text: { format: { type: 'text' }, verbosity: 'medium' },
      tool_choice: 'auto',
      tools: [],
      top_logprobs: 0,
      top_p: 1,
      truncation: 'disabled',
      usage: null,
    } as never)
    const said = {
      instructions: 'be kind',
      max_output_tokens: 9,
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      reasoning: { effort: 'low', summary: null },
      temperature: 0,
      text: { format: { type: 'json_object' }, verbosity: 'medium' },
      tool_choice: { type: 'function', name: 'f' },
      tools: [{ type: 'function', name: 'f', description: null, parameters: {}, strict: null }],
      top_p: 0.5,
      user: 'u',
    }
    expect(last([finish('stop')], said)).toMatchObject(said as never)
  })

  test('keeps the text of numbers of caller and upstream', () => {
    const request = '{"model":"m","input":"hi","temperature":1.0,"metadata":{"a":12345678901234567890}}'
    const bridge = newBridge(request)
    const text = bridge.push({ type: 'message', data: '{"usage":{"prompt_tokens":1.50,"completion_tokens":2}}' })
    expect(text).toContain('"temperature":1.0,')
    expect(text).toContain('"metadata":{"a":12345678901234567890}')
    expect(bridge.end()).toContain('"input_tokens":1.50,')
  })

  test('has the model of the request when the upstream names none', () => {
    expect(last([{ choices: [] }]).model).toBe('m')
  })

  test('has the service tier of the upstream', () => {
    expect(last([{ ...chunk({ content: 'x' }), service_tier: 'flex' }, finish('stop')]).service_tier).toBe('flex')
  })

  test('has logprobs with bytes, also those before the text', () => {
    const chunks = [
      chunk({ content: '' }, { logprobs: { content: [token('a')] } }),
      chunk({ content: 'b' }, { logprobs: { content: [token('b'), token('y')] } }),
      finish('stop'),
    ]
    const { top_logprobs, ...a } = token('a')
    const bytes = [[97], [98], []]
    expect(last(chunks).output).toMatchObject([
      {
        content: [
          {
            text: 'b',
            logprobs: ['a', 'b', 'y'].map((text, nth) => ({
              ...a,
              token: text,
              bytes: bytes[nth],
              top_logprobs: [{ token: text }],
            })),
          },
        ],
      },
    ] as never)
  })
})

describe('an invalid or interrupted stream', () => {
  test('is complete only after the finish reason', () => {
    const bridge = newBridge()
    expect(bridge.complete).toBe(false)
    bridge.push(dataOf(chunk({ content: 'x' })))
    expect(bridge.push({ type: 'message', data: '[DONE]' })).toBe('')
    expect(bridge.complete).toBe(false)
    bridge.push(dataOf(finish('stop')))
    expect(bridge.complete).toBe(true)
  })

  test('throws the upstream’s error', () => {
    const said = { error: { message: 'overloaded', code: 529 } }
    for (const [type, value] of [
      ['message', said],
      ['error', said.error],
      ['error', said],
    ] as const) {
      const bridge = newBridge()
      bridge.push(dataOf(chunk({ content: 'x' })))
      expect(() => bridge.push({ type, data: JSON.stringify(value) })).toThrow(expect.objectContaining({ said: value }))
    }
  })

  test('throws for invalid or too large data', () => {
    const bad: readonly unknown[] = [
      [],
      7,
      chunk({ content: [{ type: 'text', text: 'x' }] }),
      chunk({ tool_calls: ['x'] }),
      chunk({}, { finish_reason: 'error' }),
      chunk({}, { error: { message: 'x' } }),
      {
        choices: [
          { index: 0, delta: { content: 'a' } },
          { index: 1, delta: { content: 'b' } },
        ],
      },
    ]
    for (const value of bad) expect(() => newBridge().push(dataOf(value))).toThrow(StreamError)
    expect(() => newBridge().push({ type: 'message', data: '{"choices":' })).toThrow(StreamError)
  })

  test('accepts empty data, chunks without choices, and nulls', () => {
    const odd = [
      {},
      { choices: null },
      { choices: [null] },
      { choices: [{ delta: null }] },
      chunk({ content: null, tool_calls: null, refusal: null }),
    ]
    const bridge = newBridge()
    expect(bridge.push({ type: 'message', data: ' ' })).toBe('')
    for (const value of odd) bridge.push(dataOf(value))
    bridge.push(dataOf(chunk({ content: 'x' }, { finish_reason: 'stop' })))
    expect(eventsIn(bridge.end()).at(-1)).toMatchObject({
      response: { output: [{ content: [{ text: 'x' }] }] },
    } as never)
  })

  test('ends with the partial response and an error, with consecutive sequence numbers', () => {
    const bridge = newBridge()
    let text = bridge.push(dataOf(chunk({ reasoning: 'hm' })))
    text += bridge.push(dataOf(chunk({ content: 'half' })))
    text += bridge.push(dataOf(toolDelta(0, { name: 'f', arguments: '{"a' }, 'a')))
    // The valid part of a chunk before the invalid part is kept.
    expect(() => bridge.push(dataOf(chunk({ content: ' of it', tool_calls: [7] })))).toThrow(StreamError)
    text += bridge.fail('upstream broke off')
    const events = eventsIn(text)
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, nth) => nth))
    expect(events.slice(-2)).toMatchObject([
      {
        type: 'response.failed',
        response: {
          status: 'failed',
          error: { code: 'server_error', message: 'upstream broke off' },
          output: [
            { type: 'reasoning', status: 'completed' },
            { type: 'message', status: 'incomplete', content: [{ text: 'half of it' }] },
            { type: 'function_call', status: 'incomplete', arguments: '{"a' },
          ],
        },
      },
      { type: 'error', code: 'server_error', message: 'upstream broke off', param: null },
    ] as never)
    expect(text).not.toContain('[DONE]')
  })

  test('sends the first events before the failure', () => {
    expect(eventsIn(newBridge().fail('x')).map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.failed',
      'error',
    ])
  })

  test('has one end only', () => {
    const bridge = newBridge()
    bridge.push(dataOf(finish('stop')))
    bridge.end()
    expect([bridge.end(), bridge.fail('x'), bridge.push(dataOf(chunk({ content: 'x' })))]).toEqual(['', '', ''])
  })

  test('is rejected above a size limit', () => {
    const big = chunk({ content: 'x'.repeat(2 ** 23) })
    const bridge = newBridge()
    expect(() => {
      for (let nth = 0; nth < 9; nth++) bridge.push(dataOf(big))
    }).toThrow(StreamError)
  })
})

describe('with any split of a chat stream', () => {
  /** The same stream with each text split at random positions. */
  const split = (chunks: readonly Chunk[], cuts: readonly number[]): Chunk[] => {
    let at = 0
    const pieces = (text: string): string[] => {
      const where = text === '' ? 0 : (cuts[at++ % cuts.length] ?? 0) % (text.length + 1)
      return where === 0 || where === text.length ? [text] : [text.slice(0, where), ...pieces(text.slice(where))]
    }
    return chunks.flatMap((each) => {
      const [choice] = each.choices as { delta: Record<string, unknown>; finish_reason: unknown; logprobs?: unknown }[]
      if (!choice) return [each]
      const { logprobs, delta, ...rest } = choice
      const parts: object[] = []
      for (const key of ['reasoning_content', 'reasoning', 'content', 'refusal']) {
        if (typeof delta[key] !== 'string') continue
        const told = key === 'content' ? { logprobs } : {}
        const [first, ...more] = pieces(delta[key])
        parts.push({ delta: { [key]: first }, ...told }, ...more.map((piece) => ({ delta: { [key]: piece } })))
      }
      for (const call of (delta.tool_calls ?? []) as Record<string, Record<string, string>>[]) {
        const kind = call.custom ? 'custom' : 'function'
        const key = call.custom ? 'input' : 'arguments'
        const [first, ...more] = pieces(call[kind]?.[key] ?? '')
        parts.push({ delta: { tool_calls: [{ ...call, [kind]: { ...call[kind], [key]: first } }] } })
        for (const piece of more)
          parts.push({ delta: { tool_calls: [{ index: call.index, [kind]: { [key]: piece } }] } })
      }
      const left = Object.fromEntries(
        Object.entries(delta).filter(([key, value]) => key !== 'tool_calls' && typeof value !== 'string'),
      )
      parts.push({ delta: left })
      const unfinished = parts.map((part) => ({ ...each, choices: [{ ...rest, finish_reason: null, ...part }] }))
      return rest.finish_reason === null ? unfinished : [...unfinished, { ...each, choices: [{ ...rest, delta: {} }] }]
    })
  }

  for (const { name, chunks } of streams) {
    test(`the response is the same: ${name}`, () => {
      const whole = last(chunks)
      fc.assert(
        fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 20 }), (cuts) => {
          expect(last(split(chunks, cuts))).toEqual(whole)
        }),
        { seed: 41, numRuns: 60 },
      )
    })
  }
})
