import { describe, expect, test } from 'bun:test'
import { createModelRouting } from '../../plugins/text-generation/models/routing.ts'
import { chunk, dataOf, openApp, streaming, wholeResponse } from './fixture.ts'

const messages = [{ role: 'user', content: 'hi' }]
const done = [chunk({ role: 'assistant', content: 'x' }), chunk({}, 'stop'), '[DONE]']
const upstreams = [
  { url: 'http://one.invalid/v1', key: 'key-of-one', models: ['a', { id: 'b', maxTemperature: 1 as const }] },
  { url: 'http://two.invalid/v1', models: ['c'], chatOnly: true },
  { url: 'http://three.invalid/v1', streams: false },
]
const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'whole' }, finish_reason: 'stop' }],
}

describe('a call goes to the upstream of its model', () => {
  test('the first that lists the model, otherwise the default', () => {
    const at = (model: string) => createModelRouting(upstreams).routesOf(model)[0]?.upstream.url
    expect(['a', 'b', 'c', 'A', '', 'zzz'].map(at)).toEqual([
      'http://one.invalid/v1',
      'http://one.invalid/v1',
      'http://two.invalid/v1',
      'http://three.invalid/v1',
      'http://three.invalid/v1',
      'http://three.invalid/v1',
    ])
    expect(createModelRouting(upstreams.slice(0, 2)).routesOf('zzz')[0]?.upstream.url).toBe('http://one.invalid/v1')
    expect(createModelRouting([]).routesOf('a')[0]).toBeUndefined()
  })

  test('with the key of that upstream only', async () => {
    const app = openApp(() => streaming(done), { upstreams })
    for (const model of ['a', 'c']) await app.post('/chat/completions', { model, messages })
    expect(app.asked.map(({ url, headers }) => [url, headers.get('authorization')])).toEqual([
      ['http://one.invalid/v1/chat/completions', 'Bearer key-of-one'],
      ['http://two.invalid/v1/chat/completions', null],
    ])
  })

  test('with the temperature range of that model', async () => {
    const app = openApp(() => streaming(done), { upstreams })
    const statuses = []
    for (const [model, temperature] of [
      ['a', 1.5],
      ['b', 1.5],
      ['b', 1],
    ]) {
      statuses.push((await app.post('/chat/completions', { model, messages, temperature })).status)
    }
    expect(statuses).toEqual([200, 400, 200])
  })
})

describe('an upstream that cannot stream', () => {
  test('receives non-streaming calls without stream options', async () => {
    const app = openApp(() => Response.json(completion), { upstreams })
    for (const stream of [true, false]) {
      const response = await app.post('/chat/completions', {
        model: 'x',
        messages,
        stream,
        stream_options: { include_usage: true },
      })
      expect(await response.text()).toContain('whole')
    }
    for (const { text } of app.asked) expect(text).not.toContain('stream')
  })

  test('still streams to a caller of the other protocol', async () => {
    const app = openApp(() => Response.json(wholeResponse), { upstreams })
    const data = dataOf(await (await app.post('/responses', { model: 'x', input: 'hi', stream: true })).text())
    expect(data.at(-1)).toBe('[DONE]')
    const events = data.slice(0, -1).map((each) => JSON.parse(each))
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(events.at(-1).response).toEqual(wholeResponse)
    expect(events.map((event) => event.sequence_number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
  })
})

describe('a background response', () => {
  const queued = { id: 'resp_1', object: 'response', status: 'queued', output: [], background: true }

  test('is requested without streaming, and returned at once', async () => {
    const app = openApp(() => Response.json(queued))
    const response = await app.post('/responses', { model: 'm', input: 'hi', background: true })
    expect(await response.json()).toEqual(queued)
    expect(app.asked[0]?.json.stream).toBeUndefined()
  })

  test('is streamed on request', async () => {
    const created = { type: 'response.created', sequence_number: 0, response: queued }
    const completed = { type: 'response.completed', sequence_number: 1, response: { ...queued, status: 'completed' } }
    const app = openApp(() => streaming([created, completed]))
    const response = await app.post('/responses', { model: 'm', input: 'hi', background: true, stream: true })
    expect(dataOf(await response.text())).toEqual([JSON.stringify(created), JSON.stringify(completed), '[DONE]'])
    expect(app.asked[0]?.json.stream).toBe(true)
  })
})

describe('an upstream with chat completions only', () => {
  test('serves responses, streaming or not', async () => {
    const app = openApp(() => streaming(done), { upstreams })
    const plain = (await (await app.post('/responses', { model: 'c', input: 'hi' })).json()) as {
      status: string
      output: unknown
    }
    expect(plain).toMatchObject({ object: 'response', status: 'completed', output: [{ content: [{ text: 'x' }] }] })
    const data = dataOf(await (await app.post('/responses', { model: 'c', input: 'hi', stream: true })).text())
    expect(data.at(-1)).toBe('[DONE]')
    expect(JSON.parse(data.at(-2) ?? '')).toMatchObject({
      type: 'response.completed',
      response: { status: 'completed' },
    })
    for (const { url, json } of app.asked) {
      expect(url).toBe('http://two.invalid/v1/chat/completions')
      expect(json.messages).toEqual([{ role: 'user', content: 'hi' }])
    }
  })

  test('rejects unsupported parameters by name', async () => {
    const app = openApp(() => streaming(done), { upstreams })
    const response = await app.post('/responses', { model: 'c', input: 'hi', modalities: ['audio'] })
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param: 'modalities' } }])
    expect(app.asked).toEqual([])
  })

  for (const ending of ['close', 'reset'] as const) {
    test(`that breaks (${ending}) ends with response.failed and an error, and no [DONE]`, async () => {
      const app = openApp(() => streaming(done.slice(0, 1), ending), { upstreams })
      const data = dataOf(await (await app.post('/responses', { model: 'c', input: 'hi', stream: true })).text())
      expect(data).not.toContain('[DONE]')
      expect(data.slice(-2).map((each) => JSON.parse(each).type)).toEqual(['response.failed', 'error'])
    })
  }
})

describe('models', () => {
  const list = (...ids: string[]) => ({
    object: 'list',
    data: ids.map((id) => ({ id, object: 'model', created: 1, owned_by: 'x' })),
  })

  test('of one upstream are forwarded unchanged', async () => {
    const body = '{ "object":"list","data":[{"id":"a","n":12345678901234567890}] }'
    const app = openApp(
      () => new Response(body, { headers: { 'content-type': 'application/json', 'x-request-id': 'r' } }),
    )
    const response = await app.get('/models')
    expect([await response.text(), response.headers.get('x-request-id')]).toEqual([body, 'r'])
    expect(app.asked[0]?.url).toBe('http://upstream.invalid/v1/models')
  })

  test('of several upstreams are those that each serves', async () => {
    const app = openApp(
      ({ url }) => {
        if (url.startsWith('http://two')) throw new Error('down')
        return Response.json(url.startsWith('http://one') ? list('a', 'b', 'x') : list('a', 'x', 'y'))
      },
      { upstreams },
    )
    const { data } = (await (await app.get('/models')).json()) as { data: { id: string }[] }
    // `c` is known from the configuration.
    expect(data.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'x', 'y'])
  })

  test('are a 502 when no upstream responds', async () => {
    const app = openApp(() => Promise.reject(new Error('down')), { upstreams })
    expect((await app.get('/models')).status).toBe(502)
  })

  test('are retrieved singly from their upstream, with any name', async () => {
    const app = openApp(() => Response.json({ id: 'x', object: 'model' }), { upstreams })
    for (const id of ['a', 'org%2Fmodel', 'a:b@1.0', 'an%20odd%20one']) await app.get(`/models/${id}`)
    expect(app.asked.map(({ url }) => url)).toEqual([
      'http://one.invalid/v1/models/a',
      'http://three.invalid/v1/models/org%2Fmodel',
      'http://three.invalid/v1/models/a%3Ab%401.0',
      'http://three.invalid/v1/models/an%20odd%20one',
    ])
  })

  test('whose names would select other paths are not found', async () => {
    const app = openApp(() => Response.json({ id: 'x', object: 'model' }), { upstreams })
    const ids = [
      '%2e%2e%2fadmin',
      'a%2F..%2Fb',
      '..%2F..%2Fusers',
      'x%3Fy',
      'x%23z',
      '%5C..%5Cx',
      '%252e',
      'a%00',
      'a%zz',
      '%2F',
      'a%2F%2Fb',
    ]
    for (const id of ids) {
      const response = await app.get(`/models/${id}`)
      expect([id, response.status, await response.json()]).toMatchObject([
        id,
        404,
        { error: { code: 'model_not_found' } },
      ])
    }
    expect(app.asked).toEqual([])
  })
})

test('without upstreams every route is a 502 after authentication', async () => {
  const app = openApp(() => Response.json({}), { upstreams: [] })
  for (const ask of [
    () => app.post('/chat/completions', '{'),
    () => app.post('/responses', {}),
    () => app.get('/models'),
    () => app.get('/models/x'),
  ]) {
    expect((await ask()).status).toBe(502)
  }
  expect(app.asked).toEqual([])
})
