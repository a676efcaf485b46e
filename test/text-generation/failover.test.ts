import { describe, expect, test } from 'bun:test'
import type { TextUpstream } from '../../plugins/text-generation/index.ts'
import { chunk, dataOf, openApp, streaming, type UpstreamRequest } from './fixture.ts'
import { newId, testStore } from './stored-responses.ts'

const messages = [{ role: 'user', content: 'hi' }]
const done = [chunk({ role: 'assistant', content: 'x' }), chunk({}, 'stop'), '[DONE]']

const refused = () => {
  throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
}
const busy = (headers: Record<string, string> = { 'retry-after': '1' }) =>
  Response.json({ error: { message: 'overloaded' } }, { status: 503, headers })

/** A stream whose first event is an error. */
const failingStream = () => {
  const { body } = streaming([{ error: { message: 'x', code: 503 } }])
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'retry-after': '1' } })
}

const two: readonly TextUpstream[] = [
  { url: 'http://one.invalid/v1', models: ['m', { id: 'vendor/n', alias: 'n' }, 'only-one'] },
  { url: 'http://two.invalid/v1', models: ['m', { id: 'n-2026', alias: 'n' }], failover: true },
  { url: 'http://three.invalid/v1', failover: true },
]

type Answer = (request: UpstreamRequest) => Response | Promise<Response>

/** The upstreams by the first word of their hosts. */
const open = (answers: Record<string, Answer>, upstreams = two, options: Parameters<typeof openApp>[1] = {}) =>
  openApp((request) => (answers[hostOf(request)] ?? (() => streaming(done)))(request), { upstreams, ...options })
const hostOf = ({ url }: UpstreamRequest) => new URL(url).host.split('.')[0] ?? ''
const hostsOf = (app: ReturnType<typeof open>) => app.asked.map(hostOf)

describe('the next upstream that serves the model takes over', () => {
  for (const [what, fail] of [
    ['a refused connection', refused],
    ['503 with Retry-After', () => busy()],
    ['503 with retry-after-ms', () => busy({ 'retry-after-ms': '500' })],
  ] as const) {
    test(`after ${what}, streaming or not`, async () => {
      const warnings: unknown[] = []
      const log = { debug() {}, info() {}, error() {}, warn: (fields: object) => void warnings.push(fields) }
      const app = open({ one: fail }, two, { log })
      for (const stream of [true, false]) {
        const response = await app.post('/chat/completions', { model: 'm', messages, stream })
        expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"x"')])
      }
      expect(hostsOf(app)).toEqual(['one', 'two', 'one', 'two'])
      expect(app.usage).toHaveLength(2)
      expect(warnings).toMatchObject(Array(2).fill({ upstream: 'one.invalid', next: 'two.invalid' }))
    })
  }

  test('under its own name of the model', async () => {
    const app = open({ one: refused })
    await app.post('/chat/completions', { model: 'n', messages })
    expect(app.asked.map(({ json }) => json.model)).toEqual(['vendor/n', 'n-2026'])
  })

  test('with its own limitations', async () => {
    const upstreams = two.map((upstream, index) => (index === 1 ? { ...upstream, chatOnly: true } : upstream))
    const app = open({ one: refused }, upstreams)
    expect(await (await app.post('/responses', { model: 'm', input: 'hi' })).json()).toMatchObject({
      status: 'completed',
    })
    expect(app.asked.map(({ url }) => url)).toEqual([
      'http://one.invalid/v1/responses',
      'http://two.invalid/v1/chat/completions',
    ])
  })

  test('without what the first one has shown: its limitations, and its errors', async () => {
    const noRoute = (at: string) => Response.json({ detail: `nothing ${at}` }, { status: 404 })
    const native = { id: 'resp_1', object: 'response', status: 'completed', output: [] }
    let two = () => Response.json(native)
    const one = ({ url }: UpstreamRequest) => (url.endsWith('/responses') ? noRoute('one') : busy())
    const app = open({ one, two: ({ url }) => (url.endsWith('/responses') ? two() : noRoute('else')) })
    for (let again = 0; again < 2; again++)
      expect(await (await app.post('/responses', { model: 'm', input: 'hi' })).json()).toEqual(native)
    const each = ['http://one.invalid/v1/responses', 'http://one.invalid/v1/chat/completions']
    expect(app.asked.map(({ url }) => url)).toEqual([
      ...[...each, 'http://two.invalid/v1/responses'],
      ...[...each, 'http://two.invalid/v1/responses'],
    ])
    two = () => noRoute('two')
    expect(await (await app.post('/responses', { model: 'm', input: 'hi' })).json()).toEqual({ detail: 'nothing two' })
  })

  test('once: the last error is the response', async () => {
    const app = open({ one: refused, two: () => busy() })
    const response = await app.post('/chat/completions', { model: 'm', messages })
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(hostsOf(app)).toEqual(['one', 'two'])
  })
})

describe('no other upstream is asked', () => {
  const rejects = async (app: ReturnType<typeof open>, request: object, status: number, path = '/chat/completions') => {
    const response = await app.post(path, { model: 'm', ...request })
    await response.text()
    expect([response.status, hostsOf(app)]).toEqual([status, ['one']])
  }

  test('unless its entry allows it', async () => {
    const upstreams = two.map((upstream) => ({ ...upstream, failover: false }))
    await rejects(open({ one: refused }, upstreams), { messages }, 502)
  })

  test('that does not serve the model', async () => {
    await rejects(open({ one: refused }), { messages, model: 'only-one' }, 502)
  })

  for (const [what, fail, status] of [
    ['a broken connection', () => Promise.reject(new Error('ECONNRESET')), 502],
    ['503 without Retry-After', () => busy({}), 503],
    ['429', () => Response.json({}, { status: 429, headers: { 'retry-after': '1' } }), 429],
    ['500', () => Response.json({}, { status: 500, headers: { 'retry-after': '1' } }), 500],
    ['a redirect', () => new Response('', { status: 302, headers: { location: 'http://two.invalid/' } }), 502],
    ['a stream that begins with an error', failingStream, 503],
  ] as const) {
    test(`after ${what}, because the generation may have begun or cost something`, async () => {
      for (const stream of [true, false]) await rejects(open({ one: fail }), { messages, stream }, status)
    })
  }

  test('after the first byte of a response', async () => {
    const app = open({ one: () => streaming(done.slice(0, 1), 'reset') })
    const response = await app.post('/chat/completions', { model: 'm', messages, stream: true })
    expect(dataOf(await response.text()).at(-1)).toContain('"error"')
    expect(hostsOf(app)).toEqual(['one'])
  })

  test('for a request that names objects of the upstream', async () => {
    const options = { allowedFields: ['file_id'] }
    const input = [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }]
    await rejects(open({ one: refused }, two, options), { input }, 502, '/responses')
  })
})

const store = testStore()

test('a response is continued at the upstream that has taken over', async () => {
  let isDown = true
  const [first, second] = [newId(), newId()]
  const created = (id: string) => ({ id, object: 'response', created_at: 1, status: 'completed', output: [] })
  const app = open(
    { one: () => (isDown ? refused() : Response.json(created(first))), two: () => Response.json(created(second)) },
    two,
    { objects: store },
  )
  const ask = async (previous_response_id?: string) => {
    const response = await app.post('/responses', { model: 'm', input: 'hi', previous_response_id })
    return [response.status, ((await response.json()) as { id?: string }).id]
  }
  expect(await ask()).toEqual([200, second])
  isDown = false
  expect(await ask(second)).toEqual([200, second])
  expect(await ask()).toEqual([200, first])
  expect(await ask(first)).toEqual([200, first])
  isDown = true
  expect((await ask(first))[0]).toBe(502)
  expect(hostsOf(app)).toEqual(['one', 'two', 'two', 'one', 'one', 'one'])
})

test('a request with objects of two upstreams is rejected, and no upstream gets it', async () => {
  const upstreams = ['one', 'two', 'three'].map((name) => ({
    ...{ url: `http://${name}.invalid/v1`, models: ['m'], failover: true },
  }))
  const down = new Set<string>()
  const objects = {
    two: { id: newId(), output: [] },
    three: { id: newId(), output: [{ id: 'msg_of_three', type: 'message' }] },
  }
  const answers = Object.entries({ one: { id: newId(), output: [] }, ...objects }).map(([host, response]) => [
    host,
    () => (down.has(host) ? refused() : Response.json({ ...response, object: 'response', status: 'completed' })),
  ])
  let queries = 0
  const counted = Object.assign(Object.create(store), {
    findTextObject(...query: Parameters<typeof store.findTextObject>) {
      if (++queries > 100) throw new Error('the two upstreams are checked in turns')
      return store.findTextObject(...query)
    },
  })
  const app = open(Object.fromEntries(answers), upstreams, { objects: counted })
  for (const host of ['one', 'two']) {
    down.add(host)
    expect((await app.post('/responses', { model: 'm', input: 'hi' })).status).toBe(200)
  }
  down.clear()
  const before = app.asked.length
  const input = [{ type: 'item_reference', id: 'msg_of_three' }]
  const response = await app.post('/responses', { model: 'm', input, previous_response_id: objects.two.id })
  expect([response.status, await response.text()]).toEqual([
    400,
    expect.stringContaining('which another upstream serves'),
  ])
  expect(app.asked).toHaveLength(before)
})
