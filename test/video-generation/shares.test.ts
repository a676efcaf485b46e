import { describe, expect, test } from 'bun:test'
import { newAsset, newGroup } from '../routes/fixture.ts'
import { repeatedDatabases } from '../support/database.ts'
import {
  MODEL,
  MODEL_25,
  media,
  openVideoFixture,
  text,
  until,
  type VideoFixture,
  type VideoFixtureOptions,
  type VideoUser,
} from './fixture.ts'

const lend = async (owner: VideoUser, group: string, body: object): Promise<string> => {
  const reply = await owner.ask('POST', `/assets/groups/${group}/shares`, body)
  if (reply.status !== 200) throw new Error(reply.text)
  return reply.json.Result.Id
}

const content = (asset: string) => [text('x'), media('image', `asset://${asset}`, 'reference_image')]

interface Lent {
  readonly fixture: VideoFixture
  readonly group: string
  readonly asset: string
  readonly share: string
  revoke(): Promise<unknown>
  [Symbol.asyncDispose](): PromiseLike<void>
}

/** A group with an asset, which ann lends to bob. */
const openLent = async (options: VideoFixtureOptions = {}, body: object = { Access: 'use' }): Promise<Lent> => {
  const fixture = await openVideoFixture(options)
  const { ann, bob } = fixture
  const group = await newGroup(ann, 'people')
  const asset = await newAsset(ann, group)
  const share = await lend(ann, group, { User: bob.id, ...body })
  return {
    ...{ fixture, group, asset, share },
    revoke: () => ann.ask('DELETE', `/assets/groups/${group}/shares/${share}`),
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  }
}

/** Ends the first task of the upstream, so that its slot is free. */
const freeSlot = ({ emulator }: VideoFixture): void => {
  const running = emulator.video.tasks().find(({ endTime }) => endTime === undefined)
  if (running) emulator.video.finish(running.id)
}

const errorOf = async (user: VideoUser, id: string) => {
  await until(async () => ['failed', 'running'].includes(await user.statusOf(id)))
  return (await user.get(id)).json.error?.code
}

test('an asset that is lent for use can be referred to, and one that is lent to be read cannot', async () => {
  await using lent = await openLent()
  const { ann, bob, emulator } = lent.fixture
  const read = await newAsset(ann, await newGroup(ann, 'read'))
  await lend(ann, (await ann.ask('GET', `/assets/${read}`)).json.Result.GroupId, { User: bob.id })
  expect((await bob.create('x', { content: content(lent.asset) })).status).toBe(200)
  expect((await bob.create('x', { content: content(read) })).code).toBe('asset_not_found')
  const estimate = (asset: string) => bob.send('POST', '', { dry_run: true, model: MODEL, content: content(asset) })
  expect(await estimate(lent.asset)).toMatchObject({ status: 200, json: { dry_run: true } })
  expect((await estimate(read)).code).toBe('asset_not_found')
  const text = await fetch(`${lent.fixture.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bob.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'doubao-seed-1-6',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `asset://${lent.asset}` } }] }],
    }),
  })
  expect(text.status).toBe(403)
  expect(emulator.video.tasks()).toHaveLength(1)
  const [share] = (await ann.ask('GET', `/assets/groups/${lent.group}/shares`)).json.Result.Items
  expect(share.LastUseTime).toBeString()
})

test('a revoked share refuses the next task like an unknown asset', async () => {
  await using lent = await openLent()
  const { bob, emulator } = lent.fixture
  expect((await bob.create('x', { content: content(lent.asset) })).status).toBe(200)
  await lent.revoke()
  const refused = await bob.create('x', { content: content(lent.asset) })
  expect([refused.status, refused.text]).toEqual([403, (await bob.create('x', { content: content('asset-x') })).text])
  expect(emulator.video.tasks()).toHaveLength(1)
})

/** Ways in which a share ends. */
const ends: Readonly<Record<string, (lent: Lent) => Promise<unknown>>> = {
  'it is revoked': ({ revoke }) => revoke(),
  'its group is deleted': ({ fixture, group }) => fixture.ann.ask('DELETE', `/assets/groups/${group}`),
  'its owner is disabled': ({ fixture: { ann, store } }) => store.changeUser(ann.id, { disabled: true }, { now: 1 }),
  'it allows only to read': ({ fixture: { ann, bob }, group }) => lend(ann, group, { User: bob.id, Access: 'read' }),
}

describe.each(repeatedDatabases)('on %s', (database) => {
  test.each(Object.entries(ends))(
    'a task that waits is not sent when %s',
    async (_, end) => {
      await using lent = await openLent({ database, gateway: { slots: { '*': { running: 1 } } } })
      const { bob, emulator } = lent.fixture
      await bob.created('first')
      const waiting = await bob.created('x', { content: content(lent.asset) })
      const other = await bob.created('third')
      expect(await bob.statusOf(waiting)).toBe('queued')
      await end(lent)
      freeSlot(lent.fixture)
      expect(await errorOf(bob, waiting)).toBe('share_ended')
      await until(async () => (await bob.statusOf(other)) === 'running')
      expect(emulator.video.tasks().map(({ body }) => JSON.stringify(body).includes(lent.asset))).toEqual([
        false,
        false,
      ])
    },
    60_000,
  )

  test('a task that waits is sent while its asset is lent, also by another process', async () => {
    await using lent = await openLent({ database, gateway: { slots: { '*': { running: 1 } } } })
    const { bob, emulator } = lent.fixture
    await bob.created('first')
    const waiting = await bob.created('x', { content: content(lent.asset) })
    freeSlot(lent.fixture)
    expect(await errorOf(bob, waiting)).toBeUndefined()
    expect(JSON.stringify(emulator.video.tasks()[1]?.body)).toContain(lent.asset)
  }, 300_000)
})

test('of 30 tasks that wait, none is sent after the share has been revoked', async () => {
  await using lent = await openLent({ gateway: { slots: { '*': { running: 2 } } }, video: { maxQueued: 1_000 } })
  const { bob, emulator } = lent.fixture
  const waiting: string[] = []
  for (let at = 0; at < 30; at++) waiting.push(await bob.created(`${at}`, { content: content(lent.asset) }))
  freeSlot(lent.fixture)
  await until(() => emulator.video.tasks().length === 3)
  await lent.revoke()
  const sent = emulator.video.tasks().length
  while (emulator.video.tasks().some(({ endTime }) => endTime === undefined)) freeSlot(lent.fixture)
  for (const id of waiting) await until(async () => ['failed', 'succeeded'].includes(await bob.statusOf(id)))
  expect(emulator.video.tasks()).toHaveLength(sent)
}, 60_000)

test('a process whose caches are old sends nothing: the store decides', async () => {
  const { openStore } = await import('../../src/store/index.ts')
  const store = openStore('sqlite::memory:')
  const { RevisionClock } = await import('../../plugins/ownership/index.ts')
  // This process never learns of a change.
  const revisionClock = new RevisionClock((since) => store.revision(since), { clock: { now: () => 0 } })
  const deaf = { ...store, onRaise: undefined }
  await using lent = await openLent({ store: deaf as unknown as typeof store, more: { revisionClock } })
  const { bob, ann, emulator } = lent.fixture
  expect((await bob.create('x', { content: content(lent.asset) })).status).toBe(200)
  expect(await store.revokeShare({ id: lent.group, user: ann.id }, lent.share)).toBe(true)
  expect((await bob.ask('GET', `/assets/groups/${lent.group}`)).status).toBe(200)
  const refused = await bob.create('x', { content: content(lent.asset) })
  expect([refused.status, refused.code]).toEqual([403, 'share_ended'])
  expect(emulator.video.tasks()).toHaveLength(1)
  await store.close()
})

test('a video of a draft needs the assets of the draft to be lent still', async () => {
  await using lent = await openLent()
  const { bob, emulator } = lent.fixture
  const draft = await bob.created('x', { model: MODEL_25, draft: true, content: content(lent.asset) })
  emulator.video.finish(emulator.video.tasks()[0]?.id ?? '')
  await until(async () => (await bob.statusOf(draft)) === 'succeeded')
  const ofDraft = { model: MODEL_25, content: [{ type: 'draft_task', draft_task: { id: draft } }] }
  expect((await bob.create('x', ofDraft)).status).toBe(200)
  await lent.revoke()
  const refused = await bob.create('x', ofDraft)
  expect([refused.status, refused.code]).toEqual([403, 'share_ended'])
  expect(emulator.video.tasks()).toHaveLength(2)
})

test('a video of a draft that waits is not sent when the assets of the draft are no longer lent', async () => {
  await using lent = await openLent({ gateway: { slots: { '*': { running: 1 } } } })
  const { bob, emulator } = lent.fixture
  const draft = await bob.created('x', { model: MODEL_25, draft: true, content: content(lent.asset) })
  freeSlot(lent.fixture)
  await until(async () => (await bob.statusOf(draft)) === 'succeeded')
  await bob.created('first', { model: MODEL_25 })
  const ofDraft = { model: MODEL_25, content: [{ type: 'draft_task', draft_task: { id: draft } }] }
  const waiting = await bob.created('x', ofDraft)
  expect(await bob.statusOf(waiting)).toBe('queued')
  await lent.revoke()
  freeSlot(lent.fixture)
  expect(await errorOf(bob, waiting)).toBe('share_ended')
  expect(emulator.video.tasks()).toHaveLength(2)
})

test('a lent asset of a person counts only while the upstream has it', async () => {
  await using fixture = await openVideoFixture()
  const { ann, bob, emulator, store } = fixture
  const { id: group } = emulator.library.addGroup({ name: 'ann’s face', type: 'LivenessFace' })
  const { id: asset } = emulator.library.addAsset({ groupId: group, url: 'https://files.example/a.png', type: 'Image' })
  await store.adoptGroup({ id: group, user: ann.id, type: 'LivenessFace', name: 'Me', createdAt: 1 })
  await lend(ann, group, { User: bob.id, Access: 'use' })
  expect((await bob.create('x', { content: content(asset) })).status).toBe(200)
  emulator.library.deleteAsset(asset)
  const reply = await bob.create('x', { content: content(asset) })
  expect([reply.status, reply.code]).toEqual([403, 'asset_not_found'])
})
