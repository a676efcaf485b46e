import { describe, expect, test } from 'bun:test'
import { newGroup } from '../routes/fixture.ts'
import { databaseNames } from '../support/database.ts'
import { batchesPath, ended, itemOf, itemsOf, newBatch, openBatchFixture, progressOf } from './fixture.ts'

const counts = { Waiting: 0, Sending: 0, Created: 0, Failed: 0, Unknown: 0, Cancelled: 0 }

describe.each(databaseNames)('a failed item of a batch (%s)', (kind) => {
  /** An ended batch whose second and fourth items the upstream has rejected. */
  const failedBatch = async () => {
    const fixture = await openBatchFixture(kind)
    const { ann, emulator } = fixture
    const group = await newGroup(ann, 'people')
    emulator.faults.add({ kind: 'status', action: 'CreateAsset', status: 400, after: 1 })
    emulator.faults.add({ kind: 'status', action: 'CreateAsset', status: 400, after: 2 })
    const id = await newBatch(
      ann,
      group,
      ['a', 'b', 'c', 'd'].map((name) => itemOf(name)),
    )
    await ended(ann, id)
    return { ...fixture, id, ask: (path: string) => ann.ask('POST', `${batchesPath}/${id}${path}`) }
  }

  test('is tried again alone, the progress stays exact, and the end is told again', async () => {
    await using it = await failedBatch()
    const { ann, bob, id, store } = it
    const failed = (await itemsOf(ann, id)).filter(({ State }) => State === 'Failed')
    expect(failed).toHaveLength(2)
    const position = failed[0]?.Position ?? 0
    const retried = await it.ask(`/items/${position}/retry`)
    expect([retried.status, retried.json.Result.State, retried.json.Result.EndTime]).toEqual([
      200,
      'Running',
      undefined,
    ])
    const { Waiting, Sending, Created, Failed } = retried.json.Result.Counts
    expect([Waiting + Sending + Created, Failed]).toEqual([3, 1])
    await ended(ann, id)
    expect((await progressOf(ann, id)).Counts).toEqual({ ...counts, Created: 3, Failed: 1 })
    expect(it.creations()).toBe(5)
    for (const [path, status] of [
      [`/items/${position}/retry`, 409],
      ['/items/5/retry', 404],
      ['/items/0/retry', 404],
      ['/items/x/retry', 404],
    ] as const)
      expect([path, (await it.ask(path)).status]).toEqual([path, status])
    for (const path of ['/retry', `/items/${failed[1]?.Position}/retry`])
      expect((await bob.ask('POST', `${batchesPath}/${id}${path}`)).status).toBe(404)
    expect((await it.ask('/retry')).status).toBe(200)
    await ended(ann, id)
    expect((await progressOf(ann, id)).Counts).toEqual({ ...counts, Created: 4 })
    expect((await it.ask('/retry')).status).toBe(409)
    expect(it.creations()).toBe(6)
    const ends = (await store.eventsAfter(0, 1_000)).filter(({ type }) => type === 'asset_batch.ended')
    expect(ends.map(({ data }) => JSON.parse(data).Counts.Created)).toEqual([2, 3, 4])
  })

  test('is not tried again after its batch was cancelled', async () => {
    await using it = await openBatchFixture(kind)
    const group = await newGroup(it.ann, 'people')
    const held = it.emulator.faults.add({ kind: 'hold', action: 'CreateAsset', when: 'before', after: 1 })
    it.emulator.faults.add({ kind: 'status', action: 'CreateAsset', status: 400 })
    const id = await newBatch(it.ann, group, [itemOf('a'), itemOf('b'), itemOf('c')])
    await held.waitForHits()
    expect((await it.ann.ask('POST', `${batchesPath}/${id}/cancel`)).status).toBe(200)
    held.release()
    await ended(it.ann, id)
    expect((await progressOf(it.ann, id)).Counts).toMatchObject({ Failed: 1, Cancelled: 1 })
    for (const path of ['/retry', '/items/1/retry']) {
      const refused = await it.ann.ask('POST', `${batchesPath}/${id}${path}`)
      expect([refused.status, refused.json.error.message]).toEqual([
        ...[409, 'the batch was cancelled: no item of it is tried again'],
      ])
    }
  })
})
