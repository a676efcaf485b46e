import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { dataOf, MODEL, post } from './text-client.ts'

let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator()
})
afterAll(() => emulator.stop())
afterEach(() => emulator.text.scenarios.clear())

const STEPS = [
  { reason: 'First I look.', say: 'Looking.', call: 'ls', arguments: { path: '.' } },
  { calls: [{ call: 'cat', arguments: '{"file":"a' }, { call: 'ls' }] },
  { say: 'They say: {output}' },
]
const PROMPT = `Please. <scenario>${JSON.stringify(STEPS)}</scenario>`

const functionNamed = (name: string, more: object = {}) => ({ type: 'function', name, parameters: {}, ...more })
const CHAT_TOOLS = ['ls', 'cat'].map((name) => ({ type: 'function', function: { name } }))
const TOOLS = ['ls', 'cat'].map((name) => functionNamed(name))

const chat = async (messages: readonly object[], more: object = {}) =>
  (await post(emulator, '/chat/completions', { model: MODEL, messages, tools: CHAT_TOOLS, ...more })).json
const respond = async (input: unknown, more: object = {}) =>
  (await post(emulator, '/responses', { model: MODEL, input, tools: TOOLS, ...more })).json

describe('a scenario in the prompt', () => {
  test('gives one step for each request of a chat, with text, reasoning and tool calls', async () => {
    const messages: object[] = [{ role: 'user', content: PROMPT }]
    const answer = async (results: readonly string[] = []) => {
      const { choices } = await chat(messages)
      const { message, finish_reason } = choices[0]
      messages.push(message)
      for (const [index, content] of results.entries())
        messages.push({ role: 'tool', tool_call_id: message.tool_calls[index].id, content })
      const calls = message.tool_calls?.map((call: { function: object }) => call.function)
      return { text: message.content, reasoning: message.reasoning_content, calls, finish_reason }
    }
    expect(await answer(['a.txt'])).toEqual({
      ...{ text: 'Looking.', reasoning: 'First I look.', finish_reason: 'tool_calls' },
      calls: [{ name: 'ls', arguments: '{"path":"."}' }],
    })
    const two = [
      { name: 'cat', arguments: '{"file":"a' },
      { name: 'ls', arguments: '{}' },
    ]
    // a user message that an agent adds between the steps does not matter
    messages.push({ role: 'user', content: 'Only a reminder.' })
    expect(await answer(['one', 'two'])).toMatchObject({ text: null, calls: two, finish_reason: 'tool_calls' })
    expect(await answer()).toMatchObject({ text: 'They say: one\ntwo', finish_reason: 'stop' })
    messages.push({ role: 'user', content: 'Thank you.' })
    expect((await answer()).text).toContain('You wrote: “Thank you.”')
  })

  test('uses the last member of a name in the results of tools, also of JSON inside of JSON', async () => {
    const steps = [
      { call: 'ls' },
      { call: 'cat', arguments: { file: 'a/{output.id}', other: '{output.none}' } },
      { say: 'It is {output.id}.' },
    ]
    const messages: object[] = [{ role: 'user', content: `<scenario>${JSON.stringify(steps)}</scenario>` }]
    const answer = async (content: string) => {
      const { message } = (await chat(messages)).choices[0]
      messages.push(message)
      const [call] = message.tool_calls ?? []
      if (call) messages.push({ role: 'tool', tool_call_id: call.id, content })
      return call?.function.arguments ?? message.content
    }
    await answer('{"id":"one","items":[{"id":"two"}]}')
    expect(await answer(JSON.stringify([JSON.stringify({ id: 'three' })]))).toBe(
      '{"file":"a/two","other":"{output.none}"}',
    )
    expect(await answer('')).toBe('It is three.')
  })

  test('works with the items of the Responses API, sent again or continued by id', async () => {
    const first = await respond(PROMPT)
    expect(first.output).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'First I look.' }] },
      { type: 'message', content: [{ text: 'Looking.' }] },
      { type: 'function_call', name: 'ls', arguments: '{"path":"."}' },
    ])
    const outputOf = ({ call_id }: { call_id: string }) => ({ type: 'function_call_output', call_id, output: 'a.txt' })
    const result = outputOf(first.output[2])
    const continued = await respond([result], { previous_response_id: first.id })
    const repeated = await respond([{ role: 'user', content: PROMPT }, ...first.output.slice(1), result])
    for (const { output } of [continued, repeated])
      expect(output).toMatchObject([{ name: 'cat', arguments: '{"file":"a' }, { name: 'ls' }])
    const results = continued.output.map(outputOf)
    const last = await respond(results, { previous_response_id: continued.id })
    expect(last.output).toMatchObject([{ content: [{ text: 'They say: a.txt\na.txt' }] }])
  })

  test('respects tool_choice none and parallel_tool_calls, and streams', async () => {
    const steps = `<scenario>${JSON.stringify([STEPS[1]])}</scenario>`
    const messages = [{ role: 'user', content: steps }]
    const count = async (more: object) => (await chat(messages, more)).choices[0].message.tool_calls?.length
    expect(await count({})).toBe(2)
    expect(await count({ parallel_tool_calls: false })).toBe(1)
    expect(await count({ tool_choice: 'none' })).toBeUndefined()
    const body = { model: MODEL, messages, tools: CHAT_TOOLS, stream: true }
    const deltas = dataOf((await post(emulator, '/chat/completions', body)).text).flatMap(
      (chunk) => chunk.choices?.[0]?.delta.tool_calls ?? [],
    )
    const texts = [0, 1].map((at) =>
      deltas.flatMap((delta) => (delta.index === at ? delta.function.arguments : [])).join(''),
    )
    expect(texts).toEqual(['{"file":"a', '{}'])
  })

  test('says so when a tool is not offered, and rejects an invalid scenario', async () => {
    const without = await chat([{ role: 'user', content: PROMPT }], { tools: [] })
    expect(without.choices[0].message.content).toBe('I have no tool ls, only: none.')
    for (const [steps, reason] of [
      ['[', 'steps must be a JSON array'],
      ['[]', 'steps must be a JSON array'],
      ['[1]', 'steps[0] must be an object'],
      ['[{"say":"x"},{}]', 'steps[1] needs say, call or calls'],
      ['[{"says":"x"}]', 'steps[0] has no field says'],
      ['[{"say":1}]', 'steps[0].say must be a text'],
      ['[{"calls":["ls"]}]', 'steps[0].calls must be'],
    ]) {
      const { error } = await chat([{ role: 'user', content: `<scenario>${steps}</scenario>` }])
      expect(error.message).toContain(reason)
    }
  })
})

describe('a scenario of a test', () => {
  test('applies to conversations with its text; the newest first', async () => {
    emulator.text.scenarios.add({ when: 'fix', steps: [{ say: 'old' }] })
    emulator.text.scenarios.add({ when: 'fix the bug', steps: [{ call: 'ls' }] })
    const [called] = (await respond('Please fix the bug.')).output
    expect(called).toMatchObject({ type: 'function_call', name: 'ls', arguments: '{}' })
    expect((await respond('Please fix it.')).output[0].content[0].text).toBe('old')
    expect((await respond('Please.')).output[0].content[0].text).toContain('You wrote')
  })

  test('can be added, listed and deleted with the control routes', async () => {
    const scenarios = `${emulator.origin}/_emulator/scenarios`
    const add = (body: string) => fetch(scenarios, { method: 'POST', body })
    const scenario = { when: 'hello', steps: [{ say: 'Hello yourself.' }] }
    expect((await add(JSON.stringify(scenario))).status).toBe(201)
    expect(await (await fetch(scenarios)).json()).toEqual([scenario])
    expect((await respond('hello')).output[0].content[0].text).toBe('Hello yourself.')
    for (const [body, error] of [
      ['{"steps":[]}', 'a scenario needs when: a text'],
      ['{"when":"x","steps":[{}]}', 'steps[0] needs say, call or calls'],
    ] as const) {
      const response = await add(body)
      expect([response.status, await response.json()]).toEqual([400, { error }])
    }
    await fetch(scenarios, { method: 'DELETE' })
    expect(emulator.text.scenarios.list()).toEqual([])
  })
})

describe('the tools of a scenario', () => {
  const call = async (step: object, tools: readonly object[], more: readonly object[] = []) => {
    const prompt = { role: 'user', content: `<scenario>${JSON.stringify([step, { say: '{output}' }])}</scenario>` }
    const send = (input: readonly object[]) => respond([prompt, ...more, ...input], { tools, store: false })
    const { output } = await send([])
    const { call_id, type } = output[0]
    const result = { type: type.replace(/_call$/, '_call_output'), call_id, output: 'fine' }
    return { item: output[0], send, answer: async () => (await send([output[0], result])).output[0].content[0].text }
  }

  test('can be in a namespace, which the call names; a gateway can have joined the two names', async () => {
    const step = { call: 'close', namespace: 'agents', arguments: { id: 1 } }
    const namespace = { type: 'namespace', name: 'agents', description: 'd', tools: [functionNamed('close')] }
    const { item, answer } = await call(step, [functionNamed('close'), namespace])
    expect(item).toMatchObject({ type: 'function_call', name: 'close', namespace: 'agents', arguments: '{"id":1}' })
    expect(await answer()).toBe('fine')
    const joined = await call(step, [functionNamed('close'), functionNamed('agents__close')])
    expect(joined.item).toMatchObject({ name: 'agents__close', arguments: '{"id":1}' })
    expect(joined.item).not.toHaveProperty('namespace')
  })

  test('can be custom; a function with the same name gets the input as its first required argument', async () => {
    const step = { call: 'patch', input: '*** Begin' }
    const custom = await call(step, [{ type: 'custom', name: 'patch' }])
    expect(custom.item).toMatchObject({ type: 'custom_tool_call', name: 'patch', input: '*** Begin' })
    expect(await custom.answer()).toBe('fine')
    const parameters = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
    const { item } = await call(step, [functionNamed('patch', { parameters })])
    expect(item).toMatchObject({ type: 'function_call', arguments: '{"text":"*** Begin"}' })
  })

  test('can be the local shell', async () => {
    const step = { call: 'local_shell', arguments: { command: ['ls'], timeout_ms: 500 } }
    const { item, answer } = await call(step, [{ type: 'local_shell' }])
    const action = { type: 'exec', command: ['ls'], env: {}, timeout_ms: 500 }
    expect(item).toMatchObject({ type: 'local_shell_call', status: 'completed', action })
    expect(await answer()).toBe('fine')
  })

  test('can be found by a search of the caller', async () => {
    const search = { type: 'tool_search', execution: 'client', description: 'd', parameters: {} }
    const tools = [{ type: 'namespace', name: 'mail', description: 'd', tools: [functionNamed('send')] }]
    const steps = [
      { call: 'tool_search', arguments: { query: 'mail' } },
      { call: 'send', namespace: 'mail' },
    ]
    const prompt = { role: 'user', content: `<scenario>${JSON.stringify(steps)}</scenario>` }
    const [searched] = (await respond([prompt], { tools: [search] })).output
    expect(searched).toMatchObject({ type: 'tool_search_call', execution: 'client', arguments: { query: 'mail' } })
    const after = async (found: readonly object[]) => {
      const output = { type: 'tool_search_output', call_id: searched.call_id, execution: 'client', tools: found }
      return (await respond([prompt, searched, output], { tools: [search] })).output[0]
    }
    expect(await after(tools)).toMatchObject({ type: 'function_call', name: 'send', namespace: 'mail' })
    expect((await after([])).content[0].text).toBe('I have no tool mail.send, only: tool_search.')
  })
})

test('an output that names its tool belongs to no call', async () => {
  const own = { type: 'function_call_output', name: 'goal', namespace: 'agent', output: 'win' }
  expect((await respond([own])).output[0].content[0].text).toContain('You wrote: “win”')
  const { name: _, ...nameless } = own
  const { error } = await respond([nameless])
  expect([error.param, error.code]).toEqual(['input[0].call_id', 'missing_required_parameter'])
})
