import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { clientOf, dataOf, post } from './text-client.ts'

let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator()
})
afterAll(() => emulator.stop())

const MODEL = 'emulated-reasoner'
const USER = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] }
const send = (input: unknown, more: object = {}, path = '/responses') =>
  post(emulator, path, { model: MODEL, input, ...more })
const stateless = { store: false, include: ['reasoning.encrypted_content'] }

describe('encrypted reasoning', () => {
  const generated = async () => (await send([USER], stateless)).json.output

  test('is accepted when it comes back, also without the id of its item', async () => {
    const [reasoning, message] = await generated()
    expect(reasoning.encrypted_content).toMatch(/^gAAAAA[\w-]{50,}$/)
    const { id: _, ...bare } = reasoning
    for (const item of [reasoning, bare, { ...reasoning, content: null }])
      expect((await send([USER, item, message, USER], stateless)).status).toBe(200)
    const streamed = dataOf((await send([USER], { ...stateless, stream: true })).text)
    const done = streamed.find(({ type, item }) => type === 'response.output_item.done' && item.type === 'reasoning')
    expect((await send([USER, done.item, message, USER], stateless)).status).toBe(200)
  })

  test('is rejected when it was changed, comes from another account, or belongs to another item', async () => {
    const [reasoning, message] = await generated()
    const sealed: string = reasoning.encrypted_content
    await using other = await startEmulator({ text: { key: 'another-key' } })
    const foreign = (await post(other, '/responses', { model: MODEL, input: [USER], ...stateless })).json.output[0]
    const why = 'Encrypted content could not be decrypted or parsed.'
    for (const [item, named, reason] of [
      [{ ...reasoning, encrypted_content: `${sealed.slice(0, -4)}AAAA` }, `for item ${reasoning.id}`, why],
      [{ ...reasoning, encrypted_content: 'Let me think.', id: undefined }, 'Let ...ink.', why],
      [foreign, `for item ${foreign.id}`, why],
      [
        { ...reasoning, id: 'rs_other' },
        'for item rs_other',
        'Encrypted content item_id did not match the target item id.',
      ],
    ]) {
      const { status, json } = await send([USER, item, message, USER], stateless)
      const errorMessage = `The encrypted content ${named} could not be verified. Reason: ${reason}`
      expect([status, json.error]).toEqual([
        400,
        { message: errorMessage, type: 'invalid_request_error', param: null, code: 'invalid_encrypted_content' },
      ])
    }
  })

  test('must precede what was generated after it', async () => {
    const [reasoning] = await generated()
    for (const input of [
      [USER, reasoning],
      [USER, reasoning, USER],
    ]) {
      const { status, json } = await send(input, stateless)
      expect([status, json.error.param, json.error.message]).toEqual([
        ...[400, 'input'],
        `Item '${reasoning.id}' of type 'reasoning' was provided without its required following item.`,
      ])
    }
  })
})

describe('compaction', () => {
  test('returns the user messages and one item, which stands for the rest in later requests', async () => {
    const first = (await send('my secret is mango')).json
    const { status, json } = await send([USER], { previous_response_id: first.id }, '/responses/compact')
    expect([status, json.object]).toEqual([200, 'response.compaction'])
    const [, , compaction] = json.output
    // `toMatchObject` of Bun writes its matchers into the value
    expect(structuredClone(json.output)).toMatchObject([
      { type: 'message', role: 'user', content: [{ text: 'my secret is mango' }] },
      { type: 'message', role: 'user', content: [{ text: 'hello' }] },
      { type: 'compaction', id: expect.stringMatching(/^cmp_/), encrypted_content: expect.any(String) },
    ])
    expect(json.usage.output_tokens).toBeGreaterThan(10)
    const next = (await send([...json.output, USER], { store: false })).json
    const without = (await send([json.output[0], json.output[1], USER], { store: false })).json
    expect(next.usage.input_tokens).toBeGreaterThan(without.usage.input_tokens + 10)
    const changed = await send([{ ...compaction, encrypted_content: 'x' }, USER])
    expect([changed.status, changed.json.error.code]).toEqual([400, 'invalid_encrypted_content'])
  })

  test('can be triggered by the last item of a request', async () => {
    const body = { model: MODEL, input: [USER, { type: 'compaction_trigger' } as const] }
    const events = dataOf((await send(body.input, { stream: true })).text)
    expect(events.map(({ type }) => type)).toEqual([
      ...['response.created', 'response.in_progress', 'response.output_item.added'],
      ...['response.compaction.compacting', 'response.output_item.done', 'response.completed'],
    ])
    const { output } = events.at(-1).response
    expect(structuredClone(output)).toMatchObject([
      { type: 'compaction', encrypted_content: expect.stringMatching(/^gAAAAA/) },
    ])
    expect((await send([...output, USER])).status).toBe(200)
  })
})

test('the input tokens of a request are those of its usage', async () => {
  const tools = [{ type: 'function', name: 'ls', parameters: { type: 'object' } }]
  const more = { instructions: 'Be brief.', tools }
  const { usage } = (await send([USER], more)).json
  const calls = emulator.calls.length
  const counted = await send([USER], more, '/responses/input_tokens')
  expect(counted.json).toEqual({ object: 'response.input_tokens', input_tokens: usage.input_tokens })
  expect((await send([USER], { ...more, model: undefined }, '/responses/input_tokens')).json).toEqual(counted.json)
  expect(emulator.calls.slice(calls).map(({ action }) => action)).toEqual(['CountInputTokens', 'CountInputTokens'])
  expect((await send([USER], { model: 'no' }, '/responses/input_tokens')).status).toBe(404)
})

test('tools can be items of the input, with namespaces', async () => {
  const exec = { type: 'custom', name: 'exec', format: { type: 'text' } }
  const tools = [{ type: 'namespace', name: 'functions', description: '', tools: [exec] }]
  const items = [
    { type: 'additional_tools', id: 'at_1', role: 'developer', tools },
    {
      role: 'user',
      content: '<scenario>[{"call":"exec","namespace":"functions","input":"ls"},{"say":"{output}"}]</scenario>',
    },
  ]
  const [, call] = (await send(items, { tool_choice: 'auto', ...stateless })).json.output
  expect(call).toMatchObject({ type: 'custom_tool_call', name: 'exec', namespace: 'functions', input: 'ls' })
  const output = [{ type: 'input_text', text: 'a.txt' }]
  const result = { type: 'custom_tool_call_output', call_id: call.call_id, output }
  const answered = (await send([...items, call, result], stateless)).json
  expect(answered.output[1].content[0].text).toBe('a.txt')
  const wrong = await send([{ ...items[0], role: 'user' }, items[1]])
  expect(wrong.json.error.param).toBe('input[0].role')
})

describe('the prompt cache', () => {
  const long = (word: string) => `${word} `.repeat(1500)

  test('counts what it writes, and reads the same beginning of a later prompt', async () => {
    const cache = async (content: string) => {
      const { usage } = (await send([{ role: 'user', content }])).json
      const { cached_tokens, cache_write_tokens } = usage.input_tokens_details
      return [cached_tokens, cache_write_tokens]
    }
    expect(await cache('short')).toEqual([0, 0])
    const [none, written = 0] = await cache(long('cat'))
    expect([none, written % 128]).toEqual([0, 0])
    expect(written).toBeGreaterThan(1024)
    expect(await cache(long('cat'))).toEqual([written, 0])
    expect(await cache(`${long('cat')} and ${long('dog')}`)).toEqual([written, expect.any(Number)])
    expect(await cache(long('dog'))).toEqual([0, written])
  })

  test('is counted in chat completions too', async () => {
    const client = clientOf(emulator)
    const usage = async () => {
      const messages = [{ role: 'user', content: long('bird') }] as const
      const made = await client.chat.completions.create({ model: MODEL, messages: [...messages] })
      return made.usage?.prompt_tokens_details
    }
    const first = await usage()
    expect(first).toMatchObject({ cached_tokens: 0, cache_write_tokens: expect.any(Number) })
    expect(await usage()).toMatchObject({ cached_tokens: first?.cache_write_tokens ?? 0, cache_write_tokens: 0 })
  })
})
