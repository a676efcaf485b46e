import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { toResponse } from 'sluice/upstream-proxy'
import { as, ask, list, pagesSignedBy, possessionsOf, tokensOf, upstreamNamed } from './guests.ts'

/** A host app of three floors, with neighbours on each that must stay as they are. */
const tower = (ground: Elysia) => {
  const first = new Elysia({ name: 'first', prefix: '/first' }).use(ground).get('/neighbour', () => 'open')
  const second = new Elysia({ name: 'second', prefix: '/second' }).use(first).get('/neighbour', () => 'open')
  return new Elysia()
    .get('/before', () => 'open')
    .use(second)
    .get('/after', () => 'open')
}

const neighbours = ['/before', '/after', '/second/neighbour', '/second/first/neighbour']

const staysOpen = async (app: { handle(request: Request): Promise<Response> }) => {
  for (const path of neighbours) expect([path, await ask(app, path)]).toEqual([path, [200, 'open']])
}

describe('a plugin used by a plugin used by a plugin still guards its own, and only its own', () => {
  test('api-token', async () => {
    const { plugin, headers } = tokensOf('ann')
    const ground = new Elysia({ prefix: '/ground' })
      .use(plugin())
      .get('/me', ({ identity }) => identity.user, { token: true })
    const app = tower(ground as unknown as Elysia)
    expect(await ask(app, '/second/first/ground/me', { headers })).toEqual([200, 'ann'])
    expect((await ask(app, '/second/first/ground/me'))[0]).toBe(401)
    await staysOpen(app)
  })

  test('ownership', async () => {
    const ground = new Elysia({ prefix: '/ground' })
      .use(possessionsOf('ann')())
      .get('/:id', ({ group }) => group.id, { ownsGroup: 'id' })
    const app = tower(ground as unknown as Elysia)
    expect(await ask(app, '/second/first/ground/g-ann', as('ann'))).toEqual([200, 'g-ann'])
    expect((await ask(app, '/second/first/ground/g-ann', as('bob')))[0]).toBe(403)
    expect((await ask(app, '/second/first/ground/g-ann'))[0]).toBe(401)
    await staysOpen(app)
  })

  test('pagination-normalizer', async () => {
    const ground = new Elysia({ prefix: '/ground' })
      .use(pagesSignedBy('s')())
      .get('/', ({ listing }) => listing.page([{ id: 'a', key: '' }], 'ann'), { lists: list })
    const app = tower(ground as unknown as Elysia)
    expect(await ask(app, '/second/first/ground')).toMatchObject([200, { totalCount: 1 }])
    expect((await ask(app, '/second/first/ground?PageSize=x'))[0]).toBe(400)
    await staysOpen(app)
    expect(await ask(app, '/after?PageSize=x')).toEqual([200, 'open'])
  })

  test('upstream-proxy', async () => {
    const ground = new Elysia({ prefix: '/ground' })
      .use(upstreamNamed('deep')())
      .get('/:id', async ({ upstream, params }) =>
        toResponse(await upstream.send({ action: 'GetAsset', id: params.id })),
      )
    const app = tower(ground as unknown as Elysia)
    expect(await ask(app, '/second/first/ground/a')).toEqual([200, { Result: { from: 'deep' } }])
    expect(await ask(app, '/second/first/ground/gone')).toEqual([404, { from: 'deep' }])
    await staysOpen(app)
  })

  test('a macro is at hand on every floor above the one that brought it', async () => {
    const ground = new Elysia({ name: 'ground' }).use(possessionsOf('ann')())
    const first = new Elysia({ name: 'first' }).use(ground)
    const app = new Elysia().use(first).get('/:id', ({ group }) => group.id, { ownsGroup: 'id' })
    expect(await ask(app, '/g-ann', as('ann'))).toEqual([200, 'g-ann'])
    expect((await ask(app, '/g-ann'))[0]).toBe(401)
  })
})
