import { describe, expect, test } from 'bun:test'
import { type AnyElysia, Elysia } from 'elysia'
import { sseRelay } from 'sluice/sse-relay'
import { toResponse } from 'sluice/upstream-proxy'
import { gateway } from '../../plugins/asset-library/index.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { MemoryStore } from '../ownership/memory.ts'
import {
  as,
  ask,
  identify,
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

/** Both apps in a third one. */
const both = (one: AnyElysia, other: AnyElysia) => new Elysia().use(one).use(other)

describe('two instances with different options work in one app', () => {
  test('api-token', async () => {
    const [ann, bob] = [tokensOf('ann'), tokensOf('bob')]
    const part = (prefix: string, { plugin }: typeof ann) =>
      new Elysia({ prefix }).use(plugin()).get('/me', ({ identity }) => identity.user, { token: true })
    const app = both(part('/one', ann), part('/two', bob))
    expect(await ask(app, '/one/me', ann)).toEqual([200, 'ann'])
    expect(await ask(app, '/two/me', bob)).toEqual([200, 'bob'])
    expect((await ask(app, '/two/me', ann))[0]).toBe(401)
    expect((await ask(app, '/one/me', bob))[0]).toBe(401)
  })

  test('ownership', async () => {
    const part = (prefix: string, user: string) =>
      new Elysia({ prefix }).use(ownershipOf(user)()).get('/:id', ({ group }) => group.id, { ownsGroup: 'id' })
    const app = both(part('/one', 'ann'), part('/two', 'bob'))
    expect(await ask(app, '/one/g-ann', as('ann'))).toEqual([200, 'g-ann'])
    expect(await ask(app, '/two/g-bob', as('bob'))).toEqual([200, 'g-bob'])
    expect((await ask(app, '/two/g-ann', as('ann')))[0]).toBe(403)
    expect((await ask(app, '/one/g-bob', as('bob')))[0]).toBe(403)
  })

  test('pagination-normalizer', async () => {
    const items = [
      { id: 'a', key: '' },
      { id: 'b', key: '' },
    ]
    const part = (prefix: string, secret: string) =>
      new Elysia({ prefix })
        .use(pagesSignedBy(secret)())
        .get('/', ({ listing }) => listing.page(items, 'ann'), { lists: list })
    const app = both(part('/one', 'first'), part('/two', 'second'))
    const [, page] = await ask(app, '/one?PageSize=1')
    const { nextToken } = page as { nextToken: string }
    expect(await ask(app, `/one?PageSize=1&NextToken=${nextToken}`)).toMatchObject([200, { items: [{ id: 'a' }] }])
    expect(await ask(app, `/two?PageSize=1&NextToken=${nextToken}`)).toMatchObject([200, { items: [{ id: 'b' }] }])
  })

  test('upstream-proxy', async () => {
    const part = (prefix: string, name: string) =>
      new Elysia({ prefix })
        .use(upstreamNamed(name)())
        .get('/', async ({ upstream }) => toResponse(await upstream.send({ action: 'GetAsset', id: 'a' })))
    const app = both(part('/one', 'first'), part('/two', 'second'))
    expect(await ask(app, '/one')).toEqual([200, { Result: { from: 'first' } }])
    expect(await ask(app, '/two')).toEqual([200, { Result: { from: 'second' } }])
  })

  test('text-generation', async () => {
    const part = (prefix: string, name: string) => new Elysia({ prefix }).use(textNamed(name))
    const app = both(part('/one', 'first'), part('/two', 'second'))
    expect(await ask(app, '/one/v1/models/m', as('ann'))).toEqual([200, { id: 'first', object: 'model' }])
    expect(await ask(app, '/two/v1/models/m', as('ann'))).toEqual([200, { id: 'second', object: 'model' }])
  })

  test.each([
    ['video-generation', videosNamed, '/api/v3/contents/generations/tasks'],
    ['the OpenAI API for videos', openaiVideosNamed, '/v1/videos'],
  ])('%s', async (_name, create: (name: string) => AnyElysia, path) => {
    const part = (prefix: string, name: string) => new Elysia({ prefix }).use(create(name))
    const app = both(part('/one', 'first'), part('/two', 'second'))
    const unavailable = 'upstream unavailable'
    expect(await ask(app, `/one${path}`, as('ann'))).toEqual([502, { first: unavailable }])
    expect(await ask(app, `/two${path}`, as('ann'))).toEqual([502, { second: unavailable }])
  })

  test('sse-relay', async () => {
    const part = (prefix: string, name: string, more: string) =>
      new Elysia({ prefix })
        .use(sseRelay({ onEnd: () => new TextEncoder().encode(`data: ${more}\n\n`) }))
        .get('/', ({ relay }) => relay(streamNamed(name)))
    const app = both(part('/one', 'a', 'end of one'), part('/two', 'b', 'end of two'))
    expect(await ask(app, '/one')).toEqual([200, 'data: a\n\ndata: end of one\n\n'])
    expect(await ask(app, '/two')).toEqual([200, 'data: b\n\ndata: end of two\n\n'])
  })

  test('in one chain each instance applies to the routes after it', async () => {
    const [ann, bob] = [tokensOf('ann'), tokensOf('bob')]
    const tokens = new Elysia()
      .use(ann.plugin())
      .get('/one', ({ identity }) => identity.user, { token: true })
      .use(bob.plugin())
      .get('/two', ({ identity }) => identity.user, { token: true })
    expect([await ask(tokens, '/one', ann), await ask(tokens, '/two', bob)]).toEqual([
      [200, 'ann'],
      [200, 'bob'],
    ])
    const owners = new Elysia()
      .use(ownershipOf('ann')())
      .get('/one/:id', ({ group }) => group.id, { ownsGroup: 'id' })
      .use(ownershipOf('bob')())
      .get('/two/:id', ({ group }) => group.id, { ownsGroup: 'id' })
    expect([await ask(owners, '/one/g-ann', as('ann')), await ask(owners, '/two/g-bob', as('bob'))]).toEqual([
      [200, 'g-ann'],
      [200, 'g-bob'],
    ])
    const items = [
      { id: 'a', key: '' },
      { id: 'b', key: '' },
    ]
    const pages = new Elysia()
      .use(pagesSignedBy('first')())
      .get('/one', ({ listing }) => listing.page(items, 'ann'), { lists: list })
      .use(pagesSignedBy('second')())
      .get('/two', ({ listing }) => listing.page(items, 'ann'), { lists: list })
    const [[, one], [, two]] = [await ask(pages, '/one?PageSize=1'), await ask(pages, '/two?PageSize=1')]
    expect(one).not.toEqual(two)
    const upstreams = new Elysia()
      .use(upstreamNamed('first')())
      .get('/one', async ({ upstream }) => toResponse(await upstream.send({ action: 'GetAsset', id: 'a' })))
      .use(upstreamNamed('second')())
      .get('/two', async ({ upstream }) => toResponse(await upstream.send({ action: 'GetAsset', id: 'a' })))
    expect([await ask(upstreams, '/one'), await ask(upstreams, '/two')]).toEqual([
      [200, { Result: { from: 'first' } }],
      [200, { Result: { from: 'second' } }],
    ])
  })

  test('the gateway itself', async () => {
    const part = (segment: string, user: string) => {
      const store = new MemoryStore()
      store.add({ id: `g-${user}`, user })
      return gateway({
        segment,
        store,
        identify,
        secrets: ['s, a secret of the tests'],
        kind: rest({ url: `http://${segment}.invalid`, key: `key-of-${segment}` }),
        fetch: async () => Response.json({ Result: { Items: [{ Id: `g-${user}`, Name: segment }] } }),
      })
    }
    const app = both(part('media', 'ann'), part('video', 'bob'))
    expect(await ask(app, '/api/media/proxy/assets/groups', as('ann'))).toMatchObject([
      200,
      { Result: { Items: [{ Name: 'media' }] } },
    ])
    expect(await ask(app, '/api/video/proxy/assets/groups', as('bob'))).toMatchObject([
      200,
      { Result: { Items: [{ Name: 'video' }] } },
    ])
    expect(await ask(app, '/api/video/proxy/assets/groups', as('ann'))).toMatchObject([200, { Result: { Items: [] } }])
    expect(await ask(app, '/api/video/proxy/assets')).toMatchObject([401, { error: { type: 'video_proxy_error' } }])
    expect(await ask(app, '/api/media/proxy/assets')).toMatchObject([401, { error: { type: 'media_proxy_error' } }])
  })
})
