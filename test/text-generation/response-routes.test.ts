import { describe, expect, test } from 'bun:test'
import { dataOf, streaming } from './fixture.ts'
import { create, opener, refusal, stored, testStore } from './stored-responses.ts'

const open = opener(testStore())

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

  test('as a stream ends like every other stream', async () => {
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
    const app = open(undefined, { clock, objectTtlMs: 1000 })
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

test('of several upstreams with one address, a stored response belongs to the account that serves its model', async () => {
  const url = 'http://upstream.invalid/v1'
  const upstreams = [
    { url, key: 'key-of-the-first', models: ['other'] },
    { url, key: 'key-of-the-second', models: [{ id: 'vendor/m', alias: 'm' }] },
  ]
  const app = open(undefined, { upstreams })
  await create(app, 'ann')
  expect((await app.as('ann', 'GET', `/responses/${app.id}`)).status).toBe(200)
  expect(app.asked.map(({ headers }) => headers.get('authorization'))).toEqual(
    Array(2).fill('Bearer key-of-the-second'),
  )
})
