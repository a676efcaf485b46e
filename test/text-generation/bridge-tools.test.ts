import { describe, expect, test } from 'bun:test'
import { bridge, type Chunk, chatOf, eventsIn, finish, last, toolDelta } from './bridge-fixture.ts'

const parameters = { type: 'object', properties: {} }
const spawn = { type: 'function', name: 'spawn', description: 'Starts one.', parameters, strict: false }
const patch = {
  type: 'custom',
  name: 'patch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
}
const agents = { type: 'namespace', name: 'agents', description: 'Other agents.', tools: [spawn, patch] }
const f = { type: 'function', name: 'f', parameters }

type Named = { readonly function: { readonly name: string } }

const namesOf = (request: object) => ((chatOf(request).tools ?? []) as Named[]).map((tool) => tool.function.name)

const calls = (...names: readonly string[]): Chunk[] => [
  ...names.map((name, index) => toolDelta(index, { name, arguments: '{"input":"x"}' }, `call_${index}`)),
  finish('tool_calls'),
]

describe('tools of a namespace', () => {
  test('are functions whose names begin with the namespace', () => {
    const input = { type: 'object', properties: { input: expect.anything() } }
    expect(chatOf({ tools: [agents, f] }).tools).toEqual([
      {
        type: 'function',
        function: {
          name: 'agents__spawn',
          description: '[agents: Other agents.]\n\nStarts one.',
          parameters,
          strict: false,
        },
      },
      {
        type: 'function',
        function: {
          name: 'agents__patch',
          description: 'Edits files.\n\n`input` must match this lark grammar:\nstart: "a"',
          parameters: { ...input, required: ['input'], additionalProperties: false },
        },
      },
      { type: 'function', function: { name: 'f', parameters } },
    ])
  })

  test('are called by namespace and name', () => {
    expect(last(calls('agents__spawn', 'agents__patch', 'f'), { tools: [agents, f] }).output).toMatchObject([
      { type: 'function_call', namespace: 'agents', name: 'spawn', arguments: '{"input":"x"}' },
      { type: 'custom_tool_call', namespace: 'agents', name: 'patch', input: 'x' },
      { type: 'function_call', name: 'f' },
    ])
    expect(last(calls('f'), { tools: [agents, f] }).output[0]).not.toHaveProperty('namespace')
  })

  test('are found by their plain name if no other tool has it', () => {
    const other = { ...agents, name: 'others', tools: [spawn] }
    expect(last(calls('patch', 'spawn'), { tools: [agents, other] }).output).toMatchObject([
      { type: 'custom_tool_call', namespace: 'agents', name: 'patch' },
      { type: 'function_call', name: 'spawn' },
    ])
  })

  test('have the same names in the calls of earlier turns', () => {
    const call = { type: 'function_call', call_id: 'a', namespace: 'agents', name: 'spawn', arguments: '{}' }
    const done = { type: 'function_call_output', call_id: 'a', namespace: 'agents', name: 'spawn', output: 'ok' }
    for (const tools of [[agents], []]) {
      expect(chatOf({ tools, input: [call, done] }).messages).toEqual([
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'agents__spawn', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'ok', name: 'agents__spawn' },
      ])
    }
  })

  test('may also be added by an item of the input', () => {
    const added = { type: 'additional_tools', id: 'at_1', role: 'developer', tools: [agents] }
    const request = { tools: [f], input: [added, { role: 'user', content: 'hi' }] }
    expect(namesOf(request)).toEqual(['f', 'agents__spawn', 'agents__patch'])
    expect(chatOf(request).messages).toEqual([{ role: 'user', content: 'hi' }])
    expect(last(calls('agents__spawn'), request).output).toMatchObject([{ namespace: 'agents', name: 'spawn' }])
  })
})

describe('function names', () => {
  const group = (name: string, ...names: readonly string[]) => ({
    type: 'namespace',
    name,
    description: '',
    tools: names.map((each) => ({ ...f, name: each })),
  })
  const long = 'x'.repeat(70)

  test('are unique, at most 64 characters long, and of the characters that upstreams accept', () => {
    const names = namesOf({
      tools: [
        group('a', 'b', long, `${long}y`, 'ünï.code'),
        group('a__b', 'c'),
        { ...f, name: 'a__b' },
        { type: 'custom', name: 'a__b' },
        group('a', 'b__c'),
        { ...f, name: `${long}z` },
      ],
    })
    expect(names).toHaveLength(9)
    expect(new Set(names).size).toBe(9)
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    // A function keeps its name, wherever it stands.
    expect(names.indexOf('a__b')).toBe(5)
  })

  test('are equal in requests with the same tools, in any order of the others', () => {
    const odd = group('ns', long, 'b')
    expect(namesOf({ tools: [odd] })).toEqual(namesOf({ tools: [f, odd] }).slice(1))
  })

  test('stand for the names of the caller', () => {
    const tools = [group('ns', long, 'ünï')]
    const output = last(calls(...namesOf({ tools })), { tools }).output
    expect(output.map((item) => 'name' in item && item.name)).toEqual([long, 'ünï'])
  })

  test('of equal tools are one', () => {
    expect(namesOf({ tools: [f, f, agents, agents] })).toEqual(['f', 'agents__spawn', 'agents__patch'])
  })
})

describe('tools that the caller runs itself', () => {
  test('a custom tool whose arguments have another form', () => {
    const chunks = [
      toolDelta(0, { name: 'sql', arguments: 'select' }, 'a'),
      toolDelta(0, { arguments: ' 1' }),
      finish('tool_calls'),
    ]
    const tools = [{ type: 'custom', name: 'sql' }]
    expect(last(chunks, { tools }).output).toMatchObject([{ type: 'custom_tool_call', name: 'sql', input: 'select 1' }])
    const inputEvents = eventsIn(bridge(chunks, { tools })).filter(({ type }) => type.includes('input'))
    expect(inputEvents).toMatchObject([{ delta: 'select 1' }, { input: 'select 1' }])
  })

  test('the local shell', () => {
    const tools = [{ type: 'local_shell' }]
    const args = { command: ['ls', '-l'], timeout_ms: 5 }
    expect(namesOf({ tools })).toEqual(['local_shell'])
    const chunks = [toolDelta(0, { name: 'local_shell', arguments: JSON.stringify(args) }, 'a'), finish('tool_calls')]
    const [item] = last(chunks, { tools }).output
    expect(item).toMatchObject({
      type: 'local_shell_call',
      call_id: 'a',
      status: 'completed',
      action: { type: 'exec', command: ['ls', '-l'], timeout_ms: 5, env: {} },
    })
    for (const id of [{ id: 'a' }, { id: 'x', call_id: 'a' }]) {
      const input = [item, { type: 'local_shell_call_output', ...id, output: 'ok' }]
      expect(chatOf({ input }).messages).toEqual([
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'local_shell', arguments: JSON.stringify(args) } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'ok' },
      ])
    }
  })

  test('the local shell with arguments of another form', () => {
    const commandOf = (args: string) => {
      const [item] = last([toolDelta(0, { name: 'local_shell', arguments: args }, 'a'), finish('tool_calls')], {
        tools: [{ type: 'local_shell' }],
      }).output
      return item?.type === 'local_shell_call' ? item.action.command : undefined
    }
    expect(commandOf('{"command":"ls"}')).toEqual(['ls'])
    for (const args of ['', 'ls', '[1]', '{}', 'null']) expect(commandOf(args)).toEqual([])
  })

  test('the search for tools of a client', () => {
    const search = { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters }
    expect(chatOf({ tools: [search] }).tools).toEqual([
      { type: 'function', function: { name: 'tool_search', description: 'Finds tools.', parameters } },
    ])
    const chunks = [toolDelta(0, { name: 'tool_search', arguments: '{"query":"x"}' }, 'a'), finish('tool_calls')]
    const [item] = last(chunks, { tools: [search] }).output
    expect(item).toMatchObject({
      type: 'tool_search_call',
      call_id: 'a',
      execution: 'client',
      arguments: { query: 'x' },
      status: 'completed',
    })
    const found = { type: 'tool_search_output', call_id: 'a', execution: 'client', tools: [agents, f] }
    const next = { tools: [search], input: [item, found] }
    expect(namesOf(next)).toEqual(['tool_search', 'agents__spawn', 'agents__patch', 'f'])
    expect(chatOf(next).messages).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'tool_search', arguments: '{"query":"x"}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: '{"tools":["agents__spawn","agents__patch","f"]}' },
    ])
  })

  test('tools that a server would find are all sent at once', () => {
    const tools = [{ type: 'tool_search' }, { ...f, defer_loading: true, allowed_callers: ['direct', 'programmatic'] }]
    expect(chatOf({ tools }).tools).toEqual([{ type: 'function', function: { name: 'f', parameters } }])
  })
})

describe('the choice of tools', () => {
  const tools = [agents, f, { type: 'local_shell' }]
  const choiceOf = (tool_choice: unknown, more: object = {}) => {
    const chat = chatOf({ tools, tool_choice, ...more })
    return [chat.tool_choice, ((chat.tools ?? []) as Named[]).map((tool) => tool.function.name)]
  }
  const all = ['agents__spawn', 'agents__patch', 'f', 'local_shell']
  const named = (name: string) => ({ type: 'function', function: { name } })

  test('is a function', () => {
    expect(choiceOf({ type: 'function', name: 'f' })).toEqual([named('f'), all])
    expect(choiceOf({ type: 'function', name: 'spawn' })).toEqual([named('agents__spawn'), all])
    expect(choiceOf({ type: 'custom', name: 'patch', namespace: 'agents' })).toEqual([named('agents__patch'), all])
    expect(choiceOf({ type: 'local_shell' })).toEqual([named('local_shell'), all])
    expect(choiceOf({ type: 'function', function: { name: 'f' } })).toEqual([named('f'), all])
  })

  test('among some tools leaves out the others', () => {
    const allowed = (mode: string | undefined, ...entries: readonly object[]) =>
      choiceOf({ type: 'allowed_tools', mode, tools: entries })
    expect(allowed('required', { type: 'function', name: 'f' })).toEqual(['required', ['f']])
    expect(allowed(undefined, { type: 'namespace', name: 'agents' })).toEqual(['auto', all.slice(0, 2)])
    expect(allowed('auto', { type: 'custom', name: 'patch' }, { type: 'local_shell' })).toEqual([
      'auto',
      ['agents__patch', 'local_shell'],
    ])
    expect(allowed('auto', { type: 'function', name: 'unknown' })).toEqual([undefined, []])
  })
})

describe('images and files in the output of a tool', () => {
  const image = { type: 'input_image', image_url: 'data:image/png;base64,AA' }
  const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })
  const output = (id: string, ...parts: readonly object[]) => ({
    type: 'function_call_output',
    call_id: id,
    output: parts,
  })

  test('follow all outputs, in a message of the user', () => {
    const input = [
      call('a'),
      call('b'),
      output('a', { type: 'input_text', text: 'seen' }, image),
      output('b', image, { type: 'input_file', filename: 'x.pdf', file_data: 'data:' }),
      { type: 'message', role: 'assistant', content: 'A cat.' },
    ]
    const chatImage = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }
    const question = { role: 'user', content: 'And now?' }
    expect((chatOf({ input: [call('a'), output('a', image), question] }).messages as unknown[]).slice(2)).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Output of the tool call a:' }, chatImage] },
      question,
    ])
    expect((chatOf({ input }).messages as unknown[]).slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'seen' },
      { role: 'tool', tool_call_id: 'b', content: 'The output is in the next message of the user.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Output of the tool call a:' },
          chatImage,
          { type: 'text', text: 'Output of the tool call b:' },
          chatImage,
          { type: 'file', file: { filename: 'x.pdf', file_data: 'data:' } },
        ],
      },
      { role: 'assistant', content: 'A cat.' },
    ])
  })
})

test('the output of a tool that no call asked for follows the outputs of the turn, in a message of the user', () => {
  const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'get', arguments: '{}' })
  const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'x' })
  const own = { type: 'function_call_output', id: 'fco_1', name: 'goal_objective', namespace: 'agent', output: 'win' }
  const texts = [{ type: 'input_text', text: 'one' }]
  const messages = chatOf({
    input: [call('a'), call('b'), output('a'), own, output('b'), { ...own, namespace: null, output: texts }],
  }).messages as readonly { readonly role: string; readonly content: readonly { readonly text: string }[] }[]
  expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'user'])
  expect(messages.at(-1)?.content.map(({ text }) => text)).toEqual([
    ...['Output of agent.goal_objective:', 'win'],
    ...['Output of goal_objective:', 'one'],
  ])
})
