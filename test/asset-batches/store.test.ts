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
})
