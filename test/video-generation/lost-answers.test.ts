import { describe, expect, test } from 'bun:test'
import { openStore } from '../../src/store/index.ts'
import { migratedDatabase, repeatedDatabases } from '../support/database.ts'
import { forwardClock } from '../support/forward-clock.ts'
import { openVideoFixture, until } from './fixture.ts'

/** The upstream creates the task, and its answer is lost. */
const lost = { kind: 'reset-after', action: 'CreateVideoTask' } as const
/** The request is lost before the upstream sees it. */
const unseen = { kind: 'reset-before', action: 'CreateVideoTask' } as const

describe.each(repeatedDatabases)('a lost answer to a create call (%s)', (kind) => {
  test('is settled while the caller waits, by the task that the upstream lists', async () => {
    await using fixture = await openVideoFixture({ database: kind })
    const { ann, emulator } = fixture
    emulator.faults.add(lost)
    const id = await ann.created()
    expect(emulator.video.tasks()).toHaveLength(1)
    await until(async () => (await ann.statusOf(id)) === 'running')
  })

  test('is what a caller waits for too when the store fails after the upstream has accepted the task', async () => {
    const database = await migratedDatabase(kind)
    const store = openStore(database.url, { deadlineMs: 60_000 })
    let failures = 1
    const confirmVideoTask: typeof store.confirmVideoTask = async (...confirmation) => {
      if (failures-- > 0) throw new Error('the store does not respond')
      return store.confirmVideoTask(...confirmation)
    }
    {
      await using fixture = await openVideoFixture({ store: { ...store, confirmVideoTask } })
      const { ann, emulator } = fixture
      const id = await ann.created()
      expect(emulator.video.tasks()).toHaveLength(1)
      await until(async () => (await ann.statusOf(id)) === 'running')
    }
    await store.close()
    await database.remove()
  })

  test('keeps its caller no longer than the time to settle it, also if the search for the task gets no answer', async () => {
    for (const slots of [undefined, { '*': { running: 1, waitingPerUser: 10 } }]) {
      await using fixture = await openVideoFixture({ database: kind, gateway: { settleWaitMs: 100, slots } })
      const { ann, emulator } = fixture
      emulator.faults.add(lost)
      const search = emulator.faults.add({ kind: 'hang', action: 'ListVideoTasks', times: Number.POSITIVE_INFINITY })
      const { status, code } = await ann.create()
      expect([status, code]).toEqual(slots ? [200, undefined] : [503, 'create_outcome_unknown'])
      // It was sent before the response, but may arrive after it.
      await search.waitForHits(1)
      // The search that hangs has not ended: its time limit is 20 seconds.
      emulator.faults.clear()
    }
  }, 15_000)

  test('of which several callers wait is given to each its own', async () => {
    await using fixture = await openVideoFixture({ database: kind })
    const { ann, bob, emulator } = fixture
    emulator.faults.add({ ...lost, times: 6 })
    const users = [ann, ann, bob, ann, bob, ann]
    const ids = await Promise.all(users.map((user, nth) => user.created(`cat ${nth}`)))
    expect(new Set(ids).size).toBe(6)
    expect(emulator.video.tasks()).toHaveLength(6)
    for (const [nth, id] of ids.entries()) {
      const task = emulator.video.tasks().find(({ request }) => request.prompt === `cat ${nth}`)
      emulator.video.finish(task?.id ?? '', { status: 'failed', code: `Code.${'ABCDEF'[nth]}`, message: 'x' })
      await until(async () => (await users[nth]?.statusOf(id)) === 'failed')
      expect((await users[nth]?.get(id))?.json.error.code).toBe(`Code.${'ABCDEF'[nth]}`)
    }
  })

  test('is a 503 when lists show the task late, and the task is the caller’s later', async () => {
    await using fixture = await openVideoFixture({
      database: kind,
      video: { listedAfterMs: 1_500 },
      gateway: { settleWaitMs: 300, settleMs: 20_000 },
    })
    const { ann, emulator } = fixture
    emulator.faults.add(lost)
    const reply = await ann.create()
    expect([reply.status, reply.code, reply.headers.get('retry-after')]).toEqual([503, 'create_outcome_unknown', '120'])
    const { items } = (await ann.send('GET', '')).json
    expect(items).toMatchObject([{ status: 'queued' }])
    emulator.video.advance(2_000)
    await until(async () => (await ann.statusOf(items[0].id)) === 'running')
    expect(emulator.video.tasks()).toHaveLength(1)
  })

  test('leaves nothing where the upstream has not created the task', async () => {
    const clock = forwardClock()
    await using fixture = await openVideoFixture({ database: kind, gateway: { settleWaitMs: 100, clock } })
    const { ann, emulator } = fixture
    emulator.faults.add(unseen)
    expect((await ann.create()).code).toBe('create_outcome_unknown')
    const { id } = (await ann.send('GET', '')).json.items[0]
    // Past the end of the lease.
    await until(async () => {
      clock.pass(10_000)
      return (await ann.get(id)).status === 404
    })
    expect(emulator.video.tasks()).toEqual([])
  })
})

describe('a lost answer', () => {
  test('is settled by a task that starts during the search, and so is in two lists', async () => {
    let onQueuedRead = () => {}
    await using fixture = await openVideoFixture({
      video: { queuedMs: 60_000 },
      gateway: {
        async fetch(url, init) {
          const response = await fetch(url, init)
          if (url.includes('filter.status=queued')) onQueuedRead()
          return response
        },
      },
    })
    const { ann, emulator } = fixture
    onQueuedRead = () => emulator.video.advance(60_000)
    emulator.faults.add(lost)
    const id = await ann.created()
    await until(async () => (await ann.statusOf(id)) !== 'queued')
    expect(await ann.statusOf(id)).toBe('running')
  })
})

test('a create call that was certainly not sent is a 502, and leaves nothing', async () => {
  await using fixture = await openVideoFixture({
    gateway: { upstream: { url: 'http://127.0.0.1:1/api/v3', key: 'the key' } },
  })
  const reply = await fixture.ann.create()
  expect([reply.status, reply.code, reply.json.error.message]).toEqual([
    502,
    'UpstreamUnavailable',
    'upstream unavailable',
  ])
  expect((await fixture.ann.send('GET', '')).json.total).toBe(0)
})

test('a task of another program of the account, and one of another user, is no candidate', async () => {
  await using fixture = await openVideoFixture({ gateway: { settleWaitMs: 400 } })
  const { ann, emulator } = fixture
  const id = await ann.created('of ann')
  const [own] = emulator.video.tasks()
  // The same request again, as a second program with the same key would send it: other identifier, or other nonce.
  for (const change of [{ safety_identifier: 'other' }, { execution_expires_after: 3_600 }]) {
    const body = JSON.stringify({ ...own?.body, callback_url: undefined, ...change })
    const headers = { authorization: `Bearer ${emulator.video.key}`, 'content-type': 'application/json' }
    await fetch(`${emulator.video.url}/contents/generations/tasks`, { method: 'POST', headers, body })
  }
  emulator.faults.add(unseen)
  expect((await ann.create('lost')).code).toBe('create_outcome_unknown')
  expect((await ann.send('GET', '')).json.items).toHaveLength(2)
  expect(await ann.statusOf(id)).toBe('running')
})
