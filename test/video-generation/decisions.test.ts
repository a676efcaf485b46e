import { describe, expect, test } from 'bun:test'
import { type UsageLimits, usageLimits } from '../../plugins/usage-limits/index.ts'
import type { Store } from '../../src/store/index.ts'
import { runCommand } from '../support/admin-command.ts'
import { repeatedDatabases } from '../support/database.ts'
import { forwardClock } from '../support/forward-clock.ts'
import { openVideoFixture, until, type VideoUser } from './fixture.ts'

const hour = 3_600_000

/** Runs a command, and returns its status and the lines that it prints. */
const adminOf =
  (store: Store, clock: { now(): number }) =>
  async (...words: string[]) => {
    const { status, out, err } = await runCommand(store, ['video', ...words], { clock })
    return { status, lines: [...out, ...err] }
  }

const usageOf = async (store: Store, { id }: VideoUser) =>
  (await store.listUsage({ user: id })).map(({ calls, outputTokens }) => ({ calls, outputTokens }))

describe.each(repeatedDatabases)('a task that runs for ever (%s)', (database) => {
  const open = async () => {
    const clock = forwardClock()
    const logged: object[] = []
    const fixture = await openVideoFixture({
      database,
      gateway: {
        ...{ clock, maxRunningMs: 3 * hour, slots: { '*': { running: 1 } } },
      },
      more: {
        metricsToken: 'metrics-token',
        log: { debug() {}, info() {}, warn() {}, error: (fields) => void logged.push(fields) },
      },
    })
    const { ann, bob, emulator, store } = fixture
    const hanging = await ann.created('hangs')
    await until(async () => (await ann.statusOf(hanging)) === 'running')
    const waiting = await bob.created('waits')
    return { fixture, clock, logged, hanging, waiting, emulator, admin: adminOf(store, clock) }
  }

  test('frees its slot after its time, is listed, and ends as usual if it ends after all', async () => {
    const { fixture, clock, logged, hanging, waiting, emulator, admin } = await open()
    await using _ = fixture
    const { ann, bob, store } = fixture
    clock.pass(3 * hour - 60_000)
    // Polls go on, and nothing is free.
    const before = (await store.anyVideoTask(hanging))?.dueAt ?? 0
    await until(async () => ((await store.anyVideoTask(hanging))?.dueAt ?? 0) > before)
    expect([await bob.statusOf(waiting), (await admin('list', '--status', 'undecided')).lines]).toEqual(['queued', []])

    clock.pass(120_000)
    await until(async () => (await bob.statusOf(waiting)) === 'running')
    const { status, lines } = await admin('list', '--status', 'undecided')
    expect([status, lines.length]).toEqual([0, 1])
    for (const part of [hanging, 'running', 'submitted', 'running_too_long', emulator.video.tasks()[0]?.id ?? '?'])
      expect(lines[0]).toContain(part)
    expect(await ann.statusOf(hanging)).toBe('running')
    const overrunning = /^sluice_video_tasks\{pool="[^"]+",phase="overrunning"\} 1$/m
    await until(async () => {
      const headers = { authorization: 'Bearer metrics-token' }
      return overrunning.test(await (await fetch(`${fixture.gateway.url}/metrics`, { headers })).text())
    })
    expect(logged).toContainEqual({
      ...{ task: hanging, user: ann.id, upstreamId: emulator.video.tasks()[0]?.id },
    })

    emulator.video.finish(emulator.video.tasks()[0]?.id ?? '')
    clock.pass(hour)
    await until(async () => (await ann.statusOf(hanging)) === 'succeeded')
    const [usage, ...others] = await usageOf(store, ann)
    expect([usage?.calls, Number(usage?.outputTokens) > 0, others]).toEqual([1, true, []])
    expect((await store.eventsOf(ann.id, 0, 100)).map(({ type }) => type)).toEqual([
      ...['video.queued', 'video.running', 'video.succeeded'],
    ])
    expect((await admin('list', '--status', 'undecided')).lines).toEqual([])
    expect((await admin('release', hanging)).status).toBe(1)
  }, 300_000)

  test('fails when an operator gives it up, and what the upstream makes of it later is nobody’s', async () => {
    const { fixture, clock, hanging, waiting, emulator, admin } = await open()
    await using _ = fixture
    const { ann, bob, store } = fixture
    clock.pass(4 * hour)
    await until(async () => (await bob.statusOf(waiting)) === 'running')
    expect(await admin('release', hanging)).toEqual({ status: 0, lines: [] })
    const { json } = await ann.get(hanging)
    expect([json.id, json.status, json.error.code]).toEqual([hanging, 'failed', 'running_too_long'])
    expect(await admin('release', hanging)).toEqual({ status: 1, lines: ['the video task needs no decision'] })
    emulator.video.finish(emulator.video.tasks()[0]?.id ?? '')
    emulator.video.finish(emulator.video.tasks()[1]?.id ?? '')
    clock.pass(hour)
    await until(async () => (await bob.statusOf(waiting)) === 'succeeded')
    expect([await ann.statusOf(hanging), await usageOf(store, ann)]).toEqual(['failed', []])
    expect((await store.eventsOf(ann.id, 0, 100)).map(({ type }) => type)).toEqual([
      ...['video.queued', 'video.running', 'video.failed'],
    ])
    const entries = await store.listAudit({ action: 'video.release' })
    expect(entries).toMatchObject([{ user: ann.id, target: hanging }])
  }, 300_000)
})

describe.each(repeatedDatabases)('a task whose create call has an unknown outcome (%s)', (database) => {
  const open = async () => {
    const clock = forwardClock()
    const fixture = await openVideoFixture({
      ...{ database, gateway: { clock, settleWaitMs: 100, settleMs: 100_000 } },
    })
    const { ann, emulator, store } = fixture
    // The upstream creates it; neither the answer nor a list shows it.
    emulator.faults.add({ kind: 'reset-after', action: 'CreateVideoTask' })
    const lists = emulator.faults.add({ kind: 'status', status: 500, action: 'ListVideoTasks', times: 1_000_000 })
    expect((await ann.create()).code).toBe('create_outcome_unknown')
    const { id } = (await ann.send('GET', '')).json.items[0]
    const admin = adminOf(store, clock)
    expect((await admin('list', '--status', 'undecided')).lines).toEqual([])
    expect(await admin('adopt', id, '--upstream-id', 'cgt-1')).toEqual({
      ...{ status: 1, lines: ['the video task needs no decision'] },
    })
    clock.pass(100_000)
    const { lines } = await admin('list', '--status', 'undecided')
    expect(lines).toEqual([expect.stringMatching(new RegExp(`^${id}.*queued.*submitting.*create_outcome_unknown$`))])
    return { fixture, id, lists, admin, upstreamId: emulator.video.tasks()[0]?.id ?? '' }
  }

  test('is the task that an operator adopts, from then on', async () => {
    const { fixture, id, lists, admin, upstreamId } = await open()
    await using _ = fixture
    const { ann, emulator, store } = fixture
    expect(await admin('adopt', id, '--upstream-id', 'no id')).toEqual({
      ...{ status: 1, lines: ['the upstream id is not valid'] },
    })
    expect(await admin('adopt', id, '--upstream-id', upstreamId)).toEqual({ status: 0, lines: [] })
    lists.remove()
    await until(async () => (await ann.statusOf(id)) === 'running')
    emulator.video.finish(upstreamId)
    await until(async () => (await ann.statusOf(id)) === 'succeeded')
    expect((await usageOf(store, ann)).map(({ calls }) => calls)).toEqual([1])
    expect(emulator.video.tasks()).toHaveLength(1)
    expect((await admin('list', '--status', 'undecided')).lines).toEqual([])
  }, 300_000)

  test('fails when an operator gives it up, and is not created again', async () => {
    const { fixture, id, lists, admin } = await open()
    await using _ = fixture
    const { ann, emulator } = fixture
    expect(await admin('release', id)).toEqual({ status: 0, lines: [] })
    lists.remove()
    const { json } = await ann.get(id)
    expect([json.status, json.error.code]).toEqual(['failed', 'create_outcome_unknown'])
    expect(emulator.video.tasks()).toHaveLength(1)
  }, 300_000)
})

describe.each(repeatedDatabases)('what an undecided task holds of a limit (%s)', (database) => {
  const open = async () => {
    const clock = forwardClock()
    let limits: UsageLimits | undefined
    const fixture = await openVideoFixture({
      ...{ database, gateway: { clock, settleWaitMs: 100, maxRunningMs: hour } },
      more: {
        limitsOf: (store) => {
          limits = usageLimits({ store: store.limits, userLimits: [{ unit: 'tokens', amount: 300_000 }] })
          return limits
        },
      },
    })
    const report = async () => {
      const [tokens] = (await limits?.report({ user: fixture.ann.id })) ?? []
      return [tokens?.used, tokens?.reserved]
    }
    const five = { resolution: '720p', ratio: '16:9', duration: 5 }
    return { fixture, clock, report, five, admin: adminOf(fixture.store, clock) }
  }
  const held = [0, 108_000]

  test('stays while a task runs for too long, and is settled by its end', async () => {
    const { fixture, clock, report, five, admin } = await open()
    await using _ = fixture
    const { ann, emulator } = fixture
    const id = await ann.created('hangs', five)
    await until(async () => (await ann.statusOf(id)) === 'running')
    clock.pass(2 * hour)
    await until(async () => (await admin('list', '--status', 'undecided')).lines.length === 1)
    expect(await report()).toEqual(held)
    emulator.video.finish(emulator.video.tasks()[0]?.id ?? '')
    clock.pass(hour)
    await until(async () => (await ann.statusOf(id)) === 'succeeded')
    expect(await report()).toEqual([108_000, 0])
  }, 300_000)

  test('returns when an operator gives the task up', async () => {
    const { fixture, clock, report, five, admin } = await open()
    await using _ = fixture
    const { ann } = fixture
    const id = await ann.created('hangs', five)
    await until(async () => (await ann.statusOf(id)) === 'running')
    clock.pass(2 * hour)
    await until(async () => (await admin('list', '--status', 'undecided')).lines.length === 1)
    expect((await admin('release', id)).status).toBe(0)
    expect(await report()).toEqual([0, 0])
  }, 300_000)

  /** A task that has failed because two tasks of the upstream fit its lost create call. */
  const openAmbiguous = async () => {
    const opened = await open()
    const { ann, emulator } = opened.fixture
    emulator.faults.add({ kind: 'reset-after', action: 'CreateVideoTask' })
    const lists = emulator.faults.add({ kind: 'status', status: 500, action: 'ListVideoTasks', times: 1_000_000 })
    expect((await ann.create('which one', opened.five)).code).toBe('create_outcome_unknown')
    const body = JSON.stringify({ ...emulator.video.tasks()[0]?.body, callback_url: undefined })
    const headers = { authorization: `Bearer ${emulator.video.key}`, 'content-type': 'application/json' }
    await fetch(`${emulator.video.url}/contents/generations/tasks`, { method: 'POST', headers, body })
    lists.remove()
    const { id } = (await ann.send('GET', '')).json.items[0]
    await until(async () => {
      opened.clock.pass(1_000)
      return (await ann.statusOf(id)) === 'failed'
    })
    return { ...opened, id }
  }

  test('stays while nobody knows which task a create call has made, and counts for the one that is adopted', async () => {
    const { fixture, id, report, admin } = await openAmbiguous()
    await using _ = fixture
    const { ann, emulator } = fixture
    expect(await report()).toEqual(held)
    expect((await admin('list', '--status', 'undecided')).lines).toEqual([expect.stringContaining(id)])
    const upstreamId = emulator.video.tasks()[1]?.id ?? ''
    expect((await admin('adopt', id, '--upstream-id', upstreamId)).status).toBe(0)
    await until(async () => (await ann.statusOf(id)) === 'running')
    emulator.video.finish(upstreamId)
    await until(async () => (await ann.statusOf(id)) === 'succeeded')
    expect(await report()).toEqual([108_000, 0])
  }, 300_000)

  test.each(['release', 'delete'])(
    'returns when nobody will decide any more: %s',
    async (how) => {
      const { fixture, id, report, admin } = await openAmbiguous()
      await using _ = fixture
      expect(await report()).toEqual(held)
      if (how === 'release') expect((await admin('release', id)).status).toBe(0)
      else expect((await fixture.ann.send('DELETE', `/${id}`)).status).toBe(200)
      expect(await report()).toEqual([0, 0])
      expect((await admin('list', '--status', 'undecided')).lines).toEqual([])
    },
    300_000,
  )
})

test('decisions need a task, and an upstream id', async () => {
  await using fixture = await openVideoFixture()
  const admin = adminOf(fixture.store, { now: Date.now })
  const id = 'cgt-20300131120000-00000000000000000000'
  for (const words of [
    ['adopt', id, '--upstream-id', 'cgt-1'],
    ['release', id],
  ])
    expect(await admin(...words)).toEqual({ status: 1, lines: ['there is no such video task'] })
  for (const words of [['adopt', id], ['adopt', '--upstream-id', 'cgt-1'], ['release'], ['release', id, 'x']])
    expect((await admin(...words)).status).toBe(2)
}, 300_000)
