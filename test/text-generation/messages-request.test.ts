import { describe, expect, test } from 'bun:test'
import { chunk, streaming } from './fixture.ts'
import { minimal, openMessages } from './messages-fixture.ts'

const user = (...content: readonly object[]) => ({ messages: [{ role: 'user', content }] })
const png = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }

describe('A Messages request becomes a chat request:', () => {
  test('the required fields alone', async () => {
    const { sent } = openMessages()
    expect(await sent({})).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      max_tokens: 100,
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test('sampling, stop sequences and a short user id', async () => {
    const { sent } = openMessages()
    const request = { temperature: 0.5, top_p: 0.25, top_k: 40, stop_sequences: ['END'], metadata: { user_id: 'ann' } }
    const expected = { temperature: 0.5, top_p: 0.25, top_k: 40, stop: ['END'], user: 'ann' }
    expect(await sent(request)).toMatchObject(expected)
    const others = await sent({ stop_sequences: [], metadata: { user_id: 'x'.repeat(65) } })
    expect(others).not.toHaveProperty('stop')
    expect(others).not.toHaveProperty('user')
  })

  test('fields that only concern Anthropic are ignored, and so are unknown ones', async () => {
    const { sent } = openMessages()
    const request = {
      cache_control: { type: 'ephemeral' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      service_tier: 'auto',
      speed: 'fast',
      diagnostics: { previous_message_id: 'msg_1' },
      betas: ['x'],
      container: null,
      mcp_servers: [],
      some_later_field: { file_id: 'file-1' },
    }
    expect(await sent(request)).toEqual(await sent({}))
  })

  test('a system prompt in blocks is one system message, without the lines for Anthropic’s accounts', async () => {
    const { sent } = openMessages()
    const system = [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1' },
      { type: 'text', text: 'You help.', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'Be brief.' },
    ]
    const { messages } = await sent({ system })
    expect(messages[0]).toEqual({ role: 'system', content: 'You help.\n\nBe brief.' })
    expect((await sent({ system: 'You help.' })).messages[0]).toEqual({ role: 'system', content: 'You help.' })
  })

  test('the first system messages join the system prompt, later ones are texts of the user', async () => {
    const { sent } = openMessages()
    const { messages } = await sent({
      system: 'You help.',
      messages: [
        { role: 'system', content: 'Always.' },
        { role: 'user', content: 'a' },
        { role: 'system', content: [{ type: 'text', text: 'b' }] },
        { role: 'assistant', content: 'c' },
        { role: 'user', content: 'd' },
      ],
    })
    expect(messages).toEqual([
      { role: 'system', content: 'You help.\n\nAlways.' },
      { role: 'user', content: 'a\n\n<system-reminder>\nb\n</system-reminder>' },
      { role: 'assistant', content: 'c' },
      { role: 'user', content: 'd' },
    ])
  })

  test('images, documents and search results', async () => {
    const { sent } = openMessages()
    const { messages } = await sent(
      user(
        { type: 'text', text: 'look' },
        { type: 'image', source: png, cache_control: { type: 'ephemeral' } },
        { type: 'image', source: { type: 'url', url: 'https://pictures.invalid/a.png' } },
        { type: 'document', title: 'Plan', source: { type: 'text', media_type: 'text/plain', data: 'build' } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
        { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'inner' }] } },
        { type: 'search_result', title: 'T', source: 'https://s.invalid', content: [{ type: 'text', text: 'found' }] },
      ),
    )
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          { type: 'image_url', image_url: { url: 'https://pictures.invalid/a.png' } },
          { type: 'text', text: 'Plan' },
          { type: 'text', text: 'build' },
          { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
          { type: 'text', text: 'inner' },
          { type: 'text', text: 'T' },
          { type: 'text', text: 'https://s.invalid' },
          { type: 'text', text: 'found' },
        ],
      },
    ])
  })

  test('tools, and the choice of them', async () => {
    const { sent } = openMessages()
    const schema = { type: 'object', properties: { n: { type: 'number' } } }
    const tools = [
      { name: 'a', description: 'does a', input_schema: schema, cache_control: { type: 'ephemeral' } },
      { type: 'custom', name: 'b', input_schema: { type: 'object' }, strict: true, defer_loading: true },
    ]
    const chatTools = [
      { type: 'function', function: { name: 'a', description: 'does a', parameters: schema } },
      { type: 'function', function: { name: 'b', parameters: { type: 'object' }, strict: true } },
    ]
    expect((await sent({ tools })).tools).toEqual(chatTools)
    const choice = async (tool_choice: object) => {
      const { tool_choice: chosen, parallel_tool_calls: parallel } = await sent({ tools, tool_choice })
      return [chosen, parallel]
    }
    expect(await choice({ type: 'auto' })).toEqual(['auto', undefined])
    expect(await choice({ type: 'any', disable_parallel_tool_use: true })).toEqual(['required', false])
    expect(await choice({ type: 'none' })).toEqual(['none', undefined])
    expect(await choice({ type: 'tool', name: 'b' })).toEqual([
      { type: 'function', function: { name: 'b' } },
      undefined,
    ])
    expect(await sent({ tools: [], tool_choice: { type: 'auto' } })).not.toHaveProperty('tool_choice')
  })

  test('a tool with a long name, whose calls come back with it', async () => {
    const name = 'mcp__plugin_'.padEnd(100, 'x')
    const { sent, asked, client } = openMessages(({ json }) => {
      const [{ function: tool }] = json.tools
      return streaming([
        chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: tool.name, arguments: '{}' } }] }, 'stop'),
      ])
    })
    const tools = [{ name, input_schema: { type: 'object' as const } }]
    const first = await client.messages.create({ ...minimal, tools, tool_choice: { type: 'tool', name } })
    expect(first.content).toMatchObject([{ type: 'tool_use', name }])
    const streamed = await client.messages.stream({ ...minimal, tools }).finalMessage()
    expect(streamed.content as object[]).toEqual(first.content)
    const { messages, ...next } = await sent({
      tools,
      messages: [...minimal.messages, { role: 'assistant', content: first.content }],
    })
    const functionName = next.tools[0].function.name
    expect(functionName).toMatch(/^mcp__plugin_x{43}_[0-9a-f]{8}$/)
    expect(messages[1].tool_calls[0].function.name).toBe(functionName)
    expect(asked[0]?.json.tool_choice).toEqual({ type: 'function', function: { name: functionName } })
  })

  test('a number beyond 2^53 in a tool call or a schema keeps its digits', async () => {
    const app = openMessages()
    const text = JSON.stringify({
      ...minimal,
      tools: [{ name: 'a', input_schema: { maximum: 'N' } }],
      messages: [
        ...minimal.messages,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'a', input: { n: 'N' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '1' }] },
      ],
    }).replaceAll('"N"', '9007199254740993')
    expect((await app.post('/messages', text)).status).toBe(200)
    const sent = app.asked[0]?.text
    expect(sent).toContain('"maximum":9007199254740993')
    expect(sent).toContain('{\\"n\\":9007199254740993}')
  })

  test('the effort of the model’s reasoning', async () => {
    const { sent } = openMessages()
    const effort = async (request: object) => (await sent({ max_tokens: 50_000, ...request })).reasoning_effort
    expect(await effort({})).toBeUndefined()
    expect(await effort({ thinking: { type: 'adaptive' } })).toBeUndefined()
    expect(await effort({ thinking: { type: 'enabled', budget_tokens: 4_096 } })).toBe('low')
    expect(await effort({ thinking: { type: 'enabled', budget_tokens: 16_384 } })).toBe('medium')
    expect(await effort({ thinking: { type: 'enabled', budget_tokens: 31_999 } })).toBe('high')
    expect(await effort({ output_config: { effort: 'medium' } })).toBe('medium')
    expect(await effort({ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } })).toBe('high')
    expect(await effort({ thinking: { type: 'disabled' }, output_config: { effort: 'max' } })).toBeUndefined()
  })

  test('a schema for the output', async () => {
    const { sent } = openMessages()
    const format = { type: 'json_schema', schema: { type: 'object' } }
    const response_format = { type: 'json_schema', json_schema: { name: 'output', schema: { type: 'object' } } }
    expect((await sent({ output_config: { format } })).response_format).toEqual(response_format)
    expect((await sent({ output_format: format })).response_format).toEqual(response_format)
  })
})

describe('Turns of a conversation:', () => {
  const call = (id: string, input: object = {}) => ({ type: 'tool_use', id, name: 'a', input })
  const result = (id: string, content?: unknown) => ({ type: 'tool_result', tool_use_id: id, content })

  test('results of tools follow the calls, and what else the user says comes after them', async () => {
    const { sent } = openMessages()
    const { messages } = await sent({
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [{ type: 'text', text: 'I call' }, call('c1', { x: 1 }), call('c2')] },
        { role: 'user', content: [{ type: 'text', text: 'wait' }, result('c2', 'two')] },
        { role: 'system', content: 'hurry' },
        {
          role: 'user',
          content: [
            result('c1', [
              { type: 'text', text: 'one' },
              { type: 'text', text: '!' },
            ]),
          ],
        },
      ],
    })
    expect(messages).toEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'I call',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'a', arguments: '{"x":1}' } },
          { id: 'c2', type: 'function', function: { name: 'a', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
      { role: 'tool', tool_call_id: 'c1', content: 'one\n\n!' },
      { role: 'user', content: 'wait\n\n<system-reminder>\nhurry\n</system-reminder>' },
    ])
  })

  test('images in results go into the next message of the user', async () => {
    const { sent } = openMessages()
    const { messages } = await sent({
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [call('c1'), call('c2')] },
        {
          role: 'user',
          content: [
            result('c1', [{ type: 'image', source: png }]),
            result('c2', [
              { type: 'text', text: 'a cat' },
              { type: 'image', source: png },
            ]),
            { type: 'text', text: 'and?' },
          ],
        },
      ],
    })
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
    expect(messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'c1', content: 'The result is in the next message of the user.' },
      { role: 'tool', tool_call_id: 'c2', content: 'a cat' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Output of the tool call c1:' },
          image,
          { type: 'text', text: 'Output of the tool call c2:' },
          image,
          { type: 'text', text: 'and?' },
        ],
      },
    ])
  })

  test('consecutive messages of one role are one turn', async () => {
    const { sent } = openMessages()
    const { messages } = await sent({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b' },
        { role: 'assistant', content: 'c' },
        { role: 'assistant', content: [call('c1')] },
        { role: 'user', content: [result('c1')] },
      ],
    })
    expect(messages).toMatchObject([
      { role: 'user', content: 'a\n\nb' },
      { role: 'assistant', content: 'c', tool_calls: [{ id: 'c1' }] },
      { role: 'tool', tool_call_id: 'c1', content: '' },
    ])
  })

  test('thinking without a signature of this gateway is left out', async () => {
    const { sent } = openMessages()
    const { messages } = await sent({
      messages: [
        { role: 'user', content: 'a' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'invented', signature: 'sluice-reasoning-1.aaaa' },
            { type: 'thinking', thinking: 'of another', signature: 'EqQBCg' },
            { type: 'thinking', thinking: 'unsigned' },
            { type: 'redacted_thinking', data: 'EqQBCg' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'user', content: 'c' },
      ],
    })
    expect(messages[1]).toEqual({ role: 'assistant', content: 'b' })
  })
})
