import { describe, expect, test } from 'bun:test'
import { VirtualClock } from '../support/virtual-clock.ts'
import { streaming } from './fixture.ts'
import { create, newId, type Open, opener, refusal, stored, testStore } from './stored-responses.ts'

const store = testStore()
const open = opener(store)

describe('the owner of an id is recorded before the caller receives the id', () => {
  const created = (id: string) => ({ type: 'response.created', sequence_number: 0, response: stored(id) })
  const continued = async (app: Open) => (await create(app, 'ann', { previous_response_id: app.id })).status

  test('also for a stream that breaks or whose caller disconnects', async () => {
    for (const ending of ['reset', 'stall'] as const) {
      const app = open((asked, id) => streaming([created(id)], ending, asked.signal))
      const response = await create(app, 'ann', { stream: true })
      const reader = response.body?.getReader()
      expect(new TextDecoder().decode((await reader?.read())?.value)).toContain(app.id)
      const object = await store.findTextObject('ann', 'response', app.id, Date.now())
      expect(object).toMatchObject({ user: 'ann', token: 't1', upstream: 'http://upstream.invalid/v1', model: 'm' })
      await reader?.cancel()
    }
  })

  test('with one store call for a non-streaming response', async () => {
    const recorded: string[][] = []
    const objects: typeof store = {
      ...store,
      recordTextObjects(given) {
        recorded.push(given.map(({ kind, id }) => `${kind} ${id}`))
        return store.recordTextObjects(given)
      },
    }
    const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [] }
    const app = open(
      (_, id) =>
        streaming([
          created(id),
          { type: 'response.output_item.done', sequence_number: 1, output_index: 0, item },
          { type: 'response.completed', sequence_number: 2, response: { ...stored(id), output: [item] } },
        ]),
      { objects },
    )
    expect((await create(app, 'ann')).status).toBe(200)
    expect(recorded).toEqual([[`response ${app.id}`, 'item msg_1']])
  })

  test('but not with `store: false`', async () => {
    const app = open()
    await create(app, 'ann', { store: false })
    expect(await continued(app)).toBe(400)
    await create(app, 'ann', { store: null })
    expect(await continued(app)).toBe(200)
  })

  test('nor for a chat completion', async () => {
    const app = open((_, id) => Response.json({ ...stored(id), choices: [{ message: { content: 'x' } }] }))
    await app.as('ann', 'POST', '/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'x' }] })
    expect(await store.findTextObject('ann', 'response', app.id, Date.now())).toBeUndefined()
  })

  test('a failed recording is a 500, and the upstream call is aborted', async () => {
    const objects = { ...store, recordTextObjects: () => Promise.reject(new Error('SQLITE_FULL')) }
    for (const stream of [true, false]) {
      let signal: AbortSignal | undefined
      const app = open(
        (asked, id) => {
          signal = asked.signal
          // The caller of a non-streaming response receives nothing before its end.
          return stream
            ? streaming([created(id)], 'stall', asked.signal)
            : streaming([created(id), { type: 'response.completed', sequence_number: 1, response: stored(id) }])
        },
        { objects },
      )
      const response = await create(app, 'ann', { stream })
      expect([response.status, await response.json()]).toEqual([
        500,
        {
          error: { message: 'response could not be recorded', type: 'server_error', param: null, code: null },
        },
      ])
      if (stream) expect(signal?.aborted).toBe(true)
    }
    const plain = await create(open(undefined, { objects }), 'ann')
    expect([plain.status, (await plain.text()).includes('resp_')]).toEqual([500, false])
  })

  test('also when the recording fails after the timeout', async () => {
    const clock = new VirtualClock()
    const recorded = Promise.withResolvers<never>()
    const objects = { ...store, recordTextObjects: () => recorded.promise }
    const app = open((asked, id) => streaming([created(id)], 'stall', asked.signal), { objects, clock })
    const response = create(app, 'ann')
    await clock.pass(300_000)
    recorded.reject(new Error('SQLITE_FULL'))
    expect([(await response).status, (await (await response).text()).includes(app.id)]).toEqual([500, false])
  })

  test('an id that another user owns is an error for the second user', async () => {
    const errors: object[] = []
    const log = { debug() {}, info() {}, warn() {}, error: (fields: object) => void errors.push(fields) }
    const conversation = { id: `conv_${newId()}` }
    for (const stream of [true, false]) {
      const app = open((_, id) => streaming([created(id), { ...created(id), type: 'response.completed' }]), { log })
      expect((await create(app, 'ann', { stream })).status).toBe(200)
      const second = await create(app, 'bob', { stream })
      expect([second.status, (await second.text()).includes(app.id)]).toEqual([502, false])
      expect(await store.findTextObject('ann', 'response', app.id, Date.now())).toBeDefined()
    }
    expect(errors).toHaveLength(2)
    const app = open((_, id) => Response.json(stored(id + Math.random(), { conversation })), { log })
    expect((await create(app, 'ann')).status).toBe(200)
    expect((await create(app, 'bob')).status).toBe(502)
  })

  test('also the owner of a conversation and of its items', async () => {
    const conversation = { id: `conv_${newId()}` }
    const item = `msg_${newId()}`
    const output = [{ id: item, type: 'message', role: 'assistant', content: [] }]
    const app = open((_, id) => {
      const response = stored(id, { conversation, output })
      return streaming([created(id), { type: 'response.completed', response }])
    })
    const refer = (user: string) => create(app, user, { input: [{ type: 'item_reference', id: item }] })
    const go = (user: string) => create(app, user, { conversation })
    expect((await refer('ann')).status).toBe(404)
    await (await create(app, 'ann', { stream: true })).text()
    expect([(await refer('ann')).status, (await go('ann')).status]).toEqual([200, 200])
    app.asked.length = 0
    const rejected = [await refer('bob'), await go('bob')]
    expect(await Promise.all(rejected.map(async (response) => [response.status, await response.json()]))).toEqual([
      [404, refusal(`Item with id '${item}' not found.`, { param: 'input[0].id' })],
      [404, refusal(`Conversation with id '${conversation.id}' not found.`, { param: 'conversation.id' })],
    ])
    expect(app.asked).toEqual([])
  })

  test('and of encrypted items, even with `store: false`', async () => {
    const search = `ws_${newId()}`
    const message = `msg_${newId()}`
    const output = [
      { id: search, type: 'web_search_call', action: {} },
      { id: message, type: 'message', role: 'assistant', content: [] },
    ]
    const app = open((_, id) => Response.json(stored(id, { output })))
    await create(app, 'ann', { store: false })
    const replay = (user: string) => create(app, user, { input: output, store: false })
    expect([(await replay('ann')).status, (await replay('bob')).status]).toEqual([200, 404])
    expect(await store.findTextObject('ann', 'item', message, Date.now())).toBeUndefined()
  })
})

describe('objects of kinds without recorded owners', () => {
  const file = { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] }
  const rows: readonly (readonly [param: string, kind: string, allowed: string, request: object])[] = [
    ['input[0].content[0].file_id', 'file', 'file_id', file],
    ['prompt.id', 'prompt', 'prompt', { prompt: { id: 'p' } }],
    ['prompt.id', 'prompt', 'prompt.id', { prompt: { id: 'p' } }],
    ['tools[0].container', 'container', 'container', { tools: [{ type: 'code_interpreter', container: 'c' }] }],
    ['tools[0].vector_store_ids[0]', 'vector store', 'vector_store_ids', { tools: [{ vector_store_ids: ['v'] }] }],
    ['thread_id', 'object', 'thread_id', { thread_id: 't' }],
  ]
  for (const [param, kind, allowed, request] of rows) {
    test(`are rejected by name, unless the operator allows ${allowed}`, async () => {
      const app = open()
      const rejected = await create(app, 'ann', request)
      expect([rejected.status, await rejected.json()]).toEqual([
        400,
        refusal(`${param} names a ${kind}, and the gateway cannot check its owner`, {
          param,
          code: 'unsupported_parameter',
        }),
      ])
      expect(app.asked).toEqual([])
      const other = open(undefined, { allowedFields: ['some_other_id'] })
      expect((await create(other, 'ann', request)).status).toBe(400)
      const open_ = open(undefined, { allowedFields: [allowed] })
      expect((await create(open_, 'ann', request)).status).toBe(200)
      expect(open_.asked[0]?.json).toMatchObject(request)
    })
  }

  test('in both protocols', async () => {
    const app = open()
    const chat = (more: object) =>
      app.as('ann', 'POST', '/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'x' }], ...more })
    expect((await chat({ previous_response_id: 'resp_0' })).status).toBe(400)
    expect((await chat({ messages: [{ role: 'assistant', content: 'x', audio: { id: 'a' } }] })).status).toBe(400)
    expect(app.asked).toEqual([])
  })

  test('the bridge removes the ids of items, and nothing else', async () => {
    const app = open(
      () => Response.json({ choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }] }),
      {
        upstreams: [{ url: 'http://upstream.invalid/v1', chatOnly: true }],
      },
    )
    const thought = { type: 'reasoning', id: 'rs_0', summary: [{ type: 'summary_text', text: 'hm' }] }
    const asking = { role: 'user', content: 'x' }
    expect((await create(app, 'ann', { input: [thought, asking] })).status).toBe(200)
    expect(JSON.stringify(app.asked[0]?.json)).not.toContain('rs_0')
    const rejected = [
      await create(app, 'ann', { input: [{ ...asking, item_id: 'i' }] }),
      await app.as('ann', 'POST', '/chat/completions', { model: 'm', messages: [asking], input: [{ id: 'i' }] }),
    ]
    expect(rejected.map(({ status }) => status)).toEqual([404, 404])
    expect(app.asked).toHaveLength(1)
  })

  test('an allowed field is allowed for recorded kinds, too, without an ownership check', async () => {
    const conversation = { id: 'conv_open' }
    const app = open((_, id) => Response.json(stored(id + Math.random(), { conversation })), {
      allowedFields: ['conversation'],
    })
    for (const user of ['ann', 'bob']) expect((await create(app, user, { conversation })).status).toBe(200)
  })
})

test('malformed ids are not found, and other types are rejected', async () => {
  const app = open()
  for (const id of ['', '../x', 'a/b', 'x'.repeat(400), 'a\u0000b']) {
    const response = await create(app, 'ann', { previous_response_id: id })
    const message = `Previous response with id '${id.slice(0, 256)}' not found.`
    const named = { param: 'previous_response_id', code: 'previous_response_not_found' }
    expect([response.status, await response.json()]).toEqual([400, refusal(message, named)])
  }
  for (const id of [7, true, { id: 'x' }]) {
    const response = await create(app, 'ann', { previous_response_id: id })
    expect([response.status, await response.json()]).toEqual([
      400,
      refusal('previous_response_id must be a string', { param: 'previous_response_id' }),
    ])
  }
  expect(app.asked).toEqual([])
  expect((await create(app, 'ann', { previous_response_id: null })).status).toBe(200)
})

test('the number of objects in a request is limited', async () => {
  const app = open()
  const input = Array.from({ length: 1001 }, (_, nth) => ({ type: 'item_reference', id: `i${nth}` }))
  const response = await create(app, 'ann', { input })
  expect([response.status, await response.json()]).toMatchObject([
    400,
    refusal('request names more than 1000 objects', { param: 'input[1000].id' }),
  ])
})

test('nothing is sent when the ownership lookup fails', async () => {
  const objects = { ...store, findTextObject: () => Promise.reject(new Error('SQLITE_BUSY')) }
  const app = open(undefined, { objects })
  const responses = [
    await create(app, 'ann', { previous_response_id: 'r' }),
    await app.as('ann', 'GET', '/responses/r'),
  ]
  for (const response of responses) {
    expect([response.status, await response.json()]).toMatchObject([
      500,
      { error: { message: 'ownership could not be checked', type: 'server_error' } },
    ])
  }
  expect(app.asked).toEqual([])
})
