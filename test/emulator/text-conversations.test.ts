import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { call, chat, clientOf, createResponse, failure, MODEL, post } from './text-client.ts'

let emulator: Emulator
let client: OpenAI

beforeAll(async () => {
  emulator = await startEmulator()
  client = clientOf(emulator)
})
afterAll(() => emulator.stop())
beforeEach(() => emulator.text.objects.clear())

const create = (input: unknown, more?: object) => createResponse(client, input, more)

describe('conversations', () => {
  test('a response in a conversation has its id, reads its items and adds to them', async () => {
    const items = [{ type: 'message', role: 'user', content: 'my secret is mango' }] as const
    const made = await client.conversations.create({ items: [...items], metadata: { topic: 'fruit' } })
    expect(made).toEqual({
      ...{ id: expect.stringMatching(/^conv_/), object: 'conversation', created_at: expect.any(Number) },
      metadata: { topic: 'fruit' },
    })
    const first = await create('and kiwi', { conversation: made.id })
    expect(first.conversation).toEqual({ id: made.id })
    expect(first.output_text).toContain('I recall “my secret is mango”.')
    const second = await create('well?', { conversation: { id: made.id }, store: false })
    expect(second.output_text).toContain('I recall “my secret is mango”, “and kiwi”.')
    expect((await create('and now?', { conversation: made.id })).output_text).toContain('“and kiwi”, “well?”.')
    expect(await client.conversations.retrieve(made.id)).toEqual(made)
  })

  test('an unknown or deleted conversation is 404', async () => {
    const { id } = await client.conversations.create()
    expect((await call(emulator, 'DELETE', `/conversations/${id}`)).json).toEqual({
      ...{ id, object: 'conversation.deleted', deleted: true },
    })
    for (const promise of [
      create('x', { conversation: id }),
      create('x', { conversation: { id } }),
      client.conversations.retrieve(id),
    ]) {
      const error = await failure(promise)
      expect(error).toBeInstanceOf(OpenAI.NotFoundError)
      expect(error.message).toBe(`404 Conversation with id '${id}' not found.`)
    }
  })

  test('invalid conversation parameters are rejected', async () => {
    const { id } = await client.conversations.create()
    const { id: previous_response_id } = await create('x')
    const rejected = async (body: object) => {
      const { status, json } = await post(emulator, '/responses', { model: MODEL, input: 'x', ...body })
      return [status, json.error.param, json.error.code]
    }
    expect(await rejected({ conversation: id, previous_response_id })).toEqual([
      ...[400, 'previous_response_id', 'mutually_exclusive_parameters'],
    ])
    expect(await rejected({ conversation: 7 })).toEqual([400, 'conversation', 'invalid_type'])
    expect(await rejected({ conversation: {} })).toEqual([400, 'conversation.id', 'missing_required_parameter'])
    expect(await rejected({ conversation: 'resp_1' })).toEqual([400, 'conversation', 'invalid_value'])
  })
})

describe('items of the account', () => {
  test('a reference finds input and output items by id', async () => {
    const first = await create('my secret is mango')
    const { data } = await client.responses.inputItems.list(first.id)
    const reference = { type: 'item_reference', id: data[0]?.id }
    expect((await create([reference, { role: 'user', content: 'well?' }])).output_text).toContain(
      'You wrote: “well?”. I recall “my secret is mango”.',
    )
    expect((await create([{ type: 'item_reference', id: first.output[0]?.id }])).status).toBe('completed')
  })

  test('an unknown or unstored item is 404, and so is reasoning without its encrypted content', async () => {
    const withReasoning = { reasoning: { effort: 'low' } }
    const { output } = await create('hi', { ...withReasoning, store: false, include: ['reasoning.encrypted_content'] })
    const [reasoning, message] = output
    for (const item of [
      { type: 'item_reference', id: 'msg_nothing' },
      { type: 'item_reference', id: reasoning?.id },
      { type: 'reasoning', id: reasoning?.id, summary: [] },
    ]) {
      const error = await failure(create([item, { role: 'user', content: 'x' }]))
      expect([error.status, error.param, error.message]).toEqual([
        ...[404, 'input', `404 Item with id '${item.id}' not found.`],
      ])
    }
    expect((await create([reasoning, message, { role: 'user', content: 'x' }])).status).toBe('completed')
    const kept = await create('hi', withReasoning)
    expect((await create([{ type: 'reasoning', id: kept.output[0]?.id, summary: [] }])).status).toBe('completed')
  })
})

/** The requests that reference each kind of object: paths, and bodies for an id. */
const REFERENCES: Readonly<Record<string, readonly (readonly [path: string, bodyFor: (id: string) => object])[]>> = {
  file: [
    ['/responses', (file_id) => withPart({ type: 'input_file', file_id })],
    ['/responses', (file_id) => withPart({ type: 'input_image', file_id })],
    ['/responses', (id) => withTool({ type: 'code_interpreter', container: { type: 'auto', file_ids: [id] } })],
    [
      '/chat/completions',
      (file_id) => chat('', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id } }] }] }),
    ],
  ],
  container: [['/responses', (container) => withTool({ type: 'code_interpreter', container })]],
  vector_store: [['/responses', (id) => withTool({ type: 'file_search', vector_store_ids: [id] })]],
  prompt: [['/responses', (id) => ({ model: MODEL, input: 'x', prompt: { id, version: '1' } })]],
  audio: [
    [
      '/chat/completions',
      (id) =>
        chat('', {
          messages: [
            { role: 'assistant', content: '', audio: { id } },
            { role: 'user', content: 'x' },
          ],
        }),
    ],
  ],
}
const withPart = (part: object) => ({ model: MODEL, input: [{ role: 'user', content: [part] }] })
const withTool = (tool: object) => ({ model: MODEL, input: 'x', tools: [tool] })

describe.each(Object.entries(REFERENCES))('an object of the account: %s', (kind, requests) => {
  test('can be referenced by any request, and the response quotes it', async () => {
    const control = { method: 'POST', body: JSON.stringify({ kind, name: `the secret ${kind}` }) }
    const { id } = (await (await fetch(`${emulator.origin}/_emulator/objects`, control)).json()) as { id: string }
    expect(emulator.text.objects.list()).toEqual([{ kind: kind as 'file', id }])
    for (const [path, bodyFor] of requests) {
      const { status, text } = await post(emulator, path, bodyFor(id))
      expect([status, text.includes(`I recall “the secret ${kind}”`)]).toEqual([200, true])
    }
    await fetch(`${emulator.origin}/_emulator/objects/${id}`, { method: 'DELETE' })
    for (const [path, bodyFor] of requests) expect((await post(emulator, path, bodyFor(id))).status).toBe(404)
  })

  test('of another kind is 404', async () => {
    const id = emulator.text.objects.add({ kind: kind === 'file' ? 'prompt' : 'file' })
    for (const [path, bodyFor] of requests) {
      const { status, json } = await post(emulator, path, bodyFor(id))
      expect([status, json.error.type, json.error.message]).toEqual([
        404,
        'invalid_request_error',
        expect.stringContaining(id),
      ])
    }
  })
})

test('the control API adds, lists and deletes objects, and rejects invalid ones', async () => {
  const posted = (body: string) => fetch(`${emulator.origin}/_emulator/objects`, { method: 'POST', body })
  expect((await posted('{"kind":"response"}')).status).toBe(400)
  expect((await posted('nothing')).status).toBe(400)
  expect(await (await posted('{"kind":"file","id":"file-mine"}')).json()).toEqual({ id: 'file-mine' })
  expect(await (await fetch(`${emulator.origin}/_emulator/objects`)).json()).toEqual([
    { kind: 'file', id: 'file-mine' },
  ])
  await fetch(`${emulator.origin}/_emulator/objects`, { method: 'DELETE' })
  expect(emulator.text.objects.list()).toEqual([])
})
