import { describe, expect, test } from 'bun:test'
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import type { ItemEvent } from '../../plugins/text-generation/bridge/response/events.ts'
import { between, chunk, finish, toolDelta } from './bridge-fixture.ts'

/** A compile-time test: the bridge's item types are those of OpenAI's client. */
export const asClientEvent = (event: ItemEvent & { sequence_number: number }): ResponseStreamEvent => event

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
