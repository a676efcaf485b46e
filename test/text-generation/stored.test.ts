import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TextGenerationOptions } from '../../plugins/text-generation/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { dataOf, openApp, streaming, type TextApp, type UpstreamRequest } from './app.ts'

let store: Store
beforeAll(async () => {
  store = openStore('sqlite::memory:')
  await store.migrate()
})
afterAll(() => store.close())

let last = 0
/** A new id. */
const newId = () => `resp_${++last}`

const stored = (id: string, more: object = {}) => ({ id, object: 'response', status: 'completed', output: [], ...more })

interface Open extends TextApp {
  readonly id: string
  as(user: string, method: string, path: string, body?: object): Promise<Response>
}

/** An app whose callers name their user in a header, and whose upstream always returns one id. */
const open = (
  response: (asked: UpstreamRequest, id: string) => Response | Promise<Response> = (_, id) => Response.json(stored(id)),
  options: Partial<TextGenerationOptions> = {},
): Open => {
  const id = newId()
  const app = openApp((asked) => response(asked, id), {
    objects: store,
    identify: (request) => ({ user: request.headers.get('authorization') ?? '', token: 't1' }),
    ...options,
  })
  return {
    ...app,
    id,
    as: (user, method, path, body) =>
      app.ask(path, {
        method,
        headers: { authorization: user, ...(body && { 'content-type': 'application/json' }) },
        body: body && JSON.stringify(body),
      }),
  }
}

const create = (app: Open, user: string, more: object = {}) =>
  app.as(user, 'POST', '/responses', { model: 'm', input: 'x', ...more })

const refusal = (message: string, more: object = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...more },
})

describe('a stored response', () => {
  const routes = [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/cancel'],
    ['GET', '/input_items'],
  ] as const

  for (const [method, below] of routes) {
    test(`${method} ${below}: the owner’s response is forwarded byte for byte, a foreign one is not found`, async () => {
      const odd = (id: string) => `{ "id" : "${id}", "object":"response", "n":12345678901234567890, "data":[] }\n`
      const app = open((asked, id) =>
        asked.url.endsWith('/responses')
          ? Response.json(stored(id))
          : new Response(odd(id), { headers: { 'content-type': 'application/json', 'x-request-id': 'r' } }),
      )
      await create(app, 'ann')
      app.asked.length = 0
      const path = (id: string) => `/responses/${id}${below}`
      const foreign = await app.as('bob', method, path(app.id))
      const unknown = await app.as('bob', method, path('resp_0'))
      expect([foreign.status, await foreign.json()]).toEqual([404, refusal(`Response with id '${app.id}' not found.`)])
      expect([unknown.status, await unknown.json()]).toEqual([404, refusal("Response with id 'resp_0' not found.")])
      expect([...foreign.headers]).toEqual([...unknown.headers])
      for (const odd of ['%2e%2e', 'a%2Fb', 'a%3Fb', '%00', 'x'.repeat(300), '%E4']) {
        expect([odd, (await app.as('ann', method, path(odd))).status]).toEqual([odd, 404])
      }
      expect(app.asked).toEqual([])
      const own = await app.as('ann', method, path(app.id))
      expect([own.status, await own.text(), own.headers.get('x-request-id')]).toEqual([200, odd(app.id), 'r'])
      expect(app.asked.map(({ url }) => url)).toEqual([`http://upstream.invalid/v1/responses/${app.id}${below}`])
      expect(app.asked[0]?.method).toBe(method)
    })
  }

  test('is not found after its deletion, but remains after a failed deletion', async () => {
    let status = 500
    const app = open((asked, id) =>
      asked.method === 'DELETE'
        ? Response.json(status === 200 ? { id, deleted: true } : { error: { message: 'no' } }, { status })
        : Response.json(stored(id)),
    )
    await create(app, 'ann')
    expect((await app.as('ann', 'DELETE', `/responses/${app.id}`)).status).toBe(500)
    expect((await app.as('ann', 'GET', `/responses/${app.id}`)).status).toBe(200)
    status = 200
    expect((await app.as('ann', 'DELETE', `/responses/${app.id}`)).status).toBe(200)
    expect((await app.as('ann', 'GET', `/responses/${app.id}`)).status).toBe(404)
    expect((await create(app, 'ann', { previous_response_id: app.id })).status).toBe(400)
  })

  test('that the upstream has deleted is the upstream’s 404', async () => {
    const gone = '{"error":{"message":"gone"}}'
    const app = open((asked, id) =>
      asked.method === 'GET' ? new Response(gone, { status: 404 }) : Response.json(stored(id)),
    )
    await create(app, 'ann')
    const response = await app.as('ann', 'GET', `/responses/${app.id}`)
    expect([response.status, await response.text()]).toEqual([404, gone])
  })

  test('is requested with the documented parameters only', async () => {
    const app = open()
    await create(app, 'ann')
    app.asked.length = 0
    const query = 'include[]=a&include[]=b&evil=1&starting_after=3&limit=2'
    await app.as('ann', 'GET', `/responses/${app.id}?${query}`)
    await app.as('ann', 'GET', `/responses/${app.id}/input_items?order=asc&${query}`)
    await app.as('ann', 'DELETE', `/responses/${app.id}?${query}`)
    const asked = app.asked.map(({ url }) => url.split(app.id)[1])
    expect(asked).toEqual([
      '?include%5B%5D=a&include%5B%5D=b&starting_after=3',
      '/input_items?order=asc&include%5B%5D=a&include%5B%5D=b&limit=2',
      '',
    ])
  })

  test('as a stream has the same end as any stream', async () => {
    const event = { type: 'response.output_text.delta', sequence_number: 4, delta: 'x' }
    let end = true
    const app = open((asked, id) => {
      if (asked.method === 'POST') return Response.json(stored(id))
      const completed = { type: 'response.completed', sequence_number: 5, response: stored(id) }
      return streaming(end ? [event, completed] : [event])
    })
    await create(app, 'ann')
    const fetched = () => app.as('ann', 'GET', `/responses/${app.id}?stream=true&starting_after=3`)
    const whole = dataOf(await (await fetched()).text())
    expect(whole.map((data) => data === '[DONE]' || JSON.parse(data).type)).toEqual([
      'response.output_text.delta',
      'response.completed',
      true,
    ])
    end = false
    expect(dataOf(await (await fetched()).text()).at(-1)).toContain('"type":"error"')
    expect(app.asked.at(-1)?.url).toEndWith('?stream=true&starting_after=3')
  })

  test('is requested from the upstream that created it', async () => {
    const upstreams = [
      { url: 'http://one.invalid/v1', models: ['m'] },
      { url: 'http://two.invalid/v1', models: ['n'] },
    ]
    const app = open(undefined, { upstreams })
    await create(app, 'ann')
    app.asked.length = 0
    const other = await create(app, 'ann', { model: 'n', previous_response_id: app.id })
    expect([other.status, await other.json()]).toEqual([
      400,
      refusal('previous_response_id was created by the model m, which another upstream serves', {
        param: 'previous_response_id',
      }),
    ])
    expect(app.asked).toEqual([])
    await app.as('ann', 'GET', `/responses/${app.id}`)
    expect(app.asked.map(({ url }) => url)).toEqual([`http://one.invalid/v1/responses/${app.id}`])
    const without = open(undefined, { upstreams: upstreams.slice(1) })
    expect((await without.as('ann', 'GET', `/responses/${app.id}`)).status).toBe(404)
    expect(without.asked).toEqual([])
  })

  test('has no owner after the retention time', async () => {
    let now = 1_000_000
    const clock = { now: () => now, at: () => () => {} }
    const app = open(undefined, { clock, objectsKeptMs: 1000 })
    await create(app, 'ann')
    now += 999
    expect((await create(app, 'ann', { previous_response_id: app.id })).status).toBe(200)
    now += 1001
    expect((await create(app, 'ann', { previous_response_id: app.id })).status).toBe(400)
  })

  test('has no owner without an object store', async () => {
    const app = open(undefined, { objects: undefined })
    expect((await create(app, 'ann')).status).toBe(200)
    expect((await create(app, 'ann', { previous_response_id: app.id })).status).toBe(400)
    expect((await app.as('ann', 'GET', `/responses/${app.id}`)).status).toBe(404)
  })
})

describe('the owner of an id is recorded before the caller receives the id', () => {
  const created = (id: string) => ({ type: 'response.created', sequence_number: 0, response: stored(id) })
  const continued = async (app: Open) => (await create(app, 'ann', { previous_response_id: app.id })).status

  test('also for a stream that breaks or whose caller disconnects', async () => {
    for (const ending of ['reset', 'stall'] as const) {
      const app = open((asked, id) => streaming([created(id)], ending, asked.signal))
      const response = await create(app, 'ann', { stream: true })
      const reader = response.body?.getReader()
      expect(new TextDecoder().decode((await reader?.read())?.value)).toContain(app.id)
      const object = await store.textObject('ann', 'response', app.id, Date.now())
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
    expect(await store.textObject('ann', 'response', app.id, Date.now())).toBeUndefined()
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
      expect(await store.textObject('ann', 'response', app.id, Date.now())).toBeDefined()
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
    const refused = [await refer('bob'), await go('bob')]
    expect(await Promise.all(refused.map(async (response) => [response.status, await response.json()]))).toEqual([
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
    expect(await store.textObject('ann', 'item', message, Date.now())).toBeUndefined()
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
      const refused = await create(app, 'ann', request)
      expect([refused.status, await refused.json()]).toEqual([
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
    const refused = [
      await create(app, 'ann', { input: [{ ...asking, item_id: 'i' }] }),
      await app.as('ann', 'POST', '/chat/completions', { model: 'm', messages: [asking], input: [{ id: 'i' }] }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([404, 404])
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
  const objects = { ...store, textObject: () => Promise.reject(new Error('SQLITE_BUSY')) }
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
