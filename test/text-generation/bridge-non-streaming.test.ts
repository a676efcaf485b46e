import { describe, expect, test } from 'bun:test'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { readJson } from '../../plugins/shared/json/json.ts'
import { toChunks } from '../../plugins/text-generation/chat/chunk.ts'
import { StreamError } from '../../plugins/text-generation/protocol/assembly.ts'
import { createResponsesAssembly } from '../../plugins/text-generation/responses/assembly.ts'
import { bridge, chunk, eventsIn, finish, streams, token, toolDelta, usageChunk } from './bridge-fixture.ts'
import { toChatRequest } from './in-one-step.ts'

const responseOf = (chunks: readonly unknown[]) => {
  const last = eventsIn(bridge(chunks)).at(-1)
  if (!last || !('response' in last)) throw new Error('no terminal event')
  return last.response
}

const call = (id: string, name: string, text: string) => ({ id, type: 'function', function: { name, arguments: text } })
const annotation = {
  type: 'url_citation',
  url_citation: { url: 'https://a', title: 'A', start_index: 0, end_index: 1 },
}

interface Case {
  readonly name: string
  readonly message: object
  readonly reason?: string
  readonly logprobs?: object
  /** The stream of the same completion. */
  readonly chunks: readonly object[]
}

const cases: readonly Case[] = [
  { name: 'text', message: { content: 'hello' }, chunks: [chunk({ content: 'hel' }), chunk({ content: 'lo' })] },
  {
    name: 'reasoning and text',
    message: { reasoning_content: 'hm, so', content: 'x' },
    chunks: [chunk({ reasoning_content: 'hm, ' }), chunk({ reasoning_content: 'so' }), chunk({ content: 'x' })],
  },
  {
    name: 'a refusal',
    message: { content: null, refusal: 'no' },
    chunks: [chunk({ refusal: 'n' }), chunk({ refusal: 'o' })],
  },
  {
    name: 'text and a refusal',
    message: { content: 'x', refusal: 'no' },
    chunks: [chunk({ content: 'x' }), chunk({ refusal: 'no' })],
  },
  {
    name: 'text and parallel calls',
    message: { content: 'x', tool_calls: [call('a', 'f', '{"a":1}'), call('b', 'g', '{}')] },
    reason: 'tool_calls',
    chunks: [
      chunk({ content: 'x' }),
      toolDelta(0, { name: 'f', arguments: '{"a"' }, 'a'),
      toolDelta(1, { name: 'g', arguments: '{' }, 'b'),
      toolDelta(0, { arguments: ':1}' }),
      toolDelta(1, { arguments: '}' }),
    ],
  },
  {
    name: 'reasoning and a call',
    message: { content: null, reasoning_content: 'hm', tool_calls: [call('a', 'f', '{}')] },
    reason: 'tool_calls',
    chunks: [chunk({ reasoning: 'hm' }), toolDelta(0, { name: 'f', arguments: '{}' }, 'a')],
  },
  {
    name: 'a custom call',
    message: { content: null, tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'sql', input: 'select 1' } }] },
    reason: 'tool_calls',
    chunks: [
      chunk({ tool_calls: [{ index: 0, id: 'c', type: 'custom', custom: { name: 'sql', input: 'select 1' } }] }),
    ],
  },
  { name: 'text cut by a limit', message: { content: 'x' }, reason: 'length', chunks: [chunk({ content: 'x' })] },
  {
    name: 'logprobs and annotations',
    message: { content: 'ab', annotations: [annotation] },
    logprobs: { content: [token('a'), token('b')] },
    chunks: [
      chunk({ content: 'a' }, { logprobs: { content: [token('a')] } }),
      chunk({ content: 'b' }, { logprobs: { content: [token('b')] } }),
      chunk({ annotations: [annotation] }),
    ],
  },
]

const completionOf = ({ message, reason = 'stop', logprobs }: Case) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm-2026',
  choices: [
    { index: 0, message: { role: 'assistant', ...message }, finish_reason: reason, logprobs: logprobs ?? null },
  ],
  usage: usageChunk.usage,
})

describe('a non-streaming completion becomes the same response as its stream', () => {
  for (const each of cases) {
    test(each.name, () => {
      const streamed = responseOf([...each.chunks, finish(each.reason ?? 'stop'), usageChunk])
      expect(responseOf(toChunks(completionOf(each)))).toEqual(streamed)
    })
  }
})

describe('the assembly of the events equals the response in the last event', () => {
  for (const { name, chunks } of streams) {
    test(name, () => {
      const assembly = createResponsesAssembly({ request: { model: 'm' }, clock: { now: () => 0 } })
      for (const event of eventsIn(bridge(chunks))) assembly.push({ type: event.type, data: JSON.stringify(event) })
      expect(assembly.complete).toBe(true)
      expect(JSON.parse(assembly.result())).toEqual(JSON.parse(JSON.stringify(responseOf(chunks))))
    })
  }
})

describe('the chunks of a non-streaming completion', () => {
  test('keep unknown members, and only the last chunk has usage', () => {
    const usage = { prompt_tokens: 1 }
    const completion = {
      id: 'x',
      object: 'chat.completion',
      vendor: { a: 1 },
      choices: [{ message: { role: 'assistant', content: 'a', extra: 1 }, matched: 7, finish_reason: 'stop' }],
      usage,
    }
    const common = { id: 'x', object: 'chat.completion.chunk', vendor: { a: 1 } }
    expect(toChunks(completion)).toEqual([
      {
        ...common,
        choices: [{ index: 0, matched: 7, delta: { role: 'assistant', content: 'a', extra: 1 }, finish_reason: null }],
      },
      { ...common, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { ...common, choices: [], usage },
    ])
    expect(toChunks({ ...completion, usage: null }).length).toBe(2)
  })

  test('have indices for choices and calls', () => {
    const completion = {
      choices: [
        { message: { content: 'a' }, finish_reason: 'stop' },
        { message: { tool_calls: [{ id: 'a' }, { id: 'b' }] }, finish_reason: 'stop' },
      ],
    }
    expect(toChunks(completion)).toMatchObject([
      { choices: [{ index: 0 }] },
      { choices: [{ index: 0 }] },
      {
        choices: [
          {
            index: 1,
            delta: {
              tool_calls: [
                { index: 0, id: 'a' },
                { index: 1, id: 'b' },
              ],
            },
          },
        ],
      },
      { choices: [{ index: 1 }] },
    ])
  })

  test('have a default finish reason', () => {
    const reasonOf = (message: object) => toChunks({ choices: [{ message }] }).at(-1)
    expect(reasonOf({ content: 'x' })).toMatchObject({ choices: [{ finish_reason: 'stop' }] })
    expect(reasonOf({ tool_calls: [call('a', 'f', '{}')] })).toMatchObject({
      choices: [{ finish_reason: 'tool_calls' }],
    })
  })

  test('are an error when the completion is an error', () => {
    expect(toChunks({ error: { message: 'x' } })).toEqual([{ error: { message: 'x' } }])
    for (const value of [null, 7, [], {}, { choices: {} }]) expect(() => toChunks(value)).toThrow(StreamError)
  })
})

describe('the output of a bridged response is valid input of the next request', () => {
  for (const each of cases) {
    test(each.name, () => {
      const { output } = responseOf(toChunks(completionOf(each)))
      const ask = { type: 'message', role: 'user', content: 'go on' }
      const input = [...(output as ResponseInputItem[]), ask]
      const chat = toChatRequest(readJson(JSON.stringify({ model: 'm', input }))).json.value() as { messages: object[] }
      const { annotations: _, ...message } = each.message as Record<string, unknown>
      if (each.name === 'a custom call') {
        const args = '{"input":"select 1"}'
        message.tool_calls = [{ id: 'c', type: 'function', function: { name: 'sql', arguments: args } }]
      }
      expect(chat.messages).toEqual([{ role: 'assistant', ...message } as object, { role: 'user', content: 'go on' }])
    })
  }
})
