import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { addUser, type Body, type Call, openAdmin } from './fixture.ts'

let created = 0

/** Adds a batch of two items. Ids of later batches sort later. */
const addBatch = async (store: Store, user: string): Promise<string> => {
  const id = `batch-${String(++created).padStart(9, '0')}${randomUUID().replaceAll('-', '').slice(0, 23)}`
  const batch = { id, user, group: 'group-1', groupType: 'AIGC', createdAt: created }
  await store.addAssetBatch(
    batch,
    ['a', 'b'].map((name) => ({ name, body: '{}' })),
    10,
  )
  return id
}

repeatOnDatabases('batches of all users', (database) => {
  let store: Store
  let api: Awaited<ReturnType<typeof openAdmin>>
  let root: Call
  beforeAll(async () => {
    created = 0
    store = await database.open()
    api = await openAdmin(store)
    root = api.with((await addUser(store, 'admin', ['admin'])).token)
  })

  const list = async (query = '') => (await root('GET', `/batches${query}`)).body.batches as readonly Body[]
  const end = async (id: string): Promise<void> => {
    for (const position of [1, 2])
      await store.settleAssetBatchItem({ batch: id, position, attempts: 0 }, { state: 'failed', error: '{}' })
    expect(await store.endAssetBatch(id, 1_000, undefined)).toBe('ended')
  }

  test('are listed, newest first, by user and by whether they run, in pages', async () => {
    const [ann, bob] = [await addUser(store, 'user', []), await addUser(store, 'user', [])]
    const [first, second, third] = [
      await addBatch(store, ann.id),
      await addBatch(store, bob.id),
      await addBatch(store, ann.id),
    ]
    await end(first)
    expect((await list()).slice(0, 3).map(({ id }) => id)).toEqual([third, second, first])
    expect(await list(`?user=${ann.id}`)).toEqual([
      {
        ...{ id: third, user: ann.id, user_name: ann.name, token: null, group: 'group-1', group_type: 'AIGC' },
        ...{ created_at: '1970-01-01T00:00:00.003Z', cancelled_at: null, ended_at: null },
        due_at: '1970-01-01T00:00:00.003Z',
        counts: { waiting: 2, sending: 0, created: 0, failed: 0, unknown: 0, cancelled: 0 },
      },
      expect.objectContaining({ id: first, ended_at: '1970-01-01T00:00:01.000Z', due_at: null }),
    ])
    expect((await list(`?user=${ann.id}&state=running`)).map(({ id }) => id)).toEqual([third])
    expect((await list('?state=running')).slice(0, 2).map(({ id }) => id)).toEqual([third, second])
    const page = (await root('GET', `/batches?user=${ann.id}&limit=1`)).body
    expect(page.batches.map(({ id }: Body) => id)).toEqual([third])
    const rest = (await root('GET', `/batches?user=${ann.id}&limit=1&cursor=${page.next_cursor}`)).body
    expect([rest.batches.map(({ id }: Body) => id), rest.next_cursor]).toEqual([[first], null])
    expect((await root('GET', `/batches?limit=1&cursor=${page.next_cursor}`)).status).toBe(400)
    expect((await root('GET', '/batches?state=ended')).status).toBe(400)
    expect(api.events.filter(({ target }) => target?.kind === 'asset_batches').at(-1)?.action).toBe('admin.read')
  })

  test('are cancelled once, and the audit trail says so', async () => {
    const { id: user } = await addUser(store, 'user', [])
    const id = await addBatch(store, user)
    const claimed = await store.claimAssetBatchItem({ batch: id, position: 1 }, 1, 2)
    const cancelled = await root('POST', `/batches/${id}/cancel`)
    expect(cancelled.body.batch).toMatchObject({
      ...{ id, cancelled_at: expect.any(String), ended_at: null, due_at: expect.any(String) },
      counts: { waiting: 0, sending: 1, cancelled: 1 },
    })
    expect((await root('POST', `/batches/${id}/cancel`)).text).toBe(cancelled.text)
    // The call in progress still has its outcome.
    expect(claimed && (await store.settleAssetBatchItem(claimed, { state: 'created', asset: randomUUID() }))).toBe(true)
    expect(
      api.events
        .filter(({ action }) => action === 'asset_batch.cancel')
        .map(({ target }) => [target?.kind, target?.id]),
    ).toEqual([['asset_batch', id]])
  })

  test('that have ended, also in the meantime, or that do not exist, cannot be cancelled', async () => {
    const { id: user } = await addUser(store, 'user', [])
    const id = await addBatch(store, user)
    await end(id)
    const refused = await root('POST', `/batches/${id}/cancel`)
    expect([refused.status, refused.body.error.message]).toEqual([409, 'the batch has ended'])
    const late = await addBatch(store, user)
    const ending: Partial<Store> = {
      async cancelAssetBatch(...args) {
        await end(late)
        return store.cancelAssetBatch(...args)
      },
    }
    const beside = await openAdmin({ ...store, ...ending })
    const [admin, events] = [beside.with((await addUser(store, 'admin', ['admin'])).token), beside.events]
    expect((await admin('POST', `/batches/${late}/cancel`)).body.error.message).toBe('the batch has ended')
    expect(events.filter(({ action }) => action === 'asset_batch.cancel')).toEqual([])
    for (const unknown of ['unknown', '%00', 'a%2Fb'])
      expect((await root('POST', `/batches/${unknown}/cancel`)).status).toBe(404)
  })

  test('are for admins only, and a store of a host may have none', async () => {
    const id = await addBatch(store, (await addUser(store, 'user', [])).id)
    const provision = api.with((await addUser(store, 'admin', ['provision'])).token)
    expect([
      (await provision('GET', '/batches')).status,
      (await provision('POST', `/batches/${id}/cancel`)).status,
    ]).toEqual([403, 403])
    const { assetBatchPage: _, ...without } = store
    const bare = (await openAdmin(without as Store)).with((await addUser(store, 'admin', ['admin'])).token)
    expect((await bare('GET', '/batches')).body).toEqual({ success: true, batches: [], next_cursor: null })
    expect((await bare('POST', `/batches/${id}/cancel`)).status).toBe(404)
  })
})
