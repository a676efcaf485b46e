import { expect, setDefaultTimeout, test } from 'bun:test'
import { Background } from '../../plugins/shared/background/background.ts'
import { until } from '../routes/fixture.ts'
import { MODEL, MODEL_25, media, text, videoUser } from '../video-generation/fixture.ts'
import { groupOn, openAccounts } from './fixture.ts'

setDefaultTimeout(60_000)

const openVideos = async (slots?: number) => {
  const background = new Background()
  const fixture = await openAccounts({
    emulator: () => ({ video: { queuedMs: 0, runningMs: Number.POSITIVE_INFINITY } }),
    gateway: {
      video: {
        ...{ background, pollMs: 10, settleMs: 100 },
        ...(slots !== undefined && { slots: { '*': { running: slots } } }),
      },
    },
  })
  const groups = [await groupOn(fixture, fixture.ann, 'a', 'on a'), await groupOn(fixture, fixture.ann, 'b', 'on b')]
  const assets = groups.map((groupId, index) => fixture.emulators[index]?.library.addAsset({ groupId }).id ?? '')
  for (const [index, asset] of assets.entries()) await fixture.store.recordAsset(asset, groups[index] ?? '')
  return {
    ...fixture,
    assets,
    ann: videoUser(fixture.gateway, fixture.ann),
    /** Numbers of tasks that the accounts have. */
    counts: () => fixture.emulators.map(({ video }) => video.tasks().length),
    stop: () => void background.stop(),
    async [Symbol.asyncDispose]() {
      void background.stop()
      await fixture[Symbol.asyncDispose]()
    },
  }
}

const request = (assets: readonly (string | undefined)[], model = MODEL) => ({
  model,
  content: [text('a cat'), ...assets.map((id) => media('image', `asset://${id}`, 'reference_image'))],
})

test('a task runs on the account of its assets, and is polled, listed and cancelled there', async () => {
  await using fixture = await openVideos()
  const { ann, emulators, assets } = fixture
  for (const index of [1, 0]) {
    const { json } = await ann.send('POST', '', request([assets[index]]))
    expect(fixture.counts()).toEqual(index === 1 ? [0, 1] : [1, 1])
    const [task] = emulators[index]?.video.tasks() ?? []
    emulators[index]?.video.finish(task?.id ?? '')
    await until(async () => (await ann.statusOf(json.id)) === 'succeeded')
  }
  expect((await ann.send('GET', '')).json.total).toBe(2)
})

test('a task with assets of two accounts is refused before any call', async () => {
  await using fixture = await openVideos()
  const { ann, emulators, assets } = fixture
  for (const { calls } of emulators) (calls as unknown[]).length = 0
  const reply = await ann.send('POST', '', request(assets))
  expect([reply.status, reply.json.error]).toMatchObject([
    400,
    {
      code: 'InvalidParameter',
      param: 'content',
      message: 'content has assets of several accounts, of which a task can use one: a, b',
    },
  ])
  expect(emulators.flatMap(({ calls }) => calls)).toEqual([])
})

test('a draft is continued on its account, and with no assets of another one', async () => {
  await using fixture = await openVideos()
  const { ann, emulators, assets } = fixture
  const { json } = await ann.send('POST', '', { ...request([assets[1]], MODEL_25), draft: true })
  const [task] = emulators[1]?.video.tasks() ?? []
  emulators[1]?.video.finish(task?.id ?? '')
  await until(async () => (await ann.statusOf(json.id)) === 'succeeded')
  const draft = { type: 'draft_task', draft_task: { id: json.id } }
  expect((await ann.send('POST', '', { model: MODEL_25, content: [draft] })).status).toBe(200)
  expect(fixture.counts()).toEqual([0, 2])
  const [, image] = request([assets[0]]).content
  const mixed = await ann.send('POST', '', { model: MODEL_25, content: [draft, image] })
  expect(mixed.json.error.message).toBe('content has assets of several accounts, of which a task can use one: a, b')
})

test('each account has slots of its own, and tasks without assets go to the one with the shorter queue', async () => {
  await using fixture = await openVideos(1)
  const { ann, assets } = fixture
  for (let nth = 0; nth < 3; nth++) expect((await ann.send('POST', '', request([assets[0]]))).status).toBe(200)
  expect(fixture.counts()).toEqual([1, 0])
  expect((await ann.send('POST', '', request([]))).status).toBe(200)
  expect(fixture.counts()).toEqual([1, 1])
})

test('without one account the tasks of the others start, run and end', async () => {
  await using fixture = await openVideos(1)
  const { ann, emulators, assets } = fixture
  const lost = (await ann.send('POST', '', request([assets[1]]))).json.id
  await emulators[1]?.stop()
  const waiting = (await ann.send('POST', '', request([assets[1]]))).json.id
  const { json } = await ann.send('POST', '', request([assets[0]]))
  const [task] = emulators[0]?.video.tasks() ?? []
  emulators[0]?.video.finish(task?.id ?? '')
  await until(async () => (await ann.statusOf(json.id)) === 'succeeded')
  expect([await ann.statusOf(lost), await ann.statusOf(waiting)]).not.toContain('failed')
})
