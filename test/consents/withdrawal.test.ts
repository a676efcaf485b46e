import { describe, expect, test } from 'bun:test'
import { Background } from '../../plugins/shared/background/background.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { repeatedDatabases } from '../support/database.ts'
import { chatOf, content, dryRun, freeSlot, MODEL, MODEL_25, oneSlot, openFaceFixture, until } from './fixture.ts'

describe.each(repeatedDatabases)('after a withdrawal (%s)', (database) => {
  test('of 100 tasks that wait, of the owner and a borrower, none is sent', async () => {
    await using face = await openFaceFixture({ database, gateway: oneSlot })
    const { ann, bob, emulator } = face.fixture
    const sent = await ann.created('sent', { content: content(face.asset) })
    const waiting: (readonly [typeof ann, string])[] = []
    for (let at = 0; at < 50; at++)
      for (const user of [ann, bob]) waiting.push([user, await user.created(`${at}`, { content: content(face.asset) })])
    const other = await bob.created('without the face')
    expect(await Promise.all(waiting.map(([user, id]) => user.statusOf(id)))).toEqual(Array(100).fill('queued'))
    expect((await face.withdraw()).json.Result.Status).toBe('withdrawn')
    freeSlot(face.fixture)
    for (const [user, id] of waiting) await until(async () => (await user.statusOf(id)) === 'failed')
    await until(async () => (await bob.statusOf(other)) === 'running')
    expect(emulator.video.tasks()).toHaveLength(2)
    expect(JSON.stringify(emulator.video.tasks()[1]?.body)).not.toContain(face.asset)
    const uses = await ann.ask('GET', `/assets/groups/${face.group}/consent/uses`)
    expect(uses.json.Result).toMatchObject({ Items: [{ TaskId: sent, User: ann.id }], TotalCount: 1, NextToken: '' })
  }, 120_000)

  test('no request that refers to an asset of the group is accepted', async () => {
    await using face = await openFaceFixture({ database })
    const { ann, bob, emulator, gateway } = face.fixture
    const estimate = (user: typeof ann) => user.send('POST', '', { ...dryRun, content: content(face.asset) })
    for (const user of [ann, bob]) {
      expect((await user.create('x', { content: content(face.asset) })).status).toBe(200)
      expect(await estimate(user)).toMatchObject({ status: 200, json: { dry_run: true } })
    }
    await face.withdraw()
    for (const user of [ann, bob]) {
      const refused = await user.create('x', { content: content(face.asset) })
      expect([refused.status, refused.code]).toEqual([403, 'asset_not_found'])
      const estimated = await estimate(user)
      expect([estimated.status, estimated.code]).toEqual([403, 'asset_not_found'])
    }
    const before = emulator.calls.length
    const chat = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(chatOf(face.asset)),
    })
    expect(chat.status).toBe(403)
    const added = await ann.ask('POST', '/assets', {
      ...{ GroupId: face.group, GroupType: 'LivenessFace', URL: 'https://files.example/b.png', AssetType: 'Image' },
    })
    expect([added.status, added.json.error.message]).toEqual([
      403,
      'the person of this group no longer authorizes its use',
    ])
    expect(emulator.calls.slice(before).filter(({ action }) => action.startsWith('Create'))).toEqual([])
    expect(emulator.video.tasks()).toHaveLength(2)
  })
})

/** A fixture whose store runs `around` about each record of a use. */
const withRecord = async (
  around: (record: () => Promise<boolean>, withdraw: () => Promise<unknown>) => Promise<boolean>,
) => {
  const store = openStore('sqlite::memory:')
  let withdraw: () => Promise<unknown> = async () => {}
  const controlled: Store = {
    ...store,
    recordConsentUse: (use) =>
      around(
        () => store.recordConsentUse(use),
        () => withdraw(),
      ),
  }
  const face = await openFaceFixture({ store: controlled })
  withdraw = () =>
    store.withdrawConsent({ group: face.group, owner: face.fixture.ann.id }, { at: 1, actor: { by: 'person' } })
  return { ...face, store }
}

test('a withdrawal just before the record of a use keeps the task from being sent', async () => {
  await using face = await withRecord(async (record, withdraw) => {
    await withdraw()
    return record()
  })
  const { ann, emulator } = face.fixture
  const refused = await ann.create('x', { content: content(face.asset) })
  expect([refused.status, refused.code]).toEqual([403, 'consent_withdrawn'])
  expect(emulator.video.tasks()).toEqual([])
  expect(await face.store.consentUses(face.group, { limit: 10 })).toEqual([])
})

test('a withdrawal just after the record of a use comes too late for the task, which is listed', async () => {
  await using face = await withRecord(async (record, withdraw) => {
    const recorded = await record()
    await withdraw()
    return recorded
  })
  const { ann, emulator } = face.fixture
  const id = await ann.created('x', { content: content(face.asset) })
  expect(emulator.video.tasks()).toHaveLength(1)
  expect((await ann.ask('GET', `/assets/groups/${face.group}/consent/uses`)).json.Result.Items).toMatchObject([
    { TaskId: id, AssetIds: [face.asset], Result: 'none' },
  ])
})

test('a waiting task that a withdrawal ends says why, in each form and in its event', async () => {
  await using face = await openFaceFixture({ gateway: oneSlot, more: { background: new Background() } })
  const { ann, bob, gateway, store } = face.fixture
  await ann.created('first')
  const waiting = await bob.created('x', { content: content(face.asset) })
  await face.withdraw()
  await until(async () => (await bob.statusOf(waiting)) === 'failed')
  const error = {
    code: 'consent_withdrawn',
    message: 'the person in an asset of the task has withdrawn the consent',
  }
  const shown = (await bob.get(waiting)).json
  expect(shown).toMatchObject({ id: waiting, status: 'failed', error })
  expect([shown.model, shown.service_tier]).toEqual([MODEL, 'default'])
  const advice = { code: 'consent_withdrawn', retry: false, change: 'other_picture' }
  const response = await fetch(`${gateway.url}/v1/videos/${waiting}`, {
    headers: { authorization: `Bearer ${bob.token}` },
  })
  expect(await response.json()).toMatchObject({ status: 'failed', error: { ...error, advice } })
  const told = (await store.eventsOf(bob.id, 0, 100)).filter(({ type }) => type === 'video.failed')
  expect(told.map(({ data }) => JSON.parse(data))).toMatchObject([{ id: waiting, error: { ...error, advice } }])
  const uses = await ann.ask('GET', `/assets/groups/${face.group}/consent/uses`)
  expect(uses.json.Result.Items).toEqual([])
})

test('a waiting task that the withdrawal has not seen fails with its turn', async () => {
  const store = openStore('sqlite::memory:')
  // Another process adds the task while the consent is withdrawn.
  const deaf: Store = { ...store, hasWithdrawn: async () => false }
  await using face = await openFaceFixture({ store: deaf, gateway: oneSlot })
  const { ann, emulator } = face.fixture
  await ann.created('first')
  await face.withdraw()
  const waiting = await ann.created('x', { content: content(face.asset) })
  freeSlot(face.fixture)
  await until(async () => (await ann.statusOf(waiting)) === 'failed')
  expect((await ann.get(waiting)).json.error.code).toBe('consent_withdrawn')
  expect(emulator.video.tasks()).toHaveLength(1)
})

test('a video of a draft needs the consent of the person in the draft', async () => {
  await using face = await openFaceFixture({ gateway: oneSlot })
  const { ann, bob, emulator } = face.fixture
  const draft = await ann.created('x', { model: MODEL_25, draft: true, content: content(face.asset) })
  freeSlot(face.fixture)
  await until(async () => (await ann.statusOf(draft)) === 'succeeded')
  await bob.created('first', { model: MODEL_25 })
  const ofDraft = { model: MODEL_25, content: [{ type: 'draft_task', draft_task: { id: draft } }] }
  const waiting = await ann.created('x', ofDraft)
  expect(await ann.statusOf(waiting)).toBe('queued')
  await face.withdraw()
  const refused = await ann.create('x', ofDraft)
  expect([refused.status, refused.code]).toEqual([403, 'consent_withdrawn'])
  freeSlot(face.fixture)
  await until(async () => (await ann.statusOf(waiting)) === 'failed')
  expect(emulator.video.tasks()).toHaveLength(2)
})

test('a task without a face asks the store for no consent', async () => {
  const store = openStore('sqlite::memory:')
  const asked: string[] = []
  const watched: Store = {
    ...store,
    recordConsentUse: (use) => {
      asked.push(use.task)
      return store.recordConsentUse(use)
    },
    hasWithdrawn: (group) => {
      asked.push(group)
      return store.hasWithdrawn(group)
    },
  }
  await using face = await openFaceFixture({ store: watched })
  await face.fixture.ann.created('a cat')
  expect(asked).toEqual([])
  const task = await face.fixture.ann.created('x', { content: content(face.asset) })
  expect(asked).toEqual([face.group, task])
})

test('what the upstream rejects is no use', async () => {
  await using face = await openFaceFixture()
  const { ann, emulator } = face.fixture
  emulator.faults.add({ kind: 'status', action: 'CreateVideoTask', status: 400 })
  expect((await ann.create('x', { content: content(face.asset) })).status).toBe(400)
  expect((await ann.ask('GET', `/assets/groups/${face.group}/consent/uses`)).json.Result.TotalCount).toBe(0)
})

test('the ledger keeps how a task has ended that its user deletes', async () => {
  await using face = await openFaceFixture()
  const { bob, ann, emulator } = face.fixture
  const id = await bob.created('x', { content: content(face.asset) })
  emulator.video.finish(emulator.video.tasks()[0]?.id ?? '')
  await until(async () => (await bob.statusOf(id)) === 'succeeded')
  const use = async () => (await ann.ask('GET', `/assets/groups/${face.group}/consent/uses`)).json.Result.Items[0]
  expect(await use()).toMatchObject({ TaskId: id, User: bob.id, Status: 'succeeded', Result: 'kept' })
  expect((await bob.send('DELETE', `/${id}?mode=delete`)).status).toBe(200)
  expect(await use()).toMatchObject({
    ...{ TaskId: id, User: bob.id, Status: 'succeeded', Result: 'removed' },
    EndTime: expect.any(String),
  })
})

test('a video that is derived from one with the face needs the consent too', async () => {
  await using face = await openFaceFixture()
  const { ann, emulator, gateway } = face.fixture
  const source = await ann.created('x', { content: content(face.asset) })
  emulator.video.finish(emulator.video.tasks()[0]?.id ?? '')
  await until(async () => (await ann.statusOf(source)) === 'succeeded')
  const remix = async (query = '') => {
    const response = await fetch(`${gateway.url}/v1/videos/${source}/remix${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'at night' }),
    })
    return { status: response.status, json: (await response.json()) as { error?: { code: string } } }
  }
  expect((await remix()).status).toBe(200)
  const { TotalCount } = (await ann.ask('GET', `/assets/groups/${face.group}/consent/uses`)).json.Result
  expect(TotalCount).toBe(2)
  await face.withdraw()
  for (const query of ['', '?dry_run=true'])
    expect(await remix(query)).toMatchObject({ status: 403, json: { error: { code: 'consent_withdrawn' } } })
  expect(emulator.video.tasks()).toHaveLength(2)
})
