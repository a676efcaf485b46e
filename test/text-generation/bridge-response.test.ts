import { describe, expect, test } from 'bun:test'
import {
  bridge as bridged,
  type Chunk,
  chunk,
  dataOf,
  eventsIn,
  finish,
  last,
  newBridge,
  token,
  toolDelta,
  usageChunk,
} from './bridge-fixture.ts'

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
      access_programs: null,
      background: false,
      completed_at: 1_700_000_000,
      error: null,
      frequency_penalty: 0,
      incomplete_details: null,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      metadata: {},
      model: 'm-2026',
      parallel_tool_calls: true,
      presence_penalty: 0,
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
      user: null,
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

  test('has events whose size does not show the length of a delta, on request', () => {
    const request = { stream_options: { include_obfuscation: true } }
    const chunks = ['', 'a', 'é😀"', 'x'.repeat(40)].map((content) => chunk({ content, reasoning: content }))
    const deltas = eventsIn(bridged([...chunks, finish('stop')], request)).filter((event) => 'delta' in event)
    const paddings = deltas.map((event) => (event as { obfuscation?: string }).obfuscation ?? '')
    expect(deltas).toHaveLength(6)
    deltas.forEach((event, index) => {
      const { delta } = event as { delta: string }
      expect(Buffer.byteLength(JSON.stringify(delta) + paddings[index]) % 32).toBe(0)
    })
    expect(new Set(paddings).size).toBe(6)
    expect(bridged(chunks, {})).not.toContain('obfuscation')
  })

  test('has the model of the request when the upstream names none', () => {
    expect(last([{ choices: [] }]).model).toBe('m')
  })

  test('has the service tier and the moderation of the upstream', () => {
    const named = { service_tier: 'flex', moderation: { flagged: false } }
    expect(last([{ ...chunk({ content: 'x' }), ...named }, finish('stop')])).toMatchObject(named)
    expect(
      last([
        { ...chunk({ content: 'x' }), ...named },
        { ...finish('stop'), service_tier: '' },
      ]),
    ).toMatchObject(named)
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
