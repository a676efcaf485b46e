import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { ownership } from 'sluice/ownership'
import { attachBody, paginationNormalizer } from 'sluice/pagination-normalizer'
import { MemoryStore } from '../ownership/memory.ts'
import { rules } from './read-request.ts'

const app = () =>
  new Elysia()
    .use(paginationNormalizer({ secrets: ['s, a secret of the tests'], maxBodyBytes: 200 }))
    .get('/things', ({ listing }) => ({ ...listing.filter, size: listing.pageSize }), { lists: rules })

const get = async (query: string, headers: Record<string, string> = {}, body?: string | Uint8Array<ArrayBuffer>) => {
  const request = new Request(`http://localhost/things${query}`, { headers })
  if (body !== undefined) attachBody(request, typeof body === 'string' ? new TextEncoder().encode(body) : body)
  const response = await app().handle(request)
  return [response.status, await response.json()] as const
}

const announcing = (type: string, length = '20') => ({ 'content-type': type, 'content-length': length })
const json = announcing('application/json')
const whole = [200, { GroupType: 'AIGC', size: 10 }] as const
const errorOf = (status: number, message: string) =>
  [status, { success: false, error: { message, type: 'request_error' } }] as const

describe('a GET body is read or rejected, never ignored silently', () => {
  test('without a body the query is read', async () => {
    expect(await get('')).toEqual(whole)
    expect(await get('?GroupIds=a&GroupIds=b&PageSize=5')).toEqual([
      200,
      { GroupType: 'AIGC', GroupIds: ['a', 'b'], size: 5 },
    ])
    expect(await get('?')).toEqual(whole)
  })

  test('a delivered body is merged with the query', async () => {
    for (const type of [
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      ' application/json ;x',
    ]) {
      expect(await get('', announcing(type), '{"PageSize":5}')).toEqual([200, { GroupType: 'AIGC', size: 5 }])
    }
    expect(
      await get(
        '?PageSize=6',
        { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
        '{"PageSize":5}',
      ),
    ).toEqual([200, { GroupType: 'AIGC', size: 6 }])
  })

  test('an announced but undelivered body is rejected', async () => {
    const message = 'this server cannot read a body on GET; give the parameters in the query string'
    expect(await get('', json)).toEqual(errorOf(400, message))
    expect(await get('?PageSize=5', { 'content-type': 'application/json', 'transfer-encoding': 'chunked' })).toEqual(
      errorOf(400, message),
    )
  })

  test('a body of another content type, or an empty one, is ignored', async () => {
    for (const type of ['text/plain', 'application/jsonp', 'application/json-patch+json', '']) {
      expect(await get('', announcing(type), '{"PageSize":5}')).toEqual(whole)
    }
    expect(await get('', announcing('application/json', '0'))).toEqual(whole)
    expect(await get('', { 'content-type': 'application/json' })).toEqual(whole)
    expect(await get('', json, '')).toEqual(whole)
  })

  test('a body that is no JSON object is rejected', async () => {
    for (const text of ['{', 'x', ' ', '{"a":1}}', "{'a':1}", '\ufeff{}']) {
      expect(await get('', json, text)).toEqual(errorOf(400, 'request body is not valid JSON'))
    }
    for (const text of ['[]', '"x"', '5', 'null'])
      expect(await get('', json, text)).toEqual(errorOf(400, 'request body must be a JSON object'))
    expect(await get('', json, new Uint8Array([0x7b, 0xff, 0x7d]))).toEqual(
      errorOf(400, 'request body is not valid UTF-8'),
    )
    expect(await get('', json, `{"a":${'['.repeat(64)}${']'.repeat(64)}}`)).toEqual(
      errorOf(400, 'request body is nested deeper than 64 levels'),
    )
  })

  test('a body that is too large is rejected', async () => {
    expect(await get('', json, `{"a":"${'x'.repeat(200)}"}`)).toEqual(errorOf(413, 'request body is too large'))
  })
})

describe('with `identify` the body of an unknown caller is not read', () => {
  const identify = (request: Request) => (request.headers.has('authorization') ? { user: 'ann' } : undefined)
  const store = new MemoryStore()
  const guarded = new Elysia()
    .use(paginationNormalizer({ secrets: ['s, a secret of the tests'], identify }))
    .use(ownership({ identify, store, locate: async () => ({ group: undefined, evidence: undefined }) }))
    .get('/first', ({ listing }) => ({ size: listing.pageSize }), { caller: true, lists: rules })
    .get('/last', ({ listing }) => ({ size: listing.pageSize }), { lists: rules, caller: true })
    .get('/none', ({ listing }) => ({ size: listing.pageSize }), { lists: rules })

  for (const order of ['first', 'last', 'none'] as const) {
    test(`with any position of the route’s guard: ${order}`, async () => {
      let read = 0
      const asking = async (headers: Record<string, string>) => {
        const request = new Request(`http://localhost/${order}`, { headers: { ...json, ...headers } })
        const body = new ReadableStream<Uint8Array>(
          {
            pull(controller) {
              read++
              controller.enqueue(new TextEncoder().encode('{"PageSize":7}'))
              controller.close()
            },
          },
          { highWaterMark: 0 },
        )
        attachBody(request, body)
        const response = await guarded.handle(request)
        return [response.status, await response.json()]
      }
      expect(await asking({})).toEqual([401, expect.objectContaining({ success: false })])
      expect(read).toBe(0)
      expect(await asking({ authorization: 'Bearer x' })).toEqual([200, { size: 7 }])
      expect(read).toBe(1)
    })
  }
})
