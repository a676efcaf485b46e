import { describe, expect, test } from 'bun:test'
import { createTaskIds } from '../../plugins/video-generation/tasks/task-id.ts'
import { type RateLimitKind, rateLimitKinds } from '../../src/emulator/video/rate-limits.ts'
import { openStore } from '../../src/store/index.ts'
import { repeatedDatabases } from '../support/database.ts'
import { forwardClock } from '../support/forward-clock.ts'
import { MODEL, openVideoFixture, text, until, type VideoFixture } from './fixture.ts'

const newTaskId = createTaskIds()

const oneSlot = { slots: { '*': { running: 1 } } }

/** Ends the running tasks of the upstream, one after the other, until all tasks have ended. Returns their prompts in that order. */
const runAll = async ({ emulator }: VideoFixture, count: number): Promise<string[]> => {
  const prompts: string[] = []
  while (prompts.length < count) {
    await until(() => emulator.video.tasks().some(({ status }) => status === 'running'))
    for (const task of emulator.video.tasks().filter(({ status }) => status === 'running')) {
      prompts.push(task.request.prompt)
      emulator.video.finish(task.id)
    }
  }
  return prompts
}

describe.each(repeatedDatabases)('with slots (%s)', (database) => {
  test('tasks wait for their turn, users take turns, and never more run than there are slots', async () => {
    await using fixture = await openVideoFixture({ database, gateway: oneSlot })
    const { ann, bob, emulator } = fixture
    const ids: string[] = []
    for (const prompt of ['a1', 'a2', 'a3']) ids.push(await ann.created(prompt))
    const ofBob = await bob.created('b1')
    expect(emulator.video.tasks()).toHaveLength(1)
    const waiting = await ann.get(ids[1] ?? '')
    expect([waiting.json.status, waiting.headers.get('x-queue-position')]).toEqual(['queued', expect.any(String)])
    expect((await bob.get(ofBob)).headers.get('x-queue-position')).toBe('1')
    expect((await ann.get(ids[0] ?? '')).headers.get('x-queue-position')).toBeNull()
    expect(await runAll(fixture, 4)).toEqual(['a1', 'b1', 'a2', 'a3'])
    for (const id of ids) await until(async () => (await ann.statusOf(id)) === 'succeeded')
  })

  test('a waiting task is cancelled without the upstream', async () => {
    await using fixture = await openVideoFixture({ database, gateway: oneSlot })
    const { ann, emulator } = fixture
    await ann.created('first')
    const id = await ann.created('second')
    expect((await ann.send('DELETE', `/${id}?mode=delete`)).status).toBe(409)
    expect((await ann.send('DELETE', `/${id}`)).status).toBe(200)
    expect((await ann.get(id)).json).toMatchObject({ id, status: 'cancelled', error: null })
    expect(await runAll(fixture, 1)).toEqual(['first'])
    expect(emulator.video.tasks()).toHaveLength(1)
  })

  test('the waiting tasks of a user who is disabled are not sent, and those of others are', async () => {
    await using fixture = await openVideoFixture({ database, gateway: oneSlot })
    const { ann, bob, emulator, store } = fixture
    const running = await ann.created('a')
    await until(async () => (await ann.statusOf(running)) === 'running')
    const waiting = [await ann.created('b'), await ann.created('c')]
    const other = await bob.created('d')
    await store.changeUser(ann.id, { disabled: true }, { now: Date.now() })
    emulator.video.finish(emulator.video.tasks()[0]?.id ?? '')
    await until(async () => (await bob.statusOf(other)) === 'running')
    emulator.video.finish(emulator.video.tasks()[1]?.id ?? '')
    await until(async () => (await bob.statusOf(other)) === 'succeeded')
    for (const id of waiting) await until(async () => (await store.videoTask(ann.id, id))?.status === 'expired')
    expect(emulator.video.tasks()).toHaveLength(2)
    // What runs already goes on.
    expect((await store.videoTask(ann.id, running))?.status).toBe('succeeded')
  })

  test('an error of the upstream that comes later ends the task as failed; one that comes at once reaches the caller', async () => {
    await using fixture = await openVideoFixture({ database, gateway: oneSlot })
    const { ann, emulator } = fixture
    const wrong = { resolution: '9p' }
    expect((await ann.create('x', wrong)).code).toBe('InvalidParameter')
    await ann.created('first')
    const id = await ann.created('second', wrong)
    emulator.video.finish(emulator.video.tasks()[0]?.id ?? '')
    await until(async () => (await ann.statusOf(id)) === 'failed')
    const { json } = await ann.get(id)
    expect(json.error).toMatchObject({ code: 'InvalidParameter', message: expect.stringContaining('resolution') })
    expect(json).toMatchObject({ id, model: expect.any(String), service_tier: 'default' })
  })

  test('a lost answer costs no task and makes none twice', async () => {
    const clock = forwardClock()
    await using fixture = await openVideoFixture({ database, gateway: { ...oneSlot, clock } })
    const { ann, emulator } = fixture
    emulator.faults.add({ kind: 'reset-after', action: 'CreateVideoTask' })
    const first = await ann.created('first')
    const second = await ann.created('second')
    await until(async () => (await ann.statusOf(first)) === 'running')
    // Now the request is lost: the task waits again, and is sent a second time.
    const unseen = emulator.faults.add({ kind: 'reset-before', action: 'CreateVideoTask' })
    expect(await runAll(fixture, 1)).toEqual(['first'])
    await unseen.waitForHits(1)
    // Past the end of the lease.
    await until(() => {
      clock.pass(10_000)
      return emulator.video.tasks().length === 2
    })
    expect(await runAll(fixture, 1)).toEqual(['second'])
    await until(async () => (await ann.statusOf(second)) === 'succeeded')
    expect(emulator.video.tasks()).toHaveLength(2)
  })
})

test('without slots every kind of 429 is the caller’s, and nothing remains of the task', async () => {
  await using fixture = await openVideoFixture()
  const { ann, emulator } = fixture
  for (const limit of rateLimitKinds) {
    emulator.faults.add({ kind: 'rate-limit', limit })
    const { status, json } = await ann.create()
    expect([limit, status, json.error.type]).toEqual([limit, 429, 'TooManyRequests'])
  }
  expect((await ann.send('GET', '')).json.total).toBe(0)
})

test('with slots a 429 that passes makes the task wait, and one about money is the caller’s', async () => {
  const money: readonly RateLimitKind[] = ['trial', 'five-hours', 'week', 'month', 'set']
  for (const limit of rateLimitKinds) {
    const clock = forwardClock()
    await using fixture = await openVideoFixture({ gateway: { slots: { '*': { running: 5 } }, clock } })
    const { ann, emulator } = fixture
    emulator.faults.add({ kind: 'rate-limit', limit })
    const { status, json } = await ann.create()
    if (money.includes(limit)) expect([limit, status]).toEqual([limit, 429])
    else {
      expect([limit, status]).toEqual([limit, 200])
      await until(async () => {
        clock.pass(1_000)
        return (await ann.statusOf(json.id)) === 'running'
      })
      expect(emulator.video.tasks()).toHaveLength(1)
    }
  }
}, 300_000)

test('a user has a maximum of waiting tasks', async () => {
  await using fixture = await openVideoFixture({ gateway: { slots: { '*': { running: 1, waitingPerUser: 1 } } } })
  const { ann, bob } = fixture
  await ann.created('runs')
  await ann.created('waits')
  const { status, code, headers } = await ann.create()
  expect([status, code, headers.get('retry-after')]).toEqual([429, 'QuotaExceeded', '30'])
  expect((await bob.create()).status).toBe(200)
})

test('a rejected key makes tasks wait for the operator, and is logged', async () => {
  const errors: string[] = []
  const ignore = () => {}
  const log = { debug: ignore, info: ignore, warn: ignore, error: (_: object, text: string) => void errors.push(text) }
  await using fixture = await openVideoFixture({ gateway: oneSlot, more: { log } })
  const { ann, emulator } = fixture
  emulator.faults.add({ kind: 'status', status: 401, action: 'CreateVideoTask' })
  const { status, json } = await ann.create()
  expect(status).toBe(200)
  expect(await ann.statusOf(json.id)).toBe('queued')
  expect(errors).toContain("upstream rejected the gateway's key")
})

test('a task that the upstream lists only after it counted as not created is cancelled, so that none runs twice', async () => {
  const warnings: string[] = []
  const ignore = () => {}
  const warn = (_: object, message: string) => void warnings.push(message)
  await using fixture = await openVideoFixture({
    video: { listedAfterMs: 3_600_000, queuedMs: Number.POSITIVE_INFINITY },
    gateway: { ...oneSlot, createTimeoutMs: 100 },
    more: { log: { debug: ignore, info: ignore, warn, error: ignore } },
  })
  const { ann, emulator } = fixture
  emulator.faults.add({ kind: 'reset-after', action: 'CreateVideoTask' })
  const id = await ann.created('once')
  await until(() => emulator.video.tasks().length === 2)
  emulator.video.advance(3_600_000)
  await until(() => warnings.includes('cancelled a task that the upstream has created after all'))
  expect(emulator.video.tasks().map(({ status }) => status)).toEqual(['cancelled', 'queued'])
  expect(await ann.statusOf(id)).toBe('queued')
})

/** A task of a process that had other slots. */
const earlierTask = () => ({
  ...({
    id: newTaskId(Date.now()),
    user: 'carol',
    model: MODEL,
    serviceTier: 'default',
    createdAt: Date.now(),
  } as const),
  expiresAt: Date.now() + 172_800_000,
  fields: JSON.stringify({ own: {}, shown: {} }),
  request: JSON.stringify({ model: MODEL, content: [text('a cat')] }),
})

test('what waits for a slot is sent when the operator has removed the slots', async () => {
  const store = openStore('sqlite::memory:')
  await using _closing = { [Symbol.asyncDispose]: () => store.close() }
  await store.migrate()
  const task = earlierTask()
  expect(await store.addVideoTask(task, { running: 0 }, 0)).toEqual({ outcome: 'waiting' })
  await using fixture = await openVideoFixture({ store })
  fixture.emulator.faults.add({ kind: 'rate-limit', limit: 'inflight' })
  await until(async () => (await store.videoTask('carol', task.id))?.status === 'running')
})

test('a lost answer from before there were slots leaves nothing', async () => {
  const store = openStore('sqlite::memory:')
  await using _closing = { [Symbol.asyncDispose]: () => store.close() }
  await store.migrate()
  const task = { ...earlierTask(), request: '' }
  expect(await store.addVideoTask(task, undefined, Date.now() - 1)).toMatchObject({ outcome: 'claimed' })
  await using _fixture = await openVideoFixture({ store, gateway: oneSlot })
  await until(async () => (await store.videoTask('carol', task.id)) === undefined)
})
