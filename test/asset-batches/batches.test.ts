import { describe, expect, test } from 'bun:test'
import { Background } from '../../plugins/shared/background/background.ts'
import { usageLimits } from '../../plugins/usage-limits/index.ts'
import { newAsset, newGroup } from '../routes/fixture.ts'
import { repeatedDatabases } from '../support/database.ts'
import { startGateway } from '../support/gateway.ts'
import {
  type BatchFixture,
  batchesPath,
  ended,
  endedMeanwhile,
  itemOf,
  itemsOf,
  linesOf,
  newBatch,
  openBatchFixture,
  postBatch,
  progressOf,
  until,
} from './fixture.ts'

const names = (count: number) => Array.from({ length: count }, (_, nth) => `picture ${nth}`)

/** A batch of five items, of which the upstream has created the first and holds back the response. */
const heldBatch = async (fixture: BatchFixture) => {
  const { ann, emulator } = fixture
  const group = await newGroup(ann, 'people')
  const held = emulator.faults.add({ kind: 'hold', action: 'CreateAsset', when: 'after' })
  const items = names(5).map((name) => itemOf(name))
  const id = await newBatch(ann, group, items)
  await until(() => fixture.creations() === 1)
  return { group, held, id }
}

describe.each(repeatedDatabases)('a batch of assets (%s)', (kind) => {
  test('becomes an asset of each item, once, with one progress, an outcome for each, and an event at its end', async () => {
    await using fixture = await openBatchFixture(kind)
    const { ann, bob, emulator, store } = fixture
    const group = await newGroup(ann, 'people')
    const wanted = names(20)
    const items = wanted.map((name) => itemOf(name))
    const reply = await postBatch(ann, group, `\n${linesOf(items)}\r\n\n`)
    expect(reply.status).toBe(202)
    const { Id: id, ...first } = reply.json.Result
    expect(first).toMatchObject({ GroupId: group, State: 'Running', TotalCount: 20 })
    await ended(ann, id)
    const progress = await progressOf(ann, id)
    expect(progress).toMatchObject({ Id: id, State: 'Ended', TotalCount: 20, EndTime: expect.any(String) })
    expect(progress.Counts).toEqual({ Waiting: 0, Sending: 0, Created: 20, Failed: 0, Unknown: 0, Cancelled: 0 })
    const outcomes = await itemsOf(ann, id)
    expect(outcomes.map(({ Position, Name, State }) => [Position, Name, State])).toEqual(
      wanted.map((name, nth) => [nth + 1, name, 'Created']),
    )
    const assets = emulator.library.assets()
    expect(outcomes.map(({ AssetId }) => assets.find((asset) => asset.id === AssetId)?.name)).toEqual(wanted)
    expect([assets.length, fixture.creations()]).toEqual([20, 20])
    // They are the user's, as those of single requests.
    expect((await ann.ask('GET', `/assets/${outcomes[3]?.AssetId}`)).status).toBe(200)
    expect(await store.groupOfAsset(outcomes[3]?.AssetId ?? '', ann.id)).toBe(group)
    expect((await store.eventsAfter(0, 1_000)).filter(({ type }) => type === 'asset.processing')).toHaveLength(20)
    const [event, ...others] = (await store.eventsAfter(0, 1_000)).filter(({ type }) => type === 'asset_batch.ended')
    expect([event?.user, JSON.parse(event?.data ?? '{}'), others]).toEqual([ann.id, progress, []])
    // Nobody else sees it.
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/items'],
      ['POST', '/cancel'],
    ] as const) {
      const foreign = await bob.ask(method, `${batchesPath}/${id}${path}`)
      const unknown = await bob.ask(method, `${batchesPath}/${id.slice(0, -3)}000${path}`)
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
    }
    expect((await bob.ask('GET', batchesPath)).json.Result.Items).toEqual([])
    expect((await ann.ask('GET', batchesPath)).json.Result).toEqual({ Items: [progress], NextToken: '' })
  })

  test('an item that the upstream rejects fails alone, with its code and what to do', async () => {
    await using fixture = await openBatchFixture(kind)
    const { ann, emulator } = fixture
    const group = await newGroup(ann, 'people')
    const id = await newBatch(ann, group, [itemOf('a'), itemOf('b', { URL: 'ftp://files.example/b' }), itemOf('c')])
    await ended(ann, id)
    const [a, b, c] = await itemsOf(ann, id)
    expect([a?.State, b?.State, c?.State]).toEqual(['Created', 'Failed', 'Created'])
    expect(b?.Error).toMatchObject({ Code: expect.stringContaining('Invalid'), Message: expect.any(String) })
    expect(emulator.library.assets()).toHaveLength(2)
    const failed = await ann.ask('GET', `${batchesPath}/${id}/items?State=Failed`)
    expect(failed.json.Result.Items).toEqual([b])
  })

  test('a lost response is settled by the name of its item: nothing is lost, and nothing is made twice', async () => {
    await using fixture = await openBatchFixture(kind)
    const { ann, emulator } = fixture
    const group = await newGroup(ann, 'people')
    // The first is made and its answer lost; the second never arrives; others follow.
    emulator.faults.add({ kind: 'reset-after', action: 'CreateAsset' })
    const id = await newBatch(
      ann,
      group,
      names(6).map((name) => itemOf(name)),
    )
    await until(async () => (await progressOf(ann, id)).Counts.Sending === 1)
    emulator.faults.add({ kind: 'reset-before', action: 'CreateAsset' })
    await endedMeanwhile(fixture, id)
    expect((await progressOf(ann, id)).Counts).toMatchObject({ Created: 6, Failed: 0, Unknown: 0 })
    expect(
      emulator.library
        .assets()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(names(6))
    const ids = (await itemsOf(ann, id)).map(({ AssetId }) => AssetId)
    expect(ids.toSorted()).toEqual(
      emulator.library
        .assets()
        .map((asset) => asset.id)
        .toSorted(),
    )
  })

  test('an item whose answer was lost stays unknown when several assets may be the one', async () => {
    await using fixture = await openBatchFixture(kind)
    const { ann, emulator } = fixture
    const group = await newGroup(ann, 'people')
    emulator.faults.add({ kind: 'reset-after', action: 'CreateAsset' })
    const id = await newBatch(ann, group, [itemOf('a'), itemOf('b')])
    await until(async () => (await progressOf(ann, id)).Counts.Sending === 1)
    emulator.library.addAsset({ groupId: group, name: 'a', url: 'https://files.example/a.png', type: 'Image' })
    await endedMeanwhile(fixture, id)
    const [a, b] = await itemsOf(ann, id)
    expect([a?.State, a?.Error?.Code, b?.State]).toEqual(['Unknown', 'OutcomeUnknown', 'Created'])
    expect(fixture.creations()).toBe(2)
  })

  test('an asset that its user was told of is not taken for the one of a lost response', async () => {
    await using fixture = await openBatchFixture(kind)
    const { ann, emulator } = fixture
    const group = await newGroup(ann, 'people')
    const known = await newAsset(ann, group, { Name: 'a' })
    emulator.faults.add({ kind: 'reset-before', action: 'CreateAsset' })
    const id = await newBatch(ann, group, [itemOf('a')])
    await endedMeanwhile(fixture, id)
    const [a] = await itemsOf(ann, id)
    expect(a?.State).toBe('Created')
    expect(emulator.library.assets().map((asset) => asset.id)).toEqual([known, a?.AssetId ?? ''])
  })

  test('goes on in another process, which has nothing of the first one but the database', async () => {
    await using fixture = await openBatchFixture(kind)
    const { ann, emulator, stop, options } = fixture
    const { held, id } = await heldBatch(fixture)
    const stopped = stop()
    held.release()
    emulator.faults.clear()
    await stopped
    const { Created, Waiting } = (await progressOf(ann, id)).Counts
    expect([Created + Waiting, Created <= 1]).toEqual([5, true])
    const background = new Background()
    await using _second = await startGateway({ ...options, background })
    await endedMeanwhile(fixture, id)
    await background.stop()
    expect(emulator.library.assets()).toHaveLength(5)
    expect((await progressOf(ann, id)).Counts.Created).toBe(5)
  })

  test('a cancelled batch creates nothing more, and keeps what it has', async () => {
    await using fixture = await openBatchFixture(kind)
    const { ann, emulator } = fixture
    const { held, id } = await heldBatch(fixture)
    const cancelled = await ann.ask('POST', `${batchesPath}/${id}/cancel`)
    expect([cancelled.status, cancelled.json.Result.Counts.Cancelled]).toEqual([200, 4])
    held.release()
    await ended(ann, id)
    const progress = await progressOf(ann, id)
    expect(progress).toMatchObject({ Counts: { Created: 1, Cancelled: 4 }, CancelTime: expect.any(String) })
    expect(emulator.library.assets()).toHaveLength(1)
    expect((await ann.ask('POST', `${batchesPath}/${id}/cancel`)).json.Result).toEqual(progress)
  })

  test('is cancelled when its user is disabled, and none is added to it from a request before that', async () => {
    await using fixture = await openBatchFixture(kind)
    const { ann, bob, store } = fixture
    const { group, held, id } = await heldBatch(fixture)
    await store.changeUser(ann.id, { disabled: true }, { now: Date.now() })
    const late = { id: 'batch-late', user: ann.id, group, groupType: 'AIGC', createdAt: 0 }
    expect(await store.addAssetBatch(late, [{ name: 'a', body: '{}' }], 10)).toBe(false)
    held.release()
    await until(async () => (await store.assetBatch(ann.id, id))?.endedAt !== undefined)
    expect((await store.assetBatch(ann.id, id))?.counts).toEqual({ created: 1, cancelled: 4 })
    expect(fixture.creations()).toBe(1)
    // Others go on, also users of a host app, until they are disabled themselves.
    const other = await newBatch(bob, await newGroup(bob, 'places'), [itemOf('one')])
    await ended(bob, other)
    const host = { id: 'batch-host', user: 'host ann', group, groupType: 'AIGC', createdAt: Number.MAX_SAFE_INTEGER }
    expect(await store.addAssetBatch(host, [{ name: 'a', body: '{}' }], 10)).toBe(true)
    await store.disableHostUser('host ann', Date.now())
    expect((await store.assetBatch('host ann', 'batch-host'))?.counts).toEqual({ cancelled: 1 })
  })

  test('a limit of its user ends the items above it, and those of a deleted group fail', async () => {
    await using fixture = await openBatchFixture(kind, {
      limitsOf: (store) => usageLimits({ store: store.limits, userLimits: [{ unit: 'assets', amount: 3 }] }),
    })
    const { ann, emulator } = fixture
    const group = await newGroup(ann, 'people')
    const id = await newBatch(
      ann,
      group,
      names(5).map((name) => itemOf(name)),
    )
    await ended(ann, id)
    expect((await itemsOf(ann, id)).map(({ State, Error: error }) => error?.Code ?? State)).toEqual([
      ...['Created', 'Created', 'Created'],
      ...['QuotaExceeded', 'QuotaExceeded'],
    ])
    emulator.library.deleteGroup(group)
    const next = await newBatch(ann, group, [itemOf('x')])
    await ended(ann, next)
    expect((await progressOf(ann, next)).Counts.Failed).toBe(1)
  })

  test('a repetition with the same key is the same batch', async () => {
    await using fixture = await openBatchFixture(kind)
    const { ann } = fixture
    const group = await newGroup(ann, 'people')
    const key = { 'idempotency-key': 'one' }
    const send = (name: string) => postBatch(ann, group, linesOf([itemOf(name)]), key)
    const [first, again, other] = [await send('a'), await send('a'), await send('b')]
    expect([first.status, again.status, other.status]).toEqual([202, 202, 409])
    expect(again.text).toBe(first.text)
    await ended(ann, first.json.Result.Id)
    expect(fixture.creations()).toBe(1)
  })
})

describe('the pages of batches and of their items', () => {
  test('follow each other, and a token that no page has returned is 400 instead of a last page', async () => {
    await using fixture = await openBatchFixture('sqlite')
    const { ann, bob } = fixture
    const [group, foreign] = [await newGroup(ann, 'people'), await newGroup(bob, 'people')]
    const ids: string[] = []
    for (let nth = 0; nth < 3; nth++)
      ids.unshift(
        await newBatch(
          ann,
          group,
          names(5).map((name) => itemOf(name)),
        ),
      )
    const other = await newBatch(bob, foreign, [itemOf('a')])
    const walk = async (path: string) => {
      const found: object[] = []
      for (let next = ''; ; ) {
        const { json } = await ann.ask('GET', `${path}?MaxResults=2&NextToken=${next}`)
        found.push(...json.Result.Items)
        next = json.Result.NextToken
        if (next === '') return found
      }
    }
    expect((await walk(batchesPath)).map((batch) => (batch as { Id: string }).Id)).toEqual(ids)
    const [id = ''] = ids
    expect(await walk(`${batchesPath}/${id}/items`)).toHaveLength(5)
    const unknown = `batch-${'0'.repeat(32)}`
    for (const [path, tokens] of [
      [batchesPath, ['x', '5', unknown, other, `${id}0`]],
      [`${batchesPath}/${id}/items`, ['x', '0', '5', '6', '999999999', '-1', '1.5', '01', id]],
    ] as const)
      for (const token of tokens) {
        const { status, json } = await ann.ask('GET', `${path}?NextToken=${token}`)
        expect([token, status, json.error?.message]).toEqual([token, 400, 'NextToken must be that of the page before'])
      }
  })
})

describe('a request for a batch', () => {
  test('is rejected as a whole, naming the line, and before anything is created', async () => {
    await using fixture = await openBatchFixture('sqlite')
    const { ann, bob } = fixture
    const group = await newGroup(ann, 'people')
    const lines = (...some: string[]) => some.join('\n')
    const good = JSON.stringify(itemOf('a'))
    for (const [body, message] of [
      ['', 'the batch has no items'],
      [lines(good, 'x'), 'line 2 is not valid JSON'],
      [Buffer.from(lines(good, JSON.stringify(itemOf('ÿ'))), 'latin1'), 'line 2 is not valid UTF-8'],
      [lines(good, '', '[]'), 'line 3 must be a JSON object'],
      [lines(good, good), 'line 2 has the Name of line 1; give each item its own'],
      ['{"Name":7}', 'line 1 must have a Name of one character or more, or none'],
      ['{"Name":""}', 'line 1 must have a Name of one character or more, or none'],
      ['{"Name":"\\u0000"}', 'line 1 must have a Name that is valid Unicode'],
      ['{"GroupId":"x"}', 'line 1 must not have GroupId: a batch has one group'],
      ['{"deep":[{"group_id":"x"}]}', 'line 1 must not have group_id: a batch has one group'],
      ['{"name":"x","Name":"y"}', 'line 1 is not valid: Name stands twice in the body'],
      [
        '{"URL":"https://a.example","U\\u0052L":"https://b.example"}',
        'line 1 is not valid: URL stands twice in the body',
      ],
      ['{"deep":[{"x":1,"x":1}]}', 'line 1 is not valid: x stands twice in the body'],
      [`{"URL":"${'x'.repeat(17_000)}"}`, 'line 1 has more than 16384 bytes'],
      [lines(...Array.from({ length: 1_001 }, () => '{}')), 'a batch has at most 1000 items'],
    ] as const) {
      const reply = await postBatch(ann, group, body)
      expect([reply.status, reply.json.error.message]).toEqual([400, message])
    }
    expect((await postBatch(bob, group, good)).status).toBe(403)
    expect((await ann.ask('POST', batchesPath, good)).status).toBe(400)
    expect((await postBatch(ann, `${group}&GroupType=x`, good)).status).toBe(400)
    expect((await postBatch(ann, `${group}&GroupId=${group}`, good)).status).toBe(400)
    expect((await postBatch(ann, group, 'x'.repeat(2 ** 20 + 1))).status).toBe(413)
    expect((await ann.ask('GET', `${batchesPath}/x`)).status).toBe(404)
    expect((await ann.ask('GET', batchesPath)).json.Result.Items).toEqual([])
    expect(fixture.creations()).toBe(0)
  })

  test('gives items without a Name one of their own, and keeps every other field', async () => {
    await using fixture = await openBatchFixture('sqlite')
    const { ann, emulator } = fixture
    const group = await newGroup(ann, 'people')
    const { Name: _, ...unnamed } = itemOf('a') as { Name: string }
    const id = await newBatch(ann, group, [{ ...unnamed, Extra: { deep: 1e30 } }, unnamed])
    await ended(ann, id)
    const items = await itemsOf(ann, id)
    expect(new Set(items.map(({ Name }) => Name)).size).toBe(2)
    const call = emulator.calls.find(({ action }) => action === 'CreateAsset')
    expect(call?.json).toEqual({ ...unnamed, Extra: { deep: 1e30 }, GroupId: group, Name: items[0]?.Name })
  })

  test('may begin with a byte order mark, as the files of some programs do', async () => {
    await using fixture = await openBatchFixture('sqlite')
    const { ann } = fixture
    const group = await newGroup(ann, 'people')
    const reply = await postBatch(ann, group, `\ufeff${linesOf([itemOf('a'), itemOf('b')])}`)
    expect([reply.status, reply.json.Result?.TotalCount]).toEqual([202, 2])
    const inside = await postBatch(ann, group, `${linesOf([itemOf('a')])}\n\ufeff${linesOf([itemOf('b')])}`)
    expect([inside.status, inside.json.error?.message]).toEqual([400, 'line 2 is not valid JSON'])
  })

  test('is rejected above the number of open batches', async () => {
    await using fixture = await openBatchFixture('sqlite')
    const { ann, bob, emulator } = fixture
    const [group, other] = [await newGroup(ann, 'people'), await newGroup(bob, 'people')]
    emulator.faults.add({ kind: 'hold', action: 'CreateAsset' })
    for (let nth = 0; nth < 10; nth++) await newBatch(ann, group, [itemOf('a')])
    expect((await postBatch(ann, group, linesOf([itemOf('a')]))).status).toBe(429)
    await newBatch(bob, other, [itemOf('a')])
  })
})
