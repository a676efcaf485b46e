import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { call, clientOf, createResponse, failure, MODEL, post } from './text-client.ts'

let now = Date.UTC(2026, 0)
let emulator: Emulator
let client: OpenAI

beforeAll(async () => {
  emulator = await startEmulator({ clock: () => now, text: { responsesKeptMs: 60_000 } })
  client = clientOf(emulator)
})
afterAll(() => emulator.stop())
beforeEach(() => emulator.text.objects.clear())

const create = (input: unknown, more?: object) => createResponse(client, input, more)

describe('stored responses', () => {
  test('a stored response is returned unchanged', async () => {
    const made = await create('my secret is mango', { instructions: 'Be kind.', metadata: { a: 'b' } })
    expect(await client.responses.retrieve(made.id)).toEqual(made)
    expect(made).toMatchObject({ store: true, status: 'completed', usage: { total_tokens: expect.any(Number) } })
  })

  test('a stream stores its final response', async () => {
    const stream = client.responses.stream({ model: MODEL, input: 'hi' })
    const { parsed: _, ...final } = { ...(await stream.finalResponse()), parsed: 0 }
    expect(await client.responses.retrieve(final.id)).toMatchObject({
      id: final.id,
      status: 'completed',
      usage: final.usage,
    })
  })

  test('an unstored response is 404', async () => {
    const made = await create('hi', { store: false })
    const error = await failure(client.responses.retrieve(made.id))
    expect(error).toBeInstanceOf(OpenAI.NotFoundError)
    expect([error.message, error.type, error.param, error.code]).toEqual([
      ...[`404 Response with id '${made.id}' not found.`, 'invalid_request_error', null, null],
    ])
  })

  test('a response quotes the messages before it, and no others', async () => {
    const first = await create('my secret is mango')
    const second = await create('and kiwi', { previous_response_id: first.id })
    const third = await create('well?', { previous_response_id: second.id })
    expect(first.output_text).not.toContain('I recall')
    expect(third.output_text).toContain('You wrote: “well?”. I recall “my secret is mango”, “and kiwi”.')
    expect(third.previous_response_id).toBe(second.id)
    expect((await create('well?', { previous_response_id: first.id })).output_text).toContain(
      'I recall “my secret is mango”. I',
    )
  })

  test('a response can be continued after its predecessor was deleted, but the deleted one cannot', async () => {
    const first = await create('mango')
    const second = await create('kiwi', { previous_response_id: first.id })
    await client.responses.delete(first.id)
    expect((await create('x', { previous_response_id: second.id })).output_text).toContain('“mango”, “kiwi”')
    const error = await failure(create('x', { previous_response_id: first.id }))
    expect([error.status, error.code, error.param, error.message]).toEqual([
      ...[400, 'previous_response_not_found', 'previous_response_id'],
      `400 Previous response with id '${first.id}' not found.`,
    ])
  })

  test('a deleted response is 404', async () => {
    const { id } = await create('hi')
    const response = await call(emulator, 'DELETE', `/responses/${id}`)
    expect([response.status, response.json]).toEqual([200, { id, object: 'response.deleted', deleted: true }])
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/input_items'],
      ['POST', '/cancel'],
    ] as const) {
      const gone = await call(emulator, method, `/responses/${id}${path}`)
      expect([gone.status, gone.json.error.message]).toEqual([404, `Response with id '${id}' not found.`])
    }
  })

  test('responses expire together with their items', async () => {
    const { id, output } = await create('hi')
    now += 59_999
    expect((await client.responses.retrieve(id)).id).toBe(id)
    now += 1
    expect((await failure(client.responses.retrieve(id))).status).toBe(404)
    expect((await failure(create([{ type: 'item_reference', id: output[0]?.id }]))).status).toBe(404)
    expect(emulator.text.objects.list()).toEqual([])
  })

  test('an id with the wrong prefix is 400', async () => {
    const param = async (promise: Promise<unknown>) => {
      const { status, param, code } = await failure(promise)
      return [status, param, code]
    }
    expect(await param(client.responses.retrieve('msg_1'))).toEqual([400, 'response_id', 'invalid_value'])
    expect(await param(create('x', { previous_response_id: 'msg_1' }))).toEqual([
      ...[400, 'previous_response_id', 'invalid_value'],
    ])
  })

  test('only a background response can be cancelled', async () => {
    const { id } = await create('hi')
    const error = await failure(client.responses.cancel(id))
    expect([error.status, error.message]).toEqual([400, '400 Cannot cancel a synchronous response.'])
  })

  test('an id that contains path segments reaches the resource of the resolved path', async () => {
    const { id } = await create('hi')
    for (const path of [`/responses/x%2F..%2F${id}`, `/models/../responses/${id}`]) {
      expect((await call(emulator, 'GET', path)).json.id).toBe(id)
    }
    expect((await call(emulator, 'PUT', `/responses/${id}`)).headers.get('allow')).toBe('GET, DELETE')
    expect(emulator.calls.at(-2)).toMatchObject({ action: 'GetResponse', api: 'text', status: 200 })
  })
})

describe('input items', () => {
  const listed = async (id: string, query: OpenAI.Responses.InputItemListParams = {}) => {
    const page = await client.responses.inputItems.list(id, query)
    return page.data.map((item) => (item as { content?: { text?: string }[] }).content?.[0]?.text)
  }

  test('include the earlier items and are listed in descending order', async () => {
    const first = await create('one')
    const { id } = await create([{ role: 'user', content: [{ type: 'input_text', text: 'two' }] }], {
      previous_response_id: first.id,
    })
    const output = first.output_text
    expect(await listed(id)).toEqual(['two', output, 'one'])
    expect(await listed(id, { order: 'asc', limit: 2 })).toEqual(['one', output])
    const page = (await call(emulator, 'GET', `/responses/${id}/input_items?limit=2`)).json
    expect([page.object, page.has_more, page.first_id, page.last_id]).toEqual([
      ...['list', true, page.data[0].id, page.data[1].id],
    ])
    expect(page.data[0]).toMatchObject({
      type: 'message',
      role: 'user',
      status: 'completed',
      id: expect.stringMatching(/^msg_/),
    })
    expect(await listed(id, { after: page.last_id })).toEqual(['one'])
  })

  test('can be paged by the official client', async () => {
    const { id } = await create(Array.from({ length: 45 }, (_, n) => ({ role: 'user', content: `${n}` })))
    const seen: unknown[] = []
    for await (const item of client.responses.inputItems.list(id, { order: 'asc', limit: 10 })) seen.push(item)
    expect(seen.map((item) => (item as { content: string }).content)).toEqual(
      Array.from({ length: 45 }, (_, n) => `${n}`),
    )
  })

  test('invalid paging parameters are rejected', async () => {
    const { id } = await create('one')
    const rejected = async (query: string) => {
      const { status, json } = await call(emulator, 'GET', `/responses/${id}/input_items?${query}`)
      return [status, json.error.param, json.error.code]
    }
    expect(await rejected('limit=0')).toEqual([400, 'limit', 'integer_below_min_value'])
    expect(await rejected('limit=101')).toEqual([400, 'limit', 'integer_above_max_value'])
    expect(await rejected('limit=many')).toEqual([400, 'limit', 'invalid_type'])
    expect(await rejected('order=up')).toEqual([400, 'order', 'invalid_value'])
    expect(await rejected('after=msg_1')).toEqual([400, 'after', 'invalid_value'])
  })
})

test('the key is checked before the id', async () => {
  const { id } = await create('hi')
  for (const path of [`/responses/${id}`, '/responses/resp_nothing', `/responses/${id}/input_items`]) {
    expect((await call(emulator, 'GET', path, { authorization: 'Bearer x' })).status).toBe(401)
  }
  expect((await post(emulator, '/conversations', {}, { authorization: 'Bearer x' })).status).toBe(401)
})
