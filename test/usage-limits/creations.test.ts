import { describe, expect, test } from 'bun:test'
import { type Limit, type UsageLimits, usageLimits } from '../../plugins/usage-limits/index.ts'
import type { VideoOutcome } from '../../src/emulator/video/tasks/task.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatedDatabases } from '../support/database.ts'
import { openVideoFixture, until, type VideoFixture, type VideoFixtureOptions } from '../video-generation/fixture.ts'

/** A gateway with limits of each user, and what they report. */
const open = async (
  database: (typeof repeatedDatabases)[number],
  userLimits: readonly Limit[],
  options: VideoFixtureOptions = {},
) => {
  let limits: UsageLimits | undefined
  const fixture = await openVideoFixture({
    ...{ ...options, database },
    more: {
      ...options.more,
      limitsOf: (store: Store) => {
        limits = usageLimits({ store: store.limits, userLimits })
        return limits
      },
    },
  })
  const report = async (user = fixture.ann.id) =>
    ((await limits?.report({ user })) ?? []).map(({ unit, used, reserved }) => ({ unit, used, reserved }))
  return { ...fixture, report, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() }
}

const picture = { URL: 'https://files.example/a.png', AssetType: 'Image' }
const finishAll = ({ emulator }: Pick<VideoFixture, 'emulator'>, outcome?: VideoOutcome) => {
  for (const { id, status } of emulator.video.tasks()) if (status === 'running') emulator.video.finish(id, outcome)
}

/**
 * Creates many at once, and then one after the other until nothing is left: never more than there is room for. On a slow
 * machine some of the first are refused, because others are not settled in time.
 */
const fill = async (room: number, atOnce: number, create: (at: number) => Promise<{ readonly status: number }>) => {
  const replies = await Promise.all(Array.from({ length: atOnce }, (_, at) => create(at)))
  let made = replies.filter(({ status }) => status === 200).length
  expect(made).toBeWithin(1, room + 1)
  expect(replies.filter(({ status }) => status === 429).length).toBe(atOnce - made)
  for (let at = atOnce; made < room; at++) if ((await create(at)).status === 200) made++
  expect((await create(1_000)).status).toBe(429)
}

describe.each(repeatedDatabases)('limits on what exists (%s)', (database) => {
  test('groups: of ten at once, as many are made as there is room for', async () => {
    await using it = await open(database, [{ unit: 'groups', amount: 3 }])
    const create = (name: string) => it.ann.ask('POST', '/assets/groups', { Name: name })
    await fill(3, 10, (at) => create(`g${at}`))
    const refused = await create('one more')
    expect(refused.json).toEqual({
      success: false,
      error: { message: 'the limit of 3 groups at once of the user is reached', type: 'media_proxy_error' },
    })
    expect(refused.headers.get('retry-after')).toBeNull()
    expect(await it.report()).toEqual([{ unit: 'groups', used: 3, reserved: 0 }])
    // A deleted group leaves its place, and others have their own.
    const [first] = (await it.ann.ask('GET', '/assets/groups')).json.Result.Items
    expect((await it.ann.ask('DELETE', `/assets/groups/${first.Id}`)).status).toBe(200)
    expect((await create('one more')).status).toBe(200)
    expect((await it.bob.ask('POST', '/assets/groups', { Name: 'g' })).status).toBe(200)
  }, 300_000)

  test('a group that the upstream rejects leaves its place', async () => {
    await using it = await open(database, [{ unit: 'groups', amount: 1 }])
    it.emulator.faults.add({ kind: 'status', status: 400, body: '{}', action: 'CreateAssetGroup' })
    expect((await it.ann.ask('POST', '/assets/groups', { Name: 'g' })).status).toBe(400)
    expect((await it.ann.ask('POST', '/assets/groups', { Name: 'g' })).status).toBe(200)
  }, 300_000)

  test('assets: of five at once, as many are made as there is room for', async () => {
    await using it = await open(database, [{ unit: 'assets', amount: 2 }])
    const group = (await it.ann.ask('POST', '/assets/groups', { Name: 'g' })).json.Result.Id
    const create = () => it.ann.ask('POST', '/assets', { GroupId: group, ...picture })
    await fill(2, 5, create)
    expect(await it.report()).toEqual([{ unit: 'assets', used: 2, reserved: 0 }])
    const [first] = (await it.ann.ask('GET', '/assets')).json.Result.Items
    await it.ann.ask('DELETE', `/assets/${first.Id}`)
    it.emulator.faults.add({ kind: 'status', status: 500, body: '{}', action: 'CreateAsset' })
    expect((await create()).status).toBe(500)
    expect((await create()).status).toBe(200)
  }, 300_000)
})

describe.each(repeatedDatabases)('limits on videos (%s)', (database) => {
  const videoLimits: readonly Limit[] = [
    { unit: 'tokens', amount: 300_000, window: 'month' },
    { unit: 'videos', amount: 10, window: 'day' },
    { unit: 'video_seconds', amount: 100, window: 'day' },
    { unit: 'requests', amount: 10, window: 'hour' },
  ]
  const five = { resolution: '720p', ratio: '16:9', duration: 5 }

  test('a task holds what it will use, and is settled by what the upstream reports', async () => {
    await using it = await open(database, videoLimits)
    const id = await it.ann.created('a cat', five)
    expect(await it.report()).toEqual([
      { unit: 'tokens', used: 0, reserved: 108_000 },
      { unit: 'videos', used: 0, reserved: 1 },
      { unit: 'video_seconds', used: 0, reserved: 5 },
      // What slides is booked at once, and given back if the task fails.
      { unit: 'requests', used: 1, reserved: 0 },
    ])
    finishAll(it)
    await until(async () => (await it.ann.statusOf(id)) === 'succeeded')
    expect(await it.report()).toEqual([
      { unit: 'tokens', used: 108_000, reserved: 0 },
      { unit: 'videos', used: 1, reserved: 0 },
      { unit: 'video_seconds', used: 5, reserved: 0 },
      { unit: 'requests', used: 1, reserved: 0 },
    ])
    await it.ann.created('a dog', five)
    const refused = await it.ann.create('a third', five)
    expect([refused.status, refused.code]).toEqual([429, 'QuotaExceeded'])
    expect(refused.json.error.message).toStartWith(
      'the limit of 300000 tokens a month of the user is reached; it returns at ',
    )
    expect(it.emulator.calls.filter(({ action }) => action === 'CreateVideoTask').length).toBeLessThan(3)
  }, 300_000)

  test('a task that is rejected, fails or is cancelled gives all back', async () => {
    await using it = await open(database, videoLimits, { gateway: { slots: { '*': { running: 1 } } } })
    const nothing = videoLimits.map(({ unit }) => ({ unit, used: 0, reserved: 0 }))
    expect((await it.ann.create('a cat', { ...five, ratio: '7:7' })).status).toBe(400)
    await until(async () => JSON.stringify(await it.report()) === JSON.stringify(nothing))
    const failing = await it.ann.created('a cat', five)
    const waiting = await it.ann.created('a dog', five)
    expect((await it.report())[0]).toEqual({ unit: 'tokens', used: 0, reserved: 216_000 })
    expect((await it.ann.send('DELETE', `/${waiting}`)).status).toBe(200)
    expect((await it.report())[0]).toEqual({ unit: 'tokens', used: 0, reserved: 108_000 })
    finishAll(it, { status: 'failed', code: 'InternalServiceError', message: 'no' })
    await until(async () => (await it.ann.statusOf(failing)) === 'failed')
    expect(await it.report()).toEqual(nothing)
  }, 300_000)

  test('a lost answer keeps its part until it is settled', async () => {
    await using it = await open(database, videoLimits)
    it.emulator.faults.add({ kind: 'reset-before', action: 'CreateVideoTask' })
    const reply = it.ann.create('a cat', five)
    await until(async () => (await it.report())[0]?.reserved === 108_000)
    expect((await reply).status).toBeOneOf([200, 503, 502])
  }, 300_000)

  test('running ones: those that wait count too', async () => {
    await using it = await open(database, [{ unit: 'running_videos', amount: 2 }], {
      gateway: { slots: { '*': { running: 1 } } },
    })
    await fill(2, 4, () => it.ann.create('a cat', five))
    expect((await it.ann.create()).code).toBe('RateLimitExceeded')
    expect(await it.report()).toEqual([{ unit: 'running_videos', used: 2, reserved: 0 }])
  }, 300_000)
})
