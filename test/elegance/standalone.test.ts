import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { toResponse } from 'sluice/upstream-proxy'
import { as, ask, errorBody, list, ownershipOf, pagesSignedBy, tokensOf, upstreamNamed } from './fixture.ts'

describe('each plugin works alone in any Elysia app', () => {
  test('api-token', async () => {
    const { plugin, headers } = tokensOf('ann')
    const app = new Elysia()
      .use(plugin())
      .get('/me', ({ identity }) => identity.user, { token: true })
      .get('/open', () => 'open')
    expect(await ask(app, '/me', { headers })).toEqual([200, 'ann'])
    expect(await ask(app, '/me')).toEqual(errorBody(401, 'not authenticated'))
    expect(await ask(app, '/open')).toEqual([200, 'open'])
  })

  test('ownership', async () => {
    const app = new Elysia()
      .use(ownershipOf('ann')())
      .get('/me', ({ user }) => user, { caller: true })
      .get('/groups/:group', ({ group, user }) => `${user} ${group.id}`, { ownsGroup: 'group' })
      .delete('/groups/:group/assets/:asset', ({ asset }) => asset.id, { ownsAsset: 'asset' })
      .get('/assets/:asset', ({ asset }) => String(asset.evidence), { locatesAsset: 'asset' })
      .get('/misnamed/:group', () => 'never', { ownsGroup: 'id' })
    const notMine = errorBody(403, 'group_id does not belong to your asset groups')
    const notMyAsset = errorBody(403, 'asset not found in your asset group')
    expect(await ask(app, '/me', as('ann'))).toEqual([200, 'ann'])
    expect(await ask(app, '/groups/g-ann', as('ann'))).toEqual([200, 'ann g-ann'])
    expect(await ask(app, '/groups/g%2Dann', as('ann'))).toEqual([200, 'ann g-ann'])
    expect(await ask(app, '/groups/g-ann', as('bob'))).toEqual(notMine)
    for (const id of ['g-none', '..%2Fg-ann', 'g-ann%00', 'g-ann%2F', '%2e%2e%2fg-ann', 'g-ann%ff', 'g-ann%zz']) {
      expect([id, await ask(app, `/groups/${id}`, as('ann'))]).toEqual([id, notMine])
    }
    expect(await ask(app, '/misnamed/g-ann', as('ann'))).toEqual(notMine)
    expect(await ask(app, '/groups/x/assets/a-ann', { ...as('ann'), method: 'DELETE' })).toEqual([200, 'a-ann'])
    expect(await ask(app, '/groups/x/assets/a-ann', { ...as('bob'), method: 'DELETE' })).toEqual(notMyAsset)
    expect(await ask(app, '/assets/a-ann', as('ann'))).toEqual([200, 'undefined'])
    expect(await ask(app, '/assets/a-none', as('ann'))).toEqual(notMyAsset)
    for (const path of ['/me', '/groups/g-ann', '/assets/a-ann', '/misnamed/x']) {
      expect(await ask(app, path)).toEqual(errorBody(401, 'not authenticated'))
    }
  })

  test('pagination-normalizer', async () => {
    const items = ['a', 'b', 'c'].map((id) => ({ id, key: id }))
    const app = new Elysia()
      .use(pagesSignedBy('secret')())
      .get('/list', ({ listing }) => listing.page(items, 'ann'), { lists: list })
    const [, first] = await ask(app, '/list?PageSize=2&SortOrder=Asc')
    const { nextToken } = first as { nextToken: string }
    expect(first).toEqual({ items: items.slice(0, 2), totalCount: 3, nextToken })
    expect(await ask(app, `/list?PageSize=2&SortOrder=Asc&NextToken=${nextToken}`)).toEqual([
      200,
      { items: items.slice(2), totalCount: 3, nextToken: '' },
    ])
    expect(await ask(app, '/list?Name=sixsix')).toEqual(errorBody(400, 'Name must be at most 5 characters'))
    expect(await ask(app, '/list?PageSize=0')).toEqual(errorBody(400, 'PageSize must be an integer from 1 to 100'))
  })

  test('upstream-proxy', async () => {
    const app = new Elysia()
      .use(upstreamNamed('one')())
      .get('/:id', async ({ upstream, caller, params }) =>
        toResponse(await upstream.send({ action: 'GetAsset', id: params.id }, caller)),
      )
    expect(await ask(app, '/a')).toEqual([200, { Result: { from: 'one' } }])
    expect(await ask(app, '/gone')).toEqual([404, { from: 'one' }])
  })
})
