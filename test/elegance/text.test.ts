import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AnyElysia, Elysia } from 'elysia'
import { sseRelay } from 'sluice/sse-relay'
import { textGeneration } from 'sluice/text-generation'
import { as, ask, identify } from './fixture.ts'
import { codeOf, sources } from './sources.ts'

/** The route table of text generation. */
const table = [
  ['POST', '/chat/completions'],
  ['POST', '/responses'],
  ['GET', '/responses/:response_id'],
  ['DELETE', '/responses/:response_id'],
  ['POST', '/responses/:response_id/cancel'],
  ['GET', '/responses/:response_id/input_items'],
  ['GET', '/models'],
  ['GET', '/models/:model'],
] as const

/** Text generation with an upstream that responds with its name. */
const textOf = (name: string) =>
  textGeneration({
    upstreams: [{ url: `http://${name}.invalid/v1` }],
    identify,
    fetch: async () => Response.json({ id: name, object: 'model' }),
  })

const streamOf = (name: string) => () =>
  Promise.resolve(new Response(`data: ${name}\n\n`, { headers: { 'content-type': 'text/event-stream' } }))

const shape = (message: string, type: string, code: string | null = null) => ({
  error: { message, type, param: null, code },
})

describe('the route table of text generation', () => {
  test('the source has exactly these routes, all guarded', () => {
    const [source] = sources('plugins/text-generation').filter(({ path }) => path.endsWith('/index.ts'))
    const code = codeOf(source ?? { path: '', text: '' })
    const routes = /\.(get|post|put|patch|delete)\(\s*'([^']*)',[\s\S]*?\{\s*generates: true/g
    expect([...code.matchAll(routes)].map(([, method = '', path]) => [method.toUpperCase(), path])).toEqual(
      table.map((row) => [...row]),
    )
  })

  test('every guarded route of the app is in the table', () => {
    const app = textOf('one')
    const guarded = app.routes
      .filter((route) => [route.hooks.beforeHandle].flat().some((hook) => hook !== undefined))
      .map((route) => `${route.method} ${route.path}`)
    expect(guarded.sort()).toEqual(table.map(([method, path]) => `${method} /v1${path}`).sort())
  })

  for (const [method, path] of table) {
    test(`${method} ${path} requires authentication, with an error in OpenAI's format`, async () => {
      expect(await ask(textOf('one'), `/v1${path.replace(/:\w+/, 'm')}`, { method })).toEqual([
        401,
        shape('not authenticated', 'authentication_error', 'invalid_api_key'),
      ])
    })
  }

  test('other methods are 405, other paths 404', async () => {
    const app = textOf('one')
    expect(await ask(app, '/v1/models', { ...as('ann'), method: 'POST' })).toEqual([
      405,
      shape('method not allowed', 'invalid_request_error'),
    ])
    for (const path of ['/v1', '/v1/', '/v1/completions', '/v1/responses/r1/r2', '/v1/conversations/c1']) {
      expect([path, await ask(app, path, as('ann'))]).toEqual([
        path,
        [404, shape('not found', 'invalid_request_error')],
      ])
    }
  })
})

describe('two instances with different options work in one app', () => {
  const both = (one: AnyElysia, other: AnyElysia) => new Elysia().use(one).use(other)

  test('text-generation', async () => {
    const part = (prefix: string, name: string) => new Elysia({ prefix }).use(textOf(name))
    const app = both(part('/one', 'first'), part('/two', 'second'))
    expect(await ask(app, '/one/v1/models/m', as('ann'))).toEqual([200, { id: 'first', object: 'model' }])
    expect(await ask(app, '/two/v1/models/m', as('ann'))).toEqual([200, { id: 'second', object: 'model' }])
  })

  test('sse-relay', async () => {
    const part = (prefix: string, name: string, more: string) =>
      new Elysia({ prefix })
        .use(sseRelay({ onEnd: () => new TextEncoder().encode(`data: ${more}\n\n`) }))
        .get('/', ({ relay }) => relay(streamOf(name)))
    const app = both(part('/one', 'a', 'end of one'), part('/two', 'b', 'end of two'))
    expect(await ask(app, '/one')).toEqual([200, 'data: a\n\ndata: end of one\n\n'])
    expect(await ask(app, '/two')).toEqual([200, 'data: b\n\ndata: end of two\n\n'])
  })
})

test('a plugin nested in two other plugins guards its own routes only', async () => {
  const inner = new Elysia({ prefix: '/inner' })
    .use(textOf('deep'))
    .use(sseRelay())
    .get('/stream', ({ relay }) => relay(streamOf('deep')))
    .get('/sibling', () => 'open')
  const first = new Elysia({ name: 'first', prefix: '/first' }).use(inner).get('/sibling', () => 'open')
  const app = new Elysia().use(first).get('/v1', () => 'mine')
  expect(await ask(app, '/first/inner/v1/models/m', as('ann'))).toEqual([200, { id: 'deep', object: 'model' }])
  expect((await ask(app, '/first/inner/v1/models/m'))[0]).toBe(401)
  expect(await ask(app, '/first/inner/stream')).toEqual([200, 'data: deep\n\n'])
  for (const [path, body] of [
    ['/v1', 'mine'],
    ['/first/sibling', 'open'],
    ['/first/inner/sibling', 'open'],
  ]) {
    expect(await ask(app, path ?? '')).toEqual([200, body])
  }
})

describe('no file is too long', () => {
  const root = join(import.meta.dir, '../..')
  for (const [folder, most] of [
    ['src', 300],
    ['plugins', 300],
    ['test', 400],
  ] as const) {
    test(`${folder}: at most ${most} lines`, () => {
      const files = [...new Bun.Glob(`${folder}/**/*`).scanSync(root)]
      expect(files).not.toBeEmpty()
      const lengths = files.map(
        (path) => [path, readFileSync(join(root, path), 'utf8').split('\n').length - 1] as const,
      )
      expect(lengths.filter(([, lines]) => lines > most)).toEqual([])
    })
  }
})
