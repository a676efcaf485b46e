import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { createOwnership, type Group, type Identify, type Ownership, ownership } from 'sluice/ownership'
import { MemoryStore } from './memory.ts'

// A host app in JavaScript has no types: its mistakes must not widen what a caller may see or change.

/** Rules over a store that also has records without a proper user, which a query for no user would find. */
const openFixture = () => {
  const store = new MemoryStore()
  store.add({ id: 'g-ann', user: 'ann', name: 'one' })
  store.add({ id: 'g-none', user: undefined as never })
  store.add({ id: 'g-null', user: null as never })
  store.add({ id: 'g-empty', user: '' })
  store.add({ id: 'g-5', user: 5 as never })
  for (const id of ['g-ann', 'g-none', 'g-null', 'g-empty', 'g-5']) store.assetGroups.set(`a-${id}`, id)
  const owners = createOwnership({ store })
  return { store, owners, untyped: owners as unknown as Record<keyof Ownership, (...given: unknown[]) => unknown> }
}

const failure = async (asking: () => unknown): Promise<unknown> => {
  try {
    await asking()
  } catch (error) {
    return error
  }
  throw new Error('it did not throw')
}

describe.each([[undefined], [null], [''], [5], [{}], [['ann']]])('the user %p', (user) => {
  test('owns nothing, whatever the store has, and the store is not asked', async () => {
    const { store, untyped } = openFixture()
    expect(await untyped.groupsOf(user)).toEqual([])
    expect(await untyped.select(user, 'AIGC', undefined)).toEqual([])
    for (const id of ['g-ann', 'g-none', 'g-null', 'g-empty', 'g-5']) {
      expect(await failure(() => untyped.group(user, id))).toMatchObject({ status: 403 })
      expect(await failure(() => untyped.select(user, 'AIGC', [id]))).toMatchObject({ status: 403 })
      expect(await failure(() => untyped.asset(user, `a-${id}`))).toMatchObject({ status: 403 })
      expect(await failure(() => untyped.locateAsset(user, `a-${id}`))).toMatchObject({ status: 403 })
    }
    expect(store.calls).toEqual([])
  })

  test('of an identity runs no guarded route', async () => {
    const { store } = openFixture()
    let runs = 0
    const run = () => {
      runs++
      return 'owned'
    }
    const identify: Identify = () => ({ user }) as never
    const app = new Elysia()
      .use(ownership({ store, identify }))
      .get('/mine', run, { caller: true })
      .get('/groups/:id', run, { ownsGroup: 'id' })
      .get('/assets/:id', run, { ownsAsset: 'id' })
    for (const path of ['/mine', '/groups/g-none', '/groups/g-empty', '/groups/g-5', '/assets/a-g-none'])
      expect((await app.handle(new Request(`http://localhost${path}`))).status).toBe(user ? 500 : 401)
    expect(runs).toBe(0)
  })
})

test.each([[true], ['ann'], [7], [[]], [{}], [{ user: null }], [null], [false], ['']])(
  'the identity %p is an unknown caller',
  async (identity) => {
    const { store } = openFixture()
    const app = new Elysia()
      .use(ownership({ store, identify: () => identity as never }))
      .get('/mine', () => 'owned', { caller: true })
    expect((await app.handle(new Request('http://localhost/mine'))).status).toBe(401)
  },
)

test.each([[null], [''], ['g-ann'], [{}], [0]])(
  'a selection by %p is an error, because only undefined means all groups',
  async (ids) => {
    const { untyped } = openFixture()
    expect(await failure(() => untyped.select('ann', 'AIGC', ids))).toBeInstanceOf(TypeError)
  },
)

test('a selection by no ids has no groups', async () => {
  const { owners } = openFixture()
  expect(await owners.select('ann', 'AIGC', [])).toEqual([])
})

describe('a group that the rules have not returned', () => {
  const record: Group = { id: 'g-ann', user: 'ann', type: 'AIGC', name: 'one', createdAt: 0 }
  test.each(['record', 'cacheGroup', 'remove', 'describe'] as const)('is rejected by %s', async (method) => {
    const { store, owners, untyped } = openFixture()
    const owned = await owners.group('ann', 'g-ann')
    store.calls.length = 0
    for (const forged of [record, { ...owned }, Object.create(owned), store.owned.get('g-ann'), 'g-ann', undefined]) {
      const given = method === 'record' || method === 'cacheGroup' ? ['asset', forged] : [forged, 'text']
      expect(await failure(() => untyped[method](...given))).toBeInstanceOf(TypeError)
    }
    expect(store.calls).toEqual([])
    expect(store.owned.has('g-ann')).toBe(true)
  })
})
