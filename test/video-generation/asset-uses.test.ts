import { describe, expect, test } from 'bun:test'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { newAsset, newGroup } from '../routes/fixture.ts'
import { repeatedDatabases } from '../support/database.ts'
import { userAt } from '../support/gateway.ts'
import { MODEL, media, openVideoFixture, text, until, type VideoUser } from './fixture.ts'

const using = (...assets: string[]) => ({
  content: [text('a cat'), ...assets.map((asset) => media('image', `asset://${asset}`, 'reference_image'))],
})

const usesOf = async (user: VideoUser, asset: string, query = '') => {
  const { status, json } = await user.ask('GET', `/assets/${asset}/uses${query}`)
  expect(status).toBe(200)
  const { Items, NextToken, TotalCount, WaitingCount } = json.Result
  return { ids: Items.map(({ id }: { id: string }) => id), items: Items, NextToken, TotalCount, WaitingCount }
}

const groupUsesOf = async (user: VideoUser, group: string) =>
  (await user.ask('GET', `/assets/groups/${group}/uses`)).json

const oneSlot = { slots: { '*': { running: 1 } } }

describe.each(repeatedDatabases)('the uses of an asset (%s)', (kind) => {
  test('are the tasks of its owner with it, newest first, with their results, and end with the tasks', async () => {
    await using fixture = await openVideoFixture({ database: kind, gateway: oneSlot })
    const { ann, bob, emulator } = fixture
    const group = await newGroup(ann, 'people')
    const [asset, other, unused] = [await newAsset(ann, group), await newAsset(ann, group), await newAsset(ann, group)]
    const first = await ann.created('a', using(asset, other))
    await until(async () => (await ann.statusOf(first)) === 'running')
    const second = await ann.created('b', using(asset))
    const third = await ann.created('c', using(other, other))
    await ann.created('d')
    const uses = await usesOf(ann, asset)
    expect(uses).toMatchObject({ ids: [second, first], NextToken: '', TotalCount: 2, WaitingCount: 1 })
    expect(await usesOf(ann, unused)).toMatchObject({ ids: [], TotalCount: 0, WaitingCount: 0 })
    // A task counts once for a group, however many of its assets it uses.
    expect(await groupUsesOf(ann, group)).toEqual({ Result: { TotalCount: 3, WaitingCount: 2 } })
    expect(await groupUsesOf(ann, await newGroup(ann, 'places'))).toEqual({
      Result: { TotalCount: 0, WaitingCount: 0 },
    })
    expect((await bob.ask('GET', `/assets/${asset}/uses`)).status).toBe(403)
    expect((await bob.ask('GET', `/assets/groups/${group}/uses`)).status).toBe(403)
    // Nor does the store mix up users.
    const records = fixture.store.videoAssetUses
    expect(await records.tasksWithAsset(bob.id, asset, { limit: 10 })).toEqual([])
    for (const used of [{ asset }, { group }])
      expect(await records.countTasksWithAsset(bob.id, used, 10)).toEqual({ total: 0, waiting: 0 })
    // Each item is the task as the native API returns it, with its result.
    emulator.video.finish(emulator.video.tasks()[0]?.id ?? '')
    await until(async () => (await ann.statusOf(first)) === 'succeeded')
    expect((await usesOf(ann, asset)).items[1]).toEqual((await ann.get(first)).json)
    expect((await usesOf(ann, asset)).items[1].content.video_url).toStartWith('http')
    // The uses end with the tasks.
    expect((await ann.send('DELETE', `/${third}?mode=cancel`)).status).toBe(200)
    expect((await usesOf(ann, other)).ids).toEqual([third, first])
    for (const id of [first, third]) expect((await ann.send('DELETE', `/${id}?mode=delete`)).status).toBe(200)
    expect((await usesOf(ann, other)).ids).toEqual([])
    expect((await usesOf(ann, asset)).ids).toEqual([second])
  })

  test('come in pages that begin after a task', async () => {
    await using fixture = await openVideoFixture({ database: kind, gateway: oneSlot })
    const { ann } = fixture
    const asset = await newAsset(ann, await newGroup(ann, 'people'))
    const ids: string[] = []
    for (let nth = 0; nth < 5; nth++) ids.unshift(await ann.created(`task ${nth}`, using(asset)))
    const walked: string[] = []
    let next = ''
    do {
      const page = await usesOf(ann, asset, `?MaxResults=2&NextToken=${next}`)
      expect([page.TotalCount, page.ids.length <= 2]).toEqual([5, true])
      walked.push(...page.ids)
      next = page.NextToken
    } while (next !== '')
    expect(walked).toEqual(ids)
    expect((await usesOf(ann, asset, '?MaxResults=5')).NextToken).toBe('')
    expect((await ann.ask('GET', `/assets/${asset}/uses?NextToken=other`)).status).toBe(400)
    for (const size of ['0', '101', 'x', '-1', '1.5'])
      expect((await ann.ask('GET', `/assets/${asset}/uses?MaxResults=${size}`)).status).toBe(400)
  })

  test('come in pages that go on when the task is gone with which the page before ended: its id is a place in the order', async () => {
    await using fixture = await openVideoFixture({ database: kind, gateway: oneSlot })
    const { ann, bob, gateway } = fixture
    const asset = await newAsset(ann, await newGroup(ann, 'people'))
    const ids: string[] = []
    for (let nth = 0; nth < 4; nth++) ids.unshift(await ann.created(`task ${nth}`, using(asset)))
    const other = await bob.created('of bob')
    const videos = async (query: string) => {
      const response = await fetch(`${gateway.url}/v1/videos?${query}`, {
        headers: { authorization: `Bearer ${ann.token}` },
      })
      const json = (await response.json()) as { data: { id: string }[] }
      return { status: response.status, ids: json.data?.map(({ id }) => id) }
    }
    const { NextToken: next } = await usesOf(ann, asset, '?MaxResults=2')
    expect(next).toBe(ids[1] ?? '')
    for (const mode of ['cancel', 'delete'])
      expect((await ann.send('DELETE', `/${next}?mode=${mode}`)).status).toBe(200)
    expect((await usesOf(ann, asset, `?NextToken=${next}`)).ids).toEqual(ids.slice(2))
    expect((await videos(`after=${next}`)).ids).toEqual(ids.slice(2))
    // So any id is a place, also one that no page has had. It shows nothing of whose it is.
    expect((await usesOf(ann, asset, `?NextToken=${other}`)).ids).toEqual([ids[0], ...ids.slice(2)])
    expect((await videos(`after=${other}`)).ids).toEqual([ids[0] ?? '', ...ids.slice(2)])
    // What is no id is none: a text after all ids would begin again, without end.
    for (const text of ['zzz', `${next}x`, 'x'.repeat(200)]) expect((await videos(`after=${text}`)).status).toBe(400)
  })

  test('need the scope that reads videos', async () => {
    await using fixture = await openVideoFixture({ database: kind })
    const { ann, gateway, store } = fixture
    const asset = await newAsset(ann, await newGroup(ann, 'people'))
    for (const [scopes, status] of [
      [['media'], 403],
      [['media', 'video'], 200],
      [['read'], 200],
    ] as const) {
      const token = createToken()
      await store.addToken({ user: ann.id, hash: hashToken(token), start: 'sk-', createdAt: Date.now(), scopes })
      expect([scopes, (await userAt(gateway.url, ann.id, token).ask('GET', `/assets/${asset}/uses`)).status]).toEqual([
        scopes,
        status,
      ])
    }
  })

  test('are those of tasks of /v1/videos and with references: auto, too', async () => {
    await using fixture = await openVideoFixture({ database: kind })
    const { ann, emulator, gateway } = fixture
    const asset = await newAsset(ann, await newGroup(ann, 'people'))
    const response = await fetch(`${gateway.url}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ model: MODEL, prompt: 'a cat', seconds: '4', size: '1280x720' },
        input_reference: { image_url: `asset://${asset}` },
      }),
    })
    expect(response.status).toBe(200)
    expect((await usesOf(ann, asset)).TotalCount).toBe(1)
    const face = media('image', 'https://files.example/real-face/ann.png', 'reference_image')
    const id = await ann.created('a', { references: 'auto', content: [text('a cat'), face] })
    await until(async () => (await ann.statusOf(id)) === 'running')
    const made = emulator.library.assets().find((each) => each.id !== asset)
    expect((await usesOf(ann, made?.id ?? '')).ids).toEqual([id])
    expect(await groupUsesOf(ann, made?.groupId ?? '')).toEqual({ Result: { TotalCount: 1, WaitingCount: 0 } })
  })

  test('nothing remains of a task that is rejected, and of one that is not added', async () => {
    await using fixture = await openVideoFixture({
      database: kind,
      gateway: { slots: { '*': { running: 1, waitingPerUser: 1 } } },
    })
    const { ann, emulator } = fixture
    const asset = await newAsset(ann, await newGroup(ann, 'people'))
    emulator.faults.add({ kind: 'status', action: 'CreateVideoTask', status: 400 })
    expect((await ann.create('a', using(asset))).status).toBe(400)
    expect((await usesOf(ann, asset)).TotalCount).toBe(0)
    const ids = [await ann.created('b', using(asset)), await ann.created('c', using(asset))]
    expect((await ann.create('d', using(asset))).status).toBe(429)
    expect((await usesOf(ann, asset)).ids).toEqual(ids.reverse())
  })
})
