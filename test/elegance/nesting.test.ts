import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { sseRelay } from 'sluice/sse-relay'
import { toResponse } from 'sluice/upstream-proxy'
import {
  as,
  ask,
  list,
  openaiVideosNamed,
  ownershipOf,
  pagesSignedBy,
  streamNamed,
  textNamed,
  tokensOf,
  upstreamNamed,
  videosNamed,
} from './fixture.ts'

/** A host app with three levels of plugins. Each level has a route that must stay unguarded. */
const nest = (inner: Elysia) => {
  const first = new Elysia({ name: 'first', prefix: '/first' }).use(inner).get('/sibling', () => 'open')
  const second = new Elysia({ name: 'second', prefix: '/second' }).use(first).get('/sibling', () => 'open')
  return new Elysia()
    .get('/before', () => 'open')
    .use(second)
    .get('/after', () => 'open')
}

const siblings = ['/before', '/after', '/second/sibling', '/second/first/sibling']

const expectOpen = async (app: { handle(request: Request): Promise<Response> }) => {
  for (const path of siblings) expect([path, await ask(app, path)]).toEqual([path, [200, 'open']])
}

describe('a plugin nested in two other plugins guards its own routes only', () => {
  test('api-token', async () => {
    const { plugin, headers } = tokensOf('ann')
    const inner = new Elysia({ prefix: '/inner' })
      .use(plugin())
      .get('/me', ({ identity }) => identity.user, { token: true })
    const app = nest(inner as unknown as Elysia)
    expect(await ask(app, '/second/first/inner/me', { headers })).toEqual([200, 'ann'])
    expect((await ask(app, '/second/first/inner/me'))[0]).toBe(401)
    await expectOpen(app)
  })

  test('ownership', async () => {
    const inner = new Elysia({ prefix: '/inner' })
      .use(ownershipOf('ann')())
      .get('/:id', ({ group }) => group.id, { ownsGroup: 'id' })
    const app = nest(inner as unknown as Elysia)
    expect(await ask(app, '/second/first/inner/g-ann', as('ann'))).toEqual([200, 'g-ann'])
    expect((await ask(app, '/second/first/inner/g-ann', as('bob')))[0]).toBe(403)
    expect((await ask(app, '/second/first/inner/g-ann'))[0]).toBe(401)
    await expectOpen(app)
  })

  test('pagination-normalizer', async () => {
    const inner = new Elysia({ prefix: '/inner' })
      .use(pagesSignedBy('s')())
      .get('/', ({ listing }) => listing.page([{ id: 'a', key: '' }], 'ann'), { lists: list })
    const app = nest(inner as unknown as Elysia)
    expect(await ask(app, '/second/first/inner')).toMatchObject([200, { totalCount: 1 }])
    expect((await ask(app, '/second/first/inner?PageSize=x'))[0]).toBe(400)
    await expectOpen(app)
    expect(await ask(app, '/after?PageSize=x')).toEqual([200, 'open'])
  })

  test('upstream-proxy', async () => {
    const inner = new Elysia({ prefix: '/inner' })
      .use(upstreamNamed('deep')())
      .get('/:id', async ({ upstream, params }) =>
        toResponse(await upstream.send({ action: 'GetAsset', id: params.id })),
      )
    const app = nest(inner as unknown as Elysia)
    expect(await ask(app, '/second/first/inner/a')).toEqual([200, { Result: { from: 'deep' } }])
    expect(await ask(app, '/second/first/inner/gone')).toEqual([404, { from: 'deep' }])
    await expectOpen(app)
  })

  test('text-generation and sse-relay', async () => {
    const inner = new Elysia({ prefix: '/inner' })
      .use(textNamed('deep'))
      .use(sseRelay())
      .get('/stream', ({ relay }) => relay(streamNamed('deep')))
      .get('/sibling', () => 'open')
    const app = nest(inner as unknown as Elysia).get('/v1', () => 'open')
    expect(await ask(app, '/second/first/inner/v1/models/m', as('ann'))).toEqual([200, { id: 'deep', object: 'model' }])
    expect((await ask(app, '/second/first/inner/v1/models/m'))[0]).toBe(401)
    expect(await ask(app, '/second/first/inner/stream')).toEqual([200, 'data: deep\n\n'])
    await expectOpen(app)
    for (const path of ['/v1', '/second/first/inner/sibling'])
      expect([path, await ask(app, path)]).toEqual([path, [200, 'open']])
  })

  test('video-generation', async () => {
    const inner = new Elysia({ prefix: '/inner' })
      .use(videosNamed('deep'))
      .use(openaiVideosNamed('deep'))
      .get('/sibling', () => 'open')
    const app = nest(inner as unknown as Elysia).get('/v1/videos', () => 'open')
    for (const path of ['/api/v3/contents/generations/tasks', '/v1/videos', '/v1/videos/a/content']) {
      const target = `/second/first/inner${path}`
      expect([path, await ask(app, target, as('ann'))]).toEqual([path, [502, { deep: 'upstream unavailable' }]])
      expect([path, (await ask(app, target))[0]]).toEqual([path, 401])
    }
    await expectOpen(app)
    for (const path of ['/v1/videos', '/second/first/inner/sibling'])
      expect([path, await ask(app, path)]).toEqual([path, [200, 'open']])
  })

  test('a macro is available on every outer level', async () => {
    const inner = new Elysia({ name: 'inner' }).use(ownershipOf('ann')())
    const first = new Elysia({ name: 'first' }).use(inner)
    const app = new Elysia().use(first).get('/:id', ({ group }) => group.id, { ownsGroup: 'id' })
    expect(await ask(app, '/g-ann', as('ann'))).toEqual([200, 'g-ann'])
    expect((await ask(app, '/g-ann'))[0]).toBe(401)
  })
})
