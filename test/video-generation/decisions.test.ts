import { describe, expect, test } from 'bun:test'
import { runAdmin } from '../../src/admin.ts'
import type { Store } from '../../src/store/index.ts'
import { databaseNames } from '../support/database.ts'
import { forwardClock } from '../support/forward-clock.ts'
import { openVideoFixture, until, type VideoUser } from './fixture.ts'

const hour = 3_600_000

/** Runs a command, and returns its status and the lines that it prints. */
const adminOf =
  (store: Store, clock: { now(): number }) =>
  async (...words: string[]) => {
    const lines: string[] = []
    const out = (line: string) => void lines.push(line)
    const status = await runAdmin(['video', ...words], { store, out, err: out, stdin: async () => '', clock })
    return { status, lines }
  }

const usageOf = async (store: Store, { id }: VideoUser) =>
  (await store.listUsage({ user: id })).map(({ calls, outputTokens }) => ({ calls, outputTokens }))

describe.each(databaseNames)('a task that runs for ever (%s)', (database) => {
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

describe.each(databaseNames)('a task whose create call has an unknown outcome (%s)', (database) => {
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
