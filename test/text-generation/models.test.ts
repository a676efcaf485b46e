import { describe, expect, test } from 'bun:test'
import type { TextUpstream } from '../../plugins/text-generation/index.ts'
import { openApp, type UpstreamRequest } from './fixture.ts'

const notFound = () => Response.json({ detail: 'Not Found' }, { status: 404 })
const list = (...data: readonly object[]) => Response.json({ object: 'list', data })
const model = (id: string, more: object = {}) => ({ id, object: 'model', created: 1, owned_by: 'x', ...more })

const pathOf = ({ url }: UpstreamRequest) => decodeURIComponent(new URL(url).pathname)
const one = { url: 'http://one.invalid/v1' }

/** An upstream that has a list, and responds to the path of a single model with `single`. */
const open = (models: readonly object[], single: () => Response = notFound, upstream: Partial<TextUpstream> = {}) =>
  openApp(({ url }) => (url.endsWith('/models') ? list(...models) : single()), {
    upstreams: [{ ...one, ...upstream }],
  })

const get = async (app: ReturnType<typeof open>, path: string) => {
  const response = await app.get(path)
  return [response.status, await response.json()] as const
}

describe('a model by its id', () => {
  const error = { error: { message: 'no such model', code: 'model_not_found' } }

  for (const [what, single] of [
    ['404', notFound],
    ['404 about the model', () => Response.json(error, { status: 404 })],
    ['405', () => new Response('', { status: 405 })],
    ['501', () => new Response('', { status: 501 })],
    ['a page', () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } })],
  ] as const) {
    test(`comes from the list when the upstream responds to its path with ${what}`, async () => {
      const app = open([model('a'), model('b', { n: 1 })], single)
      expect(await get(app, '/models/b')).toEqual([200, model('b', { n: 1 })])
      expect(app.asked.map(pathOf)).toEqual(['/v1/models/b', '/v1/models'])
    })
  }

  test('is not found when the list does not have it', async () => {
    expect(await get(open([model('a')]), '/models/b')).toMatchObject([404, { error: { code: 'model_not_found' } }])
    const own = () => Response.json(error, { status: 404 })
    expect(await get(open([model('a')], own), '/models/b')).toEqual([404, error])
  })

  test('is an error when the list fails', async () => {
    const app = openApp(({ url }) => (url.endsWith('/models') ? Response.json({}, { status: 500 }) : notFound()), {
      upstreams: [one],
    })
    expect((await get(app, '/models/b'))[0]).toBe(500)
  })

  test('may have slashes, encoded or not, also at its start', async () => {
    for (const [path, id] of [
      ['org/model', 'org/model'],
      ['org%2Fmodel', 'org/model'],
      ['org/team/model:7b', 'org/team/model:7b'],
      ['org%2Fteam/model%3A7b', 'org/team/model:7b'],
      ['/abs/path.gguf', '/abs/path.gguf'],
      ['%2Fabs%2Fpath.gguf', '/abs/path.gguf'],
      ['/abs%20path/m.gguf', '/abs path/m.gguf'],
    ] as const) {
      const app = open([], () => Response.json(model(id)))
      expect([path, ...(await get(app, `/models/${path}`))]).toEqual([path, 200, model(id)])
      expect(app.asked.map(({ url }) => url)).toEqual([`http://one.invalid/v1/models/${encodeURIComponent(id)}`])
      expect(await get(open([model(id)]), `/models/${path}`)).toEqual([200, model(id)])
    }
  })

  test('does not select another path of the upstream', async () => {
    const app = open([], () => Response.json(model('a')))
    for (const path of ['..%2Fx/y', 'a/%2e%2e%2fb', '%2F..%2Fb', 'a//b', '/', '//a', 'a/%253F', 'a/%00', 'a/%zz/b'])
      expect([path, (await get(app, `/models/${path}`))[0]]).toEqual([path, 404])
    expect(app.asked).toEqual([])
  })

  test('needs a token, also with slashes', async () => {
    const app = open([model('a/b')])
    for (const path of ['/models/a', '/models/a/b']) expect((await app.ask(path, {})).status).toBe(401)
  })
})

describe('what the configuration says', () => {
  const models = [
    { id: 'vendor/a-2026', alias: 'a', ownedBy: 'vendor', contextLength: 131_072, maxTokens: 8192 },
    { id: 'vendor/a-2026', alias: 'a-latest' },
    'b',
  ]

  test('is in the list, under the names for callers', async () => {
    const app = open([model('vendor/a-2026', { n: 1 }), model('other')], notFound, { models })
    expect(await get(app, '/models')).toEqual([
      200,
      {
        object: 'list',
        data: [
          model('a', { owned_by: 'vendor', n: 1, context_length: 131_072, max_completion_tokens: 8192 }),
          model('a-latest', { n: 1 }),
          model('other'),
          { id: 'b', object: 'model' },
        ],
      },
    ])
  })

  test('is in a single model, whether the upstream has a route for it or not', async () => {
    for (const single of [notFound, () => Response.json(model('vendor/a-2026'))]) {
      const app = open([model('vendor/a-2026')], single, { models })
      expect(await get(app, '/models/a')).toEqual([
        200,
        model('a', { owned_by: 'vendor', context_length: 131_072, max_completion_tokens: 8192 }),
      ])
      expect(app.asked[0] && pathOf(app.asked[0])).toBe('/v1/models/vendor/a-2026')
    }
  })

  test('is enough for an upstream without any list, and invents nothing', async () => {
    const app = openApp(notFound, { upstreams: [{ ...one, name: 'local', models: ['b'] }] })
    const b = { id: 'b', object: 'model', owned_by: 'local' }
    expect(await get(app, '/models')).toEqual([200, { object: 'list', data: [b] }])
    expect(await get(app, '/models/b')).toEqual([200, b])
    expect((await get(app, '/models/c'))[0]).toBe(404)
  })

  test('lists each model once, at the upstream that serves it', async () => {
    const two = { url: 'http://two.invalid/v1', models: ['m', { id: 'n-2026', alias: 'n' }], failover: true }
    const app = openApp(
      ({ url }) => (url.startsWith('http://one') ? list(model('m')) : list(model('m'), model('n-2026'))),
      {
        upstreams: [{ ...one, models: ['m', 'n'] }, two],
      },
    )
    const [, { data }] = (await get(app, '/models')) as readonly [number, { data: { id: string }[] }]
    expect(data.map(({ id }) => id)).toEqual(['m', 'n'])
  })
})
