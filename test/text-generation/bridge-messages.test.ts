import { describe, expect, test } from 'bun:test'
import { chatOf, type Row } from './bridge-fixture.ts'

const messagesOf = (input: unknown, more: object = {}) => chatOf({ input, ...more }).messages

describe('input becomes messages', () => {
  const rows: readonly Row[] = [
    ['a string', 'hi', [{ role: 'user', content: 'hi' }]],
    ['an empty string', '', [{ role: 'user', content: '' }]],
    ['an item without a type', [{ role: 'user', content: 'hi' }], [{ role: 'user', content: 'hi' }]],
    ['a message', [{ type: 'message', role: 'system', content: 'be kind' }], [{ role: 'system', content: 'be kind' }]],
    ['the role developer becomes system', [{ role: 'developer', content: 'x' }], [{ role: 'system', content: 'x' }]],
    [
      'a message between two agents of codex',
      [
        {
          ...{ type: 'agent_message', id: 'amsg_1', author: '/root', recipient: '/root/one' },
          content: [
            { type: 'input_text', text: 'Payload: ' },
            { type: 'encrypted_content', encrypted_content: 'go' },
          ],
        },
      ],
      [{ role: 'user', content: 'Payload: go' }],
    ],
    ['an item with a text field', [{ role: 'user', text: 'hi' }], [{ role: 'user', content: 'hi' }]],
    [
      'an item with a type and a text field',
      [{ type: 'input_text', role: 'user', text: 'hi' }],
      [{ role: 'user', content: 'hi' }],
    ],
    [
      'one text part',
      [{ role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
      [{ role: 'user', content: 'hi' }],
    ],
    ['a part without a type', [{ role: 'user', content: [{ text: 'hi' }] }], [{ role: 'user', content: 'hi' }]],
    [
      'parts in their order',
      [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'what is' },
            { type: 'input_image', image_url: 'https://a/b.png', detail: 'low' },
            { type: 'input_image', image_url: 'https://a/c.png', detail: 'original' },
            { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: null },
            { type: 'text', text: '?' },
          ],
        },
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'what is' },
            { type: 'image_url', image_url: { url: 'https://a/b.png', detail: 'low' } },
            { type: 'image_url', image_url: { url: 'https://a/c.png', detail: 'high' } },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
            { type: 'text', text: '?' },
          ],
        },
      ],
    ],
    [
      'an image URL in the format of chat completions',
      [{ role: 'user', content: [{ type: 'input_image', image_url: { url: 'u', detail: 'high' } }] }],
      [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'u', detail: 'high' } }] }],
    ],
    [
      'files',
      [
        {
          role: 'user',
          content: [
            { type: 'input_file', file_data: 'data:x', filename: 'a.pdf', file_url: null, detail: 'auto' },
            { type: 'input_file', file_id: 'f1' },
          ],
        },
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'file', file: { file_data: 'data:x', filename: 'a.pdf' } },
            { type: 'file', file: { file_id: 'f1' } },
          ],
        },
      ],
    ],
    ...[
      { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
      { type: 'video_url', video_url: { url: 'https://a/b.mp4', fps: 2 } },
      { type: 'video', video: ['https://a/1.png', 'https://a/2.png'] },
      { type: 'image_url', image_url: { url: 'u' } },
      { type: 'file', file: { file_id: 'f' } },
    ].map(
      (part): Row => [
        `a ${part.type} part unchanged`,
        [{ role: 'user', content: [part] }],
        [{ role: 'user', content: [part] }],
      ],
    ),
    [
      'text and refusal of the assistant',
      [
        {
          id: 'msg_1',
          type: 'message',
          status: 'completed',
          role: 'assistant',
          phase: 'final_answer',
          content: [
            { type: 'output_text', text: 'no', annotations: [{ type: 'url_citation' }], logprobs: [] },
            { type: 'refusal', refusal: 'I will not' },
          ],
        },
      ],
      [{ role: 'assistant', content: 'no', refusal: 'I will not' }],
    ],
    [
      'a refusal without text',
      [{ role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }],
      [{ role: 'assistant', content: null, refusal: 'no' }],
    ],
    [
      'several texts of the assistant as parts',
      [
        {
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'a' },
            { type: 'output_text', text: 'b' },
          ],
        },
      ],
      [
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      ],
    ],
    [
      'unknown members of items and parts unchanged',
      [{ role: 'user', name: 'ann', content: [{ type: 'input_text', text: 'x', cache: { ttl: 1 } }] }],
      [{ role: 'user', content: [{ type: 'text', text: 'x', cache: { ttl: 1 } }], name: 'ann' }],
    ],
  ]
  for (const [name, from, to] of rows) test(name, () => expect(messagesOf(from)).toEqual(to))

  test('instructions come first, as a system message', () => {
    expect(messagesOf([], { instructions: 'a' })).toEqual([{ role: 'system', content: 'a' }])
    expect(messagesOf('x', { instructions: null })).toEqual([{ role: 'user', content: 'x' }])
  })
})

test('consecutive texts of the system become one message', () => {
  const system = (content: unknown) => ({ role: 'system', content })
  const texts = (...all: readonly string[]) => system(all.map((text) => ({ type: 'input_text', text })))
  const user = { role: 'user', content: 'x' }
  expect(messagesOf([system('b'), texts('c', 'd'), user, system('e'), user], { instructions: 'a' })).toEqual([
    system('a\n\nb\n\nc\n\nd'),
    user,
    system('e'),
    user,
  ])
  // An image, or a member that texts do not have, is more than text.
  const cached = [{ type: 'text', text: 'b', cache: 1 }]
  expect(messagesOf([system('a'), system(cached), { ...system('c'), name: 'n' }, system('d')])).toEqual([
    system('a'),
    system(cached),
    { ...system('c'), name: 'n' },
    system('d'),
  ])
  const output = { type: 'function_call_output', call_id: 'c', output: 'x' }
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
  const roles = (messagesOf([system('a'), call, system('b'), output, system('c')]) as { role: string }[]).map(
    ({ role }) => role,
  )
  expect(roles).toEqual(['system', 'assistant', 'system', 'tool', 'system'])
})

describe('the output items of a turn become one assistant message', () => {
  const call = (id: string, more: object = {}) => ({
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name: 'f',
    arguments: '{"a":1}',
    status: 'completed',
    ...more,
  })
  const chatCall = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{"a":1}' } })
  const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: `of ${id}` })
  const tool = (id: string) => ({ role: 'tool', tool_call_id: id, content: `of ${id}` })
  const said = (content: string) => ({ type: 'message', role: 'assistant', content })
  const refused = (refusal: string) => ({ ...said(''), content: [{ type: 'refusal', refusal }] })
  const thought = (text: string) => ({
    type: 'reasoning',
    id: 'rs',
    summary: [],
    content: [{ type: 'reasoning_text', text }],
  })
  const user = { role: 'user', content: 'q' }

  const rows: readonly Row[] = [
    [
      'parallel calls and their outputs',
      [user, call('1'), call('2'), output('1'), output('2')],
      [user, { role: 'assistant', content: null, tool_calls: [chatCall('1'), chatCall('2')] }, tool('1'), tool('2')],
    ],
    [
      'calls after a message are part of it',
      [said('look'), call('1'), output('1')],
      [{ role: 'assistant', content: 'look', tool_calls: [chatCall('1')] }, tool('1')],
    ],
    [
      'calls before a message, too, because outputs must follow calls',
      [call('1'), said('look'), output('1')],
      [{ role: 'assistant', content: 'look', tool_calls: [chatCall('1')] }, tool('1')],
    ],
    [
      'calls between two parts of a message, too',
      [said('lo'), call('1'), said('ok'), output('1')],
      [{ role: 'assistant', content: 'look', tool_calls: [chatCall('1')] }, tool('1')],
    ],
    [
      'refusals before and after a call, too',
      [refused('no'), call('1'), refused(', never'), output('1')],
      [{ role: 'assistant', content: null, refusal: 'no, never', tool_calls: [chatCall('1')] }, tool('1')],
    ],
    [
      'sequential calls are separate turns',
      [call('1'), output('1'), call('2'), output('2'), said('done')],
      [
        { role: 'assistant', content: null, tool_calls: [chatCall('1')] },
        tool('1'),
        { role: 'assistant', content: null, tool_calls: [chatCall('2')] },
        tool('2'),
        { role: 'assistant', content: 'done' },
      ],
    ],
    [
      'two messages stay separate',
      [said('a'), said('b'), user],
      [{ role: 'assistant', content: 'a' }, { role: 'assistant', content: 'b' }, user],
    ],
    [
      'reasoning belongs to the following message',
      [said('a'), thought('hm'), said('b')],
      [
        { role: 'assistant', content: 'a' },
        { role: 'assistant', content: 'b', reasoning_content: 'hm' },
      ],
    ],
    [
      'reasoning belongs to the following calls',
      [thought('hm'), said('a'), thought('so'), call('1')],
      [{ role: 'assistant', content: 'a', reasoning_content: 'hm\n\nso', tool_calls: [chatCall('1')] }],
    ],
    [
      'reasoning alone becomes a message',
      [thought('hm'), user],
      [{ role: 'assistant', content: '', reasoning_content: 'hm' }, user],
    ],
    [
      'a reasoning summary is used when there is no content',
      [
        {
          type: 'reasoning',
          summary: [
            { type: 'summary_text', text: 'a' },
            { type: 'summary_text', text: 'b' },
          ],
        },
        said('x'),
      ],
      [{ role: 'assistant', content: 'x', reasoning_content: 'a\n\nb' }],
    ],
    [
      'empty reasoning is dropped',
      [{ type: 'reasoning', id: 'rs', summary: [], encrypted_content: null }, said('x')],
      [{ role: 'assistant', content: 'x' }],
    ],
    [
      'calls of custom tools are calls of functions',
      [
        { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: 'select 1' },
        { type: 'custom_tool_call_output', call_id: 'c', output: [{ type: 'input_text', text: '1' }] },
      ],
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'sql', arguments: '{"input":"select 1"}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: '1' },
      ],
    ],
    [
      'an output with several texts',
      [
        call('1', { caller: { type: 'direct' }, async: false, namespace: null }),
        {
          type: 'function_call_output',
          call_id: '1',
          name: 'f',
          output: [
            { type: 'input_text', text: 'a' },
            { type: 'input_text', text: 'b' },
          ],
        },
      ],
      [
        { role: 'assistant', content: null, tool_calls: [chatCall('1')] },
        {
          role: 'tool',
          tool_call_id: '1',
          name: 'f',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      ],
    ],
  ]
  for (const [name, from, to] of rows) test(name, () => expect(messagesOf(from)).toEqual(to))
})
