import { describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { hashToken } from '../../plugins/api-token/index.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import { usageLimits } from '../../plugins/usage-limits/index.ts'
import type { Emulator } from '../../src/emulator/index.ts'
import { repeatedDatabases } from '../support/database.ts'
import { forwardClock } from '../support/forward-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { media, openVideoFixture, text, until, type VideoFixtureOptions, videoUser } from './fixture.ts'
import { auto, callsOf, face, plain, testManyTasks } from './references-many.ts'

const code = 'InputImageSensitiveContentDetected.PrivacyInformation'

/** The addresses of the pictures in the last create call. */
const sentUrls = (emulator: Emulator) => {
  const last = callsOf(emulator, 'CreateVideoTask').at(-1)?.json as { content: { image_url?: { url: string } }[] }
  return last.content.flatMap(({ image_url }) => image_url?.url ?? [])
}

const open = openVideoFixture

/** The same with a clock that goes forward only while the test waits for a task: lost calls of the library are settled after a minute. */
const openWithClock = async (options: VideoFixtureOptions = {}) => {
  const clock = forwardClock()
  const fixture = await openVideoFixture({ ...options, gateway: { clock }, more: { clock } })
  const runs = (id: string) =>
    until(async () => {
      clock.pass(1_000)
      return (await fixture.ann.statusOf(id)) === 'running'
    })
  return { ...fixture, clock, runs }
}

describe.each(repeatedDatabases)('references: auto (%s)', (kind) => {
  test('makes an asset of the picture that was refused for a person, and sends the task again', async () => {
    await using fixture = await open({ database: kind })
    const { ann, bob, emulator } = fixture
    const id = await ann.created('a', auto(plain('one'), face('ann'), plain('two')))
    await until(async () => (await ann.statusOf(id)) === 'running')
    const [asset, ...more] = emulator.library.assets()
    expect(more).toEqual([])
    expect(sentUrls(emulator)).toEqual([
      'https://files.example/plain/one.png',
      `asset://${asset?.id}`,
      'https://files.example/plain/two.png',
    ])
    expect(callsOf(emulator, 'CreateVideoTask').map(({ json }) => json)).not.toContainEqual(
      expect.objectContaining({ references: expect.anything() }),
    )
    // The asset is the caller's, in a group like any other.
    const groups = await ann.ask('GET', '/assets/groups?GroupType=AIGC')
    expect(groups.json.Result.Items).toMatchObject([
      { Name: expect.stringMatching(/^Pictures of videos [0-9a-f]{12}$/), Id: asset?.groupId },
    ])
    expect((await ann.ask('GET', `/assets/${asset?.id}`)).status).toBe(200)
    expect((await bob.ask('GET', `/assets/${asset?.id}`)).status).toBe(403)
    // The same picture of the same user is the same asset; another user's is another one.
    const again = await ann.created('b', auto(face('ann')))
    await until(async () => (await ann.statusOf(again)) === 'running')
    expect(emulator.library.assets()).toHaveLength(1)
    const other = await bob.created('c', auto(face('ann')))
    await until(async () => (await bob.statusOf(other)) === 'running')
    expect(emulator.library.assets()).toHaveLength(2)
    expect(sentUrls(emulator)).not.toEqual([`asset://${asset?.id}`])
    const last = await ann.created('d', auto(face('ann')))
    await until(async () => (await ann.statusOf(last)) === 'running')
    expect(sentUrls(emulator)).toEqual([`asset://${asset?.id}`])
    expect(callsOf(emulator, 'CreateAsset')).toHaveLength(2)
  })

  // references-many.all.test.ts has 100 tasks.
  testManyTasks(kind, 30)

  test('settles a creation whose answer was lost: the asset is found, and made only once', async () => {
    await using fixture = await openWithClock({ database: kind })
    const { ann, emulator, runs } = fixture
    emulator.faults.add({ kind: 'reset-after', action: 'CreateAsset' })
    await runs(await ann.created('a', auto(face('ann'))))
    expect(emulator.library.assets()).toHaveLength(1)
    expect((await ann.ask('GET', `/assets/${emulator.library.assets()[0]?.id}`)).status).toBe(200)
    emulator.faults.add({ kind: 'reset-before', action: 'CreateAsset' })
    await runs(await ann.created('b', auto(face('another'))))
    expect(emulator.library.assets()).toHaveLength(2)
    emulator.faults.add({ kind: 'reset-after', action: 'CreateAssetGroup' })
    expect(emulator.library.groups()).toHaveLength(1)
  })

  test('survives a process that ends while the asset is made, and while it is processed', async () => {
    await using first = await openWithClock({ database: kind, emulator: { processingMs: 3_600_000 } })
    const { emulator, store, ann, clock, runs } = first
    const hold = emulator.faults.add({ kind: 'hold', action: 'CreateAsset', when: 'after' })
    const one = await ann.created('one', auto(face('ann')))
    await hold.waitForHits(1)
    // Its store does not hear of the asset: the process is gone.
    first.stop()
    hold.remove()
    const background = new Background()
    await using second = await startGateway({
      ...{ emulator, store, clock },
      video: { pollMs: 10, settleMs: 100, background, clock },
    })
    expect(second.url).not.toBe(first.gateway.url)
    const two = await ann.created('two', auto(face('ann')))
    await until(() => emulator.library.assets().length > 0)
    emulator.library.advance(3_600_000)
    for (const id of [one, two]) await runs(id)
    expect(emulator.library.assets()).toHaveLength(1)
    expect(emulator.video.tasks()).toHaveLength(2)
    void background.stop()
  })

  test('waits outside of the line: neither a slot nor another task waits for an asset', async () => {
    await using fixture = await open({
      database: kind,
      emulator: { processingMs: 3_600_000 },
      gateway: { slots: { '*': { running: 1, waitingPerUser: 2 } } },
    })
    const { ann, emulator } = fixture
    const held = await ann.created('held', auto(face('ann')))
    const reply = await ann.get(held)
    expect(reply.json).toMatchObject({ id: held, status: 'queued' })
    expect(reply.headers.get('x-queue-position')).toBeNull()
    await until(() => emulator.library.assets().length > 0)
    const other = await ann.created('other')
    await until(async () => (await ann.statusOf(other)) === 'running')
    // No more such tasks than may wait.
    emulator.video.finish(emulator.video.tasks()[0]?.id ?? '')
    await until(async () => (await ann.statusOf(other)) === 'succeeded')
    const another = await ann.created('another', auto(face('ann')))
    expect(await ann.create('third', auto(face('ann')))).toMatchObject({ status: 429, code: 'QuotaExceeded' })
    // It can be cancelled.
    expect((await ann.send('DELETE', `/${another}`)).status).toBe(200)
    expect(await ann.statusOf(another)).toBe('cancelled')
    emulator.library.advance(3_600_000)
    await until(async () => (await ann.statusOf(held)) === 'running')
    expect(await ann.statusOf(another)).toBe('cancelled')
    expect(emulator.video.tasks()).toHaveLength(2)
  })
})

describe('references: auto', () => {
  test('ends with the vendor’s words when the library does not take the picture', async () => {
    await using fixture = await open()
    const { ann, emulator } = fixture
    const bad = media('image', 'https://files.example/real-face/fail-FaceMismatch/a.png', 'reference_image')
    for (let times = 1; times <= 2; times++) {
      const id = await ann.created('a', auto(bad))
      await until(async () => (await ann.statusOf(id)) === 'failed')
      expect((await ann.get(id)).json.error).toEqual({
        code: 'FaceMismatch',
        message: 'Processing ended with FaceMismatch.',
      })
    }
    // It is not made again: the same bytes would fail again.
    expect(callsOf(emulator, 'CreateAsset')).toHaveLength(1)
    // A failure that another try may not meet is.
    const unread = media('image', 'https://files.invalid/real-face/a.png', 'reference_image')
    for (let times = 1; times <= 2; times++) {
      const id = await ann.created('b', auto(unread))
      await until(async () => (await ann.statusOf(id)) === 'failed')
      expect((await ann.get(id)).json.error.code).toBe('DownloadFailed')
    }
    expect(callsOf(emulator, 'CreateAsset')).toHaveLength(3)
  })

  test('ends with the second refusal of the same picture, and with one of anything else', async () => {
    await using fixture = await open()
    const { ann, emulator } = fixture
    const body = (words: string) => JSON.stringify({ error: { code, message: words, param: '', type: 'BadRequest' } })
    emulator.faults.add({ kind: 'status', status: 400, body: body("image 'content[1]' again"), after: 1, ...creates })
    const id = await ann.created('a', auto(face('ann')))
    await until(async () => (await ann.statusOf(id)) === 'failed')
    expect((await ann.get(id)).json.error).toEqual({ code, message: "image 'content[1]' again" })
    // A refusal that names no picture is about each of them: all become assets, once.
    emulator.faults.add({ kind: 'status', status: 400, body: body('some picture'), times: 2, ...creates })
    const all = await ann.created('b', auto(plain('one'), plain('two')))
    await until(async () => (await ann.statusOf(all)) === 'failed')
    expect(emulator.library.assets().map(({ url }) => url)).toEqual(
      ['real-face/ann', 'plain/one', 'plain/two'].map((path) => `https://files.example/${path}.png`),
    )
    // A picture that is an asset already, and another error.
    const [asset] = emulator.library.assets()
    emulator.faults.add({ kind: 'status', status: 400, body: body("image 'content[1]'"), ...creates })
    const known = media('image', `asset://${asset?.id}`, 'reference_image')
    expect(await ann.create('c', auto(known))).toMatchObject({ status: 400, code })
    expect(await ann.create('reject with InputTextSensitiveContentDetected', auto(plain('one')))).toMatchObject({
      status: 200,
    })
    expect(callsOf(emulator, 'CreateAsset')).toHaveLength(3)
  })

  test('is opt-in: without it the refusal is the answer, and nothing is made', async () => {
    await using fixture = await open()
    const { ann, emulator } = fixture
    expect(await ann.create('a', { content: [text('a'), face('ann')] })).toMatchObject({ status: 400, code })
    expect(emulator.library.groups()).toEqual([])
    for (const references of ['all', true, ['auto'], 'Auto'])
      expect(await ann.create('a', { references })).toMatchObject({ status: 400, code: 'InvalidParameter' })
    expect((await ann.create('a', { References: 'auto' })).status).toBe(400)
    expect((await ann.create('a', { references: 'auto', service_tier: 'flex' })).status).toBe(400)
    expect((await ann.create('a', { references: null })).status).toBe(200)
  })

  test('needs the scope media beside video', async () => {
    await using fixture = await open()
    const { gateway, store, ann } = fixture
    const tokenWith = async (scopes: readonly ('media' | 'video' | 'read')[]) => {
      const token = `sk-${randomUUID()}`
      await store.addToken({ user: ann.id, hash: hashToken(token), start: 'sk-', createdAt: Date.now(), scopes })
      return videoUser(gateway, { ...ann, token })
    }
    const narrow = await tokenWith(['video', 'read'])
    for (const dry_run of [false, true])
      expect(await narrow.create('a', { ...auto(face('ann')), dry_run })).toMatchObject({
        status: 403,
        code: 'AccessDenied',
      })
    expect((await narrow.create('a')).status).toBe(200)
    expect((await (await tokenWith(['media', 'video'])).create('a', auto(face('ann')))).status).toBe(200)
  })

  test('obeys the limits of the user on assets and groups', async () => {
    await using fixture = await open({
      more: { limitsOf: ({ limits }) => usageLimits({ store: limits, userLimits: [{ unit: 'assets', amount: 1 }] }) },
    })
    const { ann, emulator } = fixture
    const one = await ann.created('a', auto(face('one')))
    await until(async () => (await ann.statusOf(one)) === 'running')
    const two = await ann.created('a', auto(face('two')))
    await until(async () => (await ann.statusOf(two)) === 'failed')
    expect((await ann.get(two)).json.error).toMatchObject({ code: 'RateLimitExceeded' })
    expect(emulator.library.assets()).toHaveLength(1)
    // The asset that there is can be used.
    const three = await ann.created('a', auto(face('one')))
    await until(async () => (await ann.statusOf(three)) === 'running')
  })

  test('makes the asset again when its user has deleted it, or its group', async () => {
    await using fixture = await open()
    const { ann, emulator } = fixture
    const use = async () => {
      const id = await ann.created('a', auto(face('ann')))
      await until(async () => (await ann.statusOf(id)) === 'running')
      return emulator.library.assets()[0]
    }
    const first = await use()
    await ann.ask('DELETE', `/assets/${first?.id}`)
    const second = await use()
    expect(second?.id).not.toBe(first?.id)
    await ann.ask('DELETE', `/assets/groups/${second?.groupId}`)
    const third = await use()
    expect(third?.groupId).not.toBe(second?.groupId)
    expect(callsOf(emulator, 'CreateAsset')).toHaveLength(3)
  })

  test('repeats nothing for a repeated Idempotency-Key', async () => {
    await using fixture = await open({ emulator: { processingMs: 3_600_000 } })
    const { ann, emulator } = fixture
    const create = () => ann.send('POST', '', { model, ...auto(face('ann')) }, { 'idempotency-key': 'the-same-key' })
    const { json } = await create()
    expect((await create()).json).toEqual(json)
    await until(() => emulator.library.assets().length > 0)
    emulator.library.advance(3_600_000)
    await until(async () => (await ann.statusOf(json.id)) === 'running')
    expect((await create()).json).toEqual(json)
    expect(emulator.video.tasks()).toHaveLength(1)
    expect(emulator.library.assets()).toHaveLength(1)
  })
})

const model = 'doubao-seedance-2-0-260128'
const creates = { action: 'CreateVideoTask' } as const
