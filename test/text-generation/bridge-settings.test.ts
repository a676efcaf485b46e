import { describe, expect, test } from 'bun:test'
import { readJson } from '../../plugins/shared/json/json.ts'
import { chatOf, type Row } from './bridge-fixture.ts'
import { toChatRequest } from './in-one-step.ts'

describe('settings', () => {
  const tool = { type: 'function', name: 'f', parameters: { type: 'object' } }
  const chatTool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }

  const rows: readonly Row[] = [
    ['only model and input', {}, {}],
    ['max_output_tokens', { max_output_tokens: 7 }, { max_tokens: 7 }],
    ...Object.entries({
      temperature: 0.5,
      top_p: 0.9,
      user: 'u',
      safety_identifier: 's',
      prompt_cache_key: 'k',
      service_tier: 'flex',
      stream: true,
      seed: 1,
      stop: ['x'],
      thinking: { type: 'disabled' },
      vendor: null,
    }).map(([key, value]): Row => [`${key} passes by its own name`, { [key]: value }, { [key]: value }]),
    [
      'null members are dropped',
      { temperature: null, reasoning: null, tools: null, text: null, stream: null, prompt: null },
      {},
    ],
    ...Object.entries({
      store: true,
      truncation: 'auto',
      max_tool_calls: 3,
      metadata: { a: 'b' },
      client_metadata: { turn_id: 't' },
    }).map(([key, value]): Row => [`${key} is not about the chat completion`, { [key]: value }, {}]),
    [
      'members with default values are dropped',
      {
        background: false,
        include: ['reasoning.encrypted_content', 'web_search_call.action.sources', 'code_interpreter_call.outputs'],
        context_management: [],
        n: 1,
        stream_options: { include_obfuscation: true },
        reasoning: { summary: 'detailed', generate_summary: null, context: 'all_turns', mode: 'standard' },
        text: { format: { type: 'text' } },
      },
      {},
    ],
    ['options of the stream', { stream_options: { x: 1 } }, { stream_options: { x: 1 } }],
    ['reasoning effort', { reasoning: { effort: 'low', summary: null } }, { reasoning_effort: 'low' }],
    ['the verbosity', { text: { verbosity: 'low' } }, { verbosity: 'low' }],
    [
      'a JSON object as output',
      { text: { format: { type: 'json_object' } } },
      { response_format: { type: 'json_object' } },
    ],
    [
      'a JSON schema for the output',
      {
        text: {
          format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true, description: 'd' },
        },
      },
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', schema: { type: 'object' }, strict: true, description: 'd' },
        },
      },
    ],
    [
      'a JSON schema in the form of chat completions',
      { text: { format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } } } },
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } } },
    ],
    ['probabilities', { include: ['message.output_text.logprobs'] }, { logprobs: true }],
    ['top_logprobs', { top_logprobs: 3 }, { logprobs: true, top_logprobs: 3 }],
    ['top_logprobs 0', { top_logprobs: 0 }, {}],
    [
      'a function',
      { tools: [{ ...tool, description: 'd', strict: true, cache: 1 }] },
      {
        tools: [
          {
            type: 'function',
            function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
            cache: 1,
          },
        ],
      },
    ],
    [
      'a function without schema',
      { tools: [{ type: 'function', name: 'f', parameters: null, strict: null }] },
      { tools: [{ type: 'function', function: { name: 'f' } }] },
    ],
    ['a function in the form of chat completions', { tools: [chatTool] }, { tools: [chatTool] }],
    ...['auto', 'none', 'required'].map(
      (choice): Row => [
        `choice ${choice}`,
        { tools: [tool], tool_choice: choice, parallel_tool_calls: false },
        { tools: [chatTool], tool_choice: choice, parallel_tool_calls: false },
      ],
    ),
    [
      'the choice of a function',
      { tools: [tool], tool_choice: { type: 'function', name: 'f' } },
      { tools: [chatTool], tool_choice: { type: 'function', function: { name: 'f' } } },
    ],
    [
      'without tools, a tool choice without effect is dropped',
      { tools: [], tool_choice: 'auto', parallel_tool_calls: true },
      {},
    ],
    [
      'without tools, a tool choice that requires one stays',
      { tools: [], tool_choice: 'required' },
      { tool_choice: 'required' },
    ],
  ]
  for (const [name, from, to] of rows) {
    test(name, () => {
      const { model, messages, ...rest } = chatOf(from as object)
      expect(model).toBe('m')
      expect(messages).toEqual([{ role: 'user', content: 'hi' }])
      expect(rest).toEqual(to as Record<string, unknown>)
    })
  }

  test('values keep every digit, escape and duplicate key, also nested ones', () => {
    const chat = toChatRequest(
      readJson(`{"model":"m\\u0031","input":[{"role":"user","content":"\\u00e9","x":1.0}],"seed":12345678901234567890,
        "tools":[{"type":"function","name":"f","parameters":{"b":1,"a":9007199254740993,"a":-0}}],"temperature":1.0}`),
    ).json.raw
    for (const text of [
      '"m\\u0031"',
      '"\\u00e9"',
      '"x":1.0',
      '12345678901234567890',
      '{"b":1,"a":9007199254740993,"a":-0}',
      '"temperature":1.0',
    ])
      expect(chat).toContain(text)
  })

  test('unknown members with any name pass', () => {
    expect(chatOf({ constructor: 1, toString: 2 })).toMatchObject({ constructor: 1, toString: 2 })
  })
})
