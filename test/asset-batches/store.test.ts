import { beforeAll, expect, test } from 'bun:test'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('the store of batches', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })

  const items = [
    { name: 'a', body: '{}' },
    { name: 'b', body: '{}' },
  ]
  const add = async (id: string, user = 'ann') => {
    const batch = { id, user, group: 'group', groupType: 'AIGC', createdAt: 1 }
    expect(await store.addAssetBatch(batch, items, 5)).toBe(true)
    return { batch: id, position: 1, attempts: 0 }
  }

  test('lets one of several claim an item, and only the present claim settle it', async () => {
    const item = await add('batch-1')
    const claims = await Promise.all([1, 2, 3].map(() => store.claimAssetBatchItem(item, 10, 20)))
    const [claim, ...others] = claims.filter((one) => one !== undefined)
    expect([claim?.attempts, claim?.leaseUntil, others]).toEqual([1, 20, []])
    expect(await store.settleAssetBatchItem(item, { state: 'created', asset: 'asset-0' })).toBe(false)
    expect((await store.nextAssetBatchItem('batch-1', 19))?.name).toBe('b')
    expect((await store.nextAssetBatchItem('batch-1', 20))?.name).toBe('a')
    if (!claim) throw new Error('nobody has claimed it')
    expect(await store.settleAssetBatchItem(claim, { state: 'created', asset: 'asset-1' })).toBe(true)
    expect(await store.settleAssetBatchItem(claim, { state: 'failed', error: '{}' })).toBe(false)
    expect(await store.claimAssetBatchItem(item, 10, 20)).toBeUndefined()
    // Two items are never one asset.
    const second = await store.claimAssetBatchItem({ batch: 'batch-1', position: 2 }, 10, 20)
    if (!second) throw new Error('it waits')
    expect(await store.settleAssetBatchItem(second, { state: 'created', asset: 'asset-1' })).toBe(false)
    expect(await store.endAssetBatch('batch-1', 30, undefined)).toBe(20)
    expect(await store.settleAssetBatchItem(second, { state: 'waiting' })).toBe(true)
    expect(await store.endAssetBatch('batch-1', 30, undefined)).toBe('open')
  })

  test('cancels an item that would wait again after its batch was cancelled, and ends the batch once', async () => {
    const item = await add('batch-2')
    const claim = await store.claimAssetBatchItem(item, 10, 20)
    await store.cancelAssetBatch('bob', 'batch-2', 15)
    expect((await store.assetBatch('ann', 'batch-2'))?.counts).toEqual({ sending: 1, waiting: 1 })
    await store.cancelAssetBatch('ann', 'batch-2', 15)
    expect((await store.assetBatch('ann', 'batch-2'))?.counts).toEqual({ sending: 1, cancelled: 1 })
    if (claim) await store.settleAssetBatchItem(claim, { state: 'waiting' })
    expect((await store.assetBatch('ann', 'batch-2'))?.counts).toEqual({ cancelled: 2 })
    const describe = () => ({ type: 'asset_batch.ended', data: '{}', at: 30 }) as const
    const ends = [
      await store.endAssetBatch('batch-2', 30, describe),
      await store.endAssetBatch('batch-2', 31, describe),
    ]
    expect(ends).toEqual(['ended', 'ended'])
    const told = (await store.eventsAfter(0, 100)).filter(({ type }) => type === 'asset_batch.ended')
    expect(told).toHaveLength(1)
    expect((await store.dueAssetBatches(1_000, 10)).map(({ id }) => id)).not.toContain('batch-2')
    expect(await store.sweepAssetBatches(30, 10)).toBe(0)
    expect(await store.sweepAssetBatches(31, 10)).toBe(1)
    expect(await store.assetBatchItems('batch-2', { after: 0, limit: 10 })).toEqual([])
  })

  const fail = async (batch: string, position: number) => {
    const item = await store.claimAssetBatchItem({ batch, position }, 10, 20)
    if (!item) throw new Error('it does not wait')
    expect(await store.settleAssetBatchItem(item, { state: 'failed', error: '{}' })).toBe(true)
  }
  const retry = (id: string, position?: number, user = 'cid') =>
    store.retryAssetBatchItems(user, id, { position, at: 40, maxOpen: 2 })
  const countsOf = async (id: string) => (await store.assetBatch('cid', id))?.counts

  test('lets failed items wait again, one or all, once, and only those', async () => {
    await add('batch-3', 'cid')
    await fail('batch-3', 1)
    for (const refused of [retry('batch-3', 2), retry('batch-3', 1, 'bob'), retry('none')])
      expect(await refused).toBe('none')
    const retries = await Promise.all([1, 2, 3].map(() => retry('batch-3', 1)))
    expect(retries.toSorted()).toEqual(['none', 'none', 'retried'])
    expect(await countsOf('batch-3')).toEqual({ waiting: 2 })
    for (const position of [1, 2]) await fail('batch-3', position)
    expect(await store.endAssetBatch('batch-3', 30, undefined)).toBe('ended')
    expect(await retry('batch-3', 2)).toBe('retried')
    expect(await store.assetBatch('cid', 'batch-3')).toMatchObject({ retriedAt: 40, counts: { waiting: 1, failed: 1 } })
    expect((await store.assetBatch('cid', 'batch-3'))?.endedAt).toBeUndefined()
    expect((await store.dueAssetBatches(40, 10)).map(({ id }) => id)).toContain('batch-3')
    expect(await retry('batch-3')).toBe('retried')
    const [first, second] = await store.assetBatchItems('batch-3', { after: 0, limit: 10 })
    expect([first?.state, second?.state, first?.error, first?.attempts]).toEqual(['waiting', 'waiting', undefined, 2])
  })

  test('tries nothing of a cancelled batch again, and nothing above the maximum of batches', async () => {
    for (const id of ['batch-4', 'batch-5']) {
      await add(id, 'dan')
      await fail(id, 1)
    }
    await store.cancelAssetBatch('dan', 'batch-4', 15)
    expect(await store.retryAssetBatchItems('dan', 'batch-4', { at: 40, maxOpen: 9 })).toBe('cancelled')
    await fail('batch-5', 2)
    expect(await store.endAssetBatch('batch-5', 30, undefined)).toBe('ended')
    // Batch 4 is open.
    expect(await store.retryAssetBatchItems('dan', 'batch-5', { at: 40, maxOpen: 1 })).toBe('full')
    expect((await store.assetBatch('dan', 'batch-5'))?.endedAt).toBe(30)
    expect(await store.retryAssetBatchItems('dan', 'batch-5', { at: 40, maxOpen: 2 })).toBe('retried')
    // One that has not ended is open already.
    await fail('batch-5', 1)
    expect(await store.retryAssetBatchItems('dan', 'batch-5', { position: 1, at: 41, maxOpen: 1 })).toBe('retried')
  })

  test('an end and a retry at once leave no waiting item in an ended batch', async () => {
    for (let round = 0; round < 10; round++) {
      const id = `batch-r${round}`
      await add(id, id)
      for (const position of [1, 2]) await fail(id, position)
      await Promise.all([
        store.endAssetBatch(id, 30, undefined),
        store.retryAssetBatchItems(id, id, { at: 40, maxOpen: 100 }),
      ])
      const { endedAt, counts } = (await store.assetBatch(id, id)) ?? {}
      expect([endedAt, counts]).toEqual([undefined, { waiting: 2 }])
    }
  })
})
