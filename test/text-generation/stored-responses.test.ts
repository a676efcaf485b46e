import { describe, expect, test } from 'bun:test'
import { chunk, dataOf, streaming } from './fixture.ts'
import { answering, type Body, bodyOf, lastMessages, respond, storedOpener } from './stored-fixture.ts'
import { newId, opener, refusal, testStore } from './stored-responses.ts'

const store = testStore()
const open = storedOpener(store)

describe('a response of an upstream with chat completions only', () => {
  for (const stream of [false, true]) {
    test(`is kept, and can be continued without its instructions (stream: ${stream})`, async () => {
      const app = open()
      const more = stream ? { stream } : {}
      const first = await respond(app, 'ann', { input: 'one', instructions: 'be brief', ...more })
      expect(first).toMatchObject({ store: true, previous_response_id: null, instructions: 'be brief' })
      expect(first.id).toMatch(/^resp_gw_[0-9a-f]{32}$/)
      const second = await respond(app, 'ann', { input: 'two', previous_response_id: first.id, ...more })
      expect(second).toMatchObject({ store: true, previous_response_id: first.id, instructions: null })
      const input = [{ role: 'user', content: [{ type: 'input_text', text: 'three' }] }]
      await respond(app, 'ann', { input, previous_response_id: second.id, model: 'n', ...more })
      expect(lastMessages(app)).toEqual([
        ...['user: one', 'assistant: answer x', 'user: two', 'assistant: answer x'],
        'user: three',
      ])
      expect(app.asked.at(-1)?.json).not.toHaveProperty('previous_response_id')
    })
  }

  test('is retrieved and deleted by its user only, as it was', async () => {
    const app = open()
    const made = await respond(app, 'ann', { metadata: { a: 'b' }, temperature: 0.5 })
    const path = `/responses/${made.id}`
    expect(await bodyOf(app.as('ann', 'GET', path))).toEqual([200, made])
    expect(await bodyOf(app.as('ann', 'GET', `${path}?include[]=reasoning.encrypted_content`))).toEqual([200, made])
    for (const [method, below] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/cancel'],
      ['GET', '/input_items'],
    ] as const) {
      const foreign = await app.as('bob', method, path + below)
      const unknownId = `resp_gw_${'0'.repeat(32)}`
      const unknown = await app.as('bob', method, `/responses/${unknownId}${below}`)
      expect([foreign.status, await foreign.json()]).toEqual([404, refusal(`Response with id '${made.id}' not found.`)])
      expect([unknown.status, await unknown.json()]).toEqual([
        404,
        refusal(`Response with id '${unknownId}' not found.`),
      ])
    }
    expect(await bodyOf(app.as('ann', 'POST', `${path}/cancel`))).toEqual([
      400,
      refusal('Cannot cancel a synchronous response.'),
    ])
    expect((await app.as('ann', 'GET', `${path}?stream=true`)).status).toBe(400)
    const deleted = { id: made.id, object: 'response.deleted', deleted: true }
    expect(await bodyOf(app.as('ann', 'DELETE', path))).toEqual([200, deleted])
    expect((await app.as('ann', 'GET', path)).status).toBe(404)
    expect((await app.as('ann', 'DELETE', path)).status).toBe(404)
    expect(app.asked).toHaveLength(1)
  })

  test('is not kept with `store: false`, but can continue one that is', async () => {
    const app = open()
    const first = await respond(app, 'ann', { input: 'one' })
    const second = await respond(app, 'ann', { input: 'two', previous_response_id: first.id, store: false })
    expect(second).toMatchObject({ store: false, previous_response_id: first.id })
    expect(lastMessages(app)).toEqual(['user: one', 'assistant: answer x', 'user: two'])
    expect((await app.as('ann', 'GET', `/responses/${second.id}`)).status).toBe(404)
    const continued = app.as('ann', 'POST', '/responses', { model: 'm', input: 'x', previous_response_id: second.id })
    expect((await bodyOf(continued))[0]).toBe(400)
  })

  test('is not kept without a store', async () => {
    const app = opener(store)(answering, { upstreams: [{ url: 'http://upstream.invalid/v1', chatOnly: true }] })
    expect((await respond(app, 'ann')).store).toBe(false)
    const continued = await bodyOf(
      app.as('ann', 'POST', '/responses', { model: 'm', input: 'x', previous_response_id: 'resp_1' }),
    )
    expect(continued).toMatchObject([400, { error: { param: 'previous_response_id', code: 'unsupported_parameter' } }])
  })

  test('is continued by nobody else, whatever the id is', async () => {
    const app = open()
    const made = await respond(app, 'ann')
    app.asked.length = 0
    const ids = [made.id, `resp_gw_${'0'.repeat(32)}`, made.id.toUpperCase(), `${made.id} `, made.output[0].id, '', 'x']
    for (const model of ['m', 'native']) {
      for (const id of ids) {
        const answer = await bodyOf(
          app.as('bob', 'POST', '/responses', { model, input: 'x', previous_response_id: id }),
        )
        expect(answer).toEqual([
          400,
          refusal(`Previous response with id '${id}' not found.`, {
            param: 'previous_response_id',
            code: 'previous_response_not_found',
          }),
        ])
      }
      for (const id of [7, { id: made.id }, [made.id]]) {
        const answer = app.as('bob', 'POST', '/responses', { model, input: 'x', previous_response_id: id })
        expect((await bodyOf(answer))[0]).toBe(400)
      }
      const twice = `{"model":"${model}","input":"x","previous_response_id":null,"previous_response_id":"${made.id}"}`
      const headers = { authorization: 'bob', 'content-type': 'application/json' }
      const odd = [twice, twice.replace('"previous_response_id":null', '"Previous_Response_ID":null')]
      for (const body of odd) expect((await app.ask('/responses', { method: 'POST', headers, body })).status).toBe(400)
    }
    expect(app.asked).toEqual([])
  })

  test('that the upstream has cut off is kept, too', async () => {
    const app = open(() => streaming([chunk({ content: 'half' }), chunk({}, 'length'), '[DONE]']))
    const made = await respond(app, 'ann', { stream: true })
    expect(made).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
    expect(await bodyOf(app.as('ann', 'GET', `/responses/${made.id}`))).toEqual([200, made])
    await respond(app, 'ann', { input: 'go on', previous_response_id: made.id })
    expect(lastMessages(app)).toEqual(['user: x', 'assistant: half', 'user: go on'])
  })

  test('of a broken stream is not kept', async () => {
    const app = open(() => streaming([chunk({ content: 'half' })], 'reset'))
    const response = await app.as('ann', 'POST', '/responses', { model: 'm', input: 'x', stream: true })
    const events = dataOf(await response.text()).map((data) => JSON.parse(data))
    expect(events.at(-1)?.type).toBe('error')
    expect((await app.as('ann', 'GET', `/responses/${events[0].response.id}`)).status).toBe(404)
  })

  test('is kept before the caller receives the end of it', async () => {
    for (const stream of [true, false]) {
      const saving = Promise.withResolvers<void>()
      const began = Promise.withResolvers<void>()
      const slow: typeof store = {
        ...store,
        async storeResponse(response, max) {
          began.resolve()
          await saving.promise
          return store.storeResponse(response, max)
        },
      }
      const app = open(undefined, { storedResponses: slow })
      const response = app.as('ann', 'POST', '/responses', { model: 'm', input: 'x', stream })
      let text = ''
      const read = response.then(async ({ body }) => {
        const decoder = new TextDecoder()
        for await (const bytes of body ?? []) text += decoder.decode(bytes)
      })
      await began.promise
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect([text.includes('response.completed'), text.includes('answer')]).toEqual([false, stream])
      saving.resolve()
      await read
      expect(text).toContain(stream ? 'response.completed' : '"status":"completed"')
    }
  })

  test('is complete at [DONE], whatever follows', async () => {
    const rest = [chunk({ content: 'x' }), chunk({}, 'stop'), '[DONE]', { error: { message: 'too late' } }]
    const made = await respond(
      open(() => streaming(rest)),
      'ann',
      { stream: true },
    )
    expect(made).toMatchObject({ status: 'completed', store: true })
  })

  test('that cannot be kept is an error', async () => {
    const warnings: object[] = []
    const log = { debug() {}, info() {}, warn: (fields: object) => void warnings.push(fields), error() {} }
    const full = { ...store, storeResponse: () => Promise.reject(new Error('SQLITE_FULL')) }
    const app = open(undefined, { storedResponses: full, log })
    expect(await bodyOf(app.as('ann', 'POST', '/responses', { model: 'm', input: 'x' }))).toEqual([
      500,
      { error: { message: 'response could not be recorded', type: 'server_error', param: null, code: null } },
    ])
    const response = await app.as('ann', 'POST', '/responses', { model: 'm', input: 'x', stream: true })
    const text = await response.text()
    const events = dataOf(text).map((data) => JSON.parse(data))
    expect(events.slice(-2)).toMatchObject([
      { type: 'response.failed', response: { status: 'failed', error: { message: 'response could not be recorded' } } },
      { type: 'error', message: 'response could not be recorded' },
    ])
    expect([text.includes('response.completed'), text.includes('[DONE]'), text.includes('SQLITE')]).toEqual([
      ...[false, false, false],
    ])
    expect(warnings).toMatchObject([{ err: { message: 'SQLITE_FULL' } }, { err: { message: 'SQLITE_FULL' } }])
  })

  test('that cannot be read is an error, and nothing is sent', async () => {
    const fail = () => Promise.reject(new Error('SQLITE_BUSY'))
    const broken = { ...store, findStoredResponse: fail, findStoredConversation: fail, findStoredItem: fail }
    const app = open(undefined, { storedResponses: broken })
    const id = `resp_gw_${'0'.repeat(32)}`
    const reference = { type: 'item_reference', id: `msg_gw_${'0'.repeat(32)}` }
    const answers = [
      await bodyOf(app.as('ann', 'GET', `/responses/${id}`)),
      await bodyOf(app.as('ann', 'POST', '/responses', { model: 'm', input: 'x', previous_response_id: id })),
      await bodyOf(app.as('ann', 'POST', '/responses', { model: 'm', input: [reference] })),
    ]
    for (const answer of answers) {
      expect(answer).toMatchObject([500, { error: { message: 'stored responses could not be read' } }])
    }
    expect(app.asked).toEqual([])
  })

  test('has a maximum size: a larger input is not kept', async () => {
    const app = open(undefined, { maxStoredResponseBytes: 20_000 })
    expect((await respond(app, 'ann', { input: 'x'.repeat(12_000) })).store).toBe(false)
    const large = () => streaming([chunk({ content: 'x'.repeat(22_000) }), chunk({}, 'stop'), '[DONE]'])
    const talkative = open(large, { maxStoredResponseBytes: 20_000 })
    expect((await talkative.as('ann', 'POST', '/responses', { model: 'm', input: 'x' })).status).toBe(500)
    const user = newId()
    const first = await respond(app, user, { input: 'x'.repeat(9_000) })
    const second = await respond(app, user, { input: 'x'.repeat(9_000), previous_response_id: first.id })
    expect(second.store).toBe(true)
    expect((await app.as(user, 'GET', `/responses/${first.id}`)).status).toBe(404)
    expect((await app.as(user, 'GET', `/responses/${second.id}`)).status).toBe(200)
    const more = { model: 'm', input: 'x', previous_response_id: second.id }
    expect(await bodyOf(app.as(user, 'POST', '/responses', more))).toMatchObject([
      400,
      { error: { code: 'previous_response_not_found' } },
    ])
  })

  test('is not kept after the retention time', async () => {
    let now = 1_000_000
    const clock = { now: () => now, at: () => () => {} }
    const app = open(undefined, { clock, objectTtlMs: 1000 })
    const made: Body = await respond(app, 'ann')
    now += 999
    expect((await app.as('ann', 'GET', `/responses/${made.id}`)).status).toBe(200)
    now += 1
    expect((await app.as('ann', 'GET', `/responses/${made.id}`)).status).toBe(404)
  })
})
