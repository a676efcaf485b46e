import { describe, expect, test } from 'bun:test'
import { noLog } from '../../plugins/shared/problem.ts'
import { createDispatcher } from '../../plugins/video-generation/queue/dispatch.ts'
import { createLateTasks } from '../../plugins/video-generation/queue/late-tasks.ts'
import { settleClaims } from '../../plugins/video-generation/queue/settle.ts'
import { safetyIdentifierOf, type VideoContext } from '../../plugins/video-generation/queue/submit.ts'
import type { ClaimedVideoTask } from '../../plugins/video-generation/store/queue.ts'
import type { DescribeVideoTask, VideoTask } from '../../plugins/video-generation/tasks/task.ts'
import { oneVideoAccount } from '../../plugins/video-generation/upstream/accounts.ts'
import type { VideoClient } from '../../plugins/video-generation/upstream/client.ts'
import { openStore } from '../../src/store/index.ts'
import { migratedDatabase, repeatedDatabases } from '../support/database.ts'
import { openVideoFixture, until } from './fixture.ts'

describe.each(repeatedDatabases)('the end of a task (%s)', (database) => {
  for (const [what, costOf] of [
    [
      'cannot be computed',
      () => {
        throw new Error('no price')
      },
    ],
    ['is no integer', () => 0.5],
    ['is no safe integer', () => 2 ** 60],
  ] as const)
    test(`whose cost ${what} is stored without it, and so are the ends of the other tasks`, async () => {
      let poisoned = ''
      await using fixture = await openVideoFixture({
        database,
        gateway: { costOf: ({ user }) => (user === poisoned ? costOf() : 1) },
      })
      const { ann, bob, emulator } = fixture
      poisoned = ann.id
      const ids = [await ann.created(), await bob.created()]
      for (const task of emulator.video.tasks()) emulator.video.finish(task.id)
      await until(async () => (await bob.statusOf(ids[1] ?? '')) === 'succeeded')
      await until(async () => (await ann.statusOf(ids[0] ?? '')) === 'succeeded')
      const usage = await fixture.store.listUsage()
      expect(usage.map(({ user, cost }) => [user, cost]).toSorted()).toEqual(
        [
          [ann.id, undefined],
          [bob.id, 1],
        ].toSorted(),
      )
    })

  test('that the store does not accept is put off, and the ends of the other tasks are stored', async () => {
    const fresh = await migratedDatabase(database)
    const store = openStore(fresh.url, { deadlineMs: 60_000 })
    let poisoned = ''
    const moveVideoTasks: typeof store.moveVideoTasks = async (moves, at) => {
      if (moves.some(({ id, status }) => id === poisoned && status === 'succeeded')) throw new Error('not accepted')
      return store.moveVideoTasks(moves, at)
    }
    {
      await using fixture = await openVideoFixture({ store: { ...store, moveVideoTasks } })
      const { ann, bob, emulator } = fixture
      poisoned = await ann.created('poisoned')
      const others = [await bob.created(), await ann.created(), await bob.created()]
      for (const task of emulator.video.tasks()) emulator.video.finish(task.id)
      for (const id of others)
        await until(async () => ((await bob.statusOf(id)) ?? (await ann.statusOf(id))) === 'succeeded')
      expect(await ann.statusOf(poisoned)).not.toBe('succeeded')
      const id = poisoned
      poisoned = ''
      await until(async () => (await ann.statusOf(id)) === 'succeeded')
    }
    await store.close()
    await fresh.remove()
  })
})

describe.each(repeatedDatabases)('a waiting task whose request is damaged (%s)', (database) => {
  test('fails, and leaves its slot to the next one', async () => {
    const fresh = await migratedDatabase(database)
    const store = openStore(fresh.url, { deadlineMs: 60_000 })
    let poisoned = ''
    const claimVideoTask: typeof store.claimVideoTask = async (...claim) => {
      const task = await store.claimVideoTask(...claim)
      return task?.id === poisoned ? { ...task, request: '' } : task
    }
    {
      await using fixture = await openVideoFixture({
        store: { ...store, claimVideoTask },
        gateway: { slots: { '*': { running: 1 } }, createTimeoutMs: 60_000, settleMs: 60_000 },
      })
      const { ann, bob, emulator } = fixture
      await ann.created('first')
      poisoned = await ann.created('poisoned')
      const next = await bob.created('next')
      const running = () => emulator.video.tasks().filter(({ status }) => status === 'running')
      const isOver = async () => {
        for (const task of running()) emulator.video.finish(task.id)
        return (await ann.statusOf(poisoned)) === 'failed' && (await bob.statusOf(next)) === 'succeeded'
      }
      await until(isOver)
      expect((await ann.get(poisoned)).json.error.code).toBe('InternalServiceError')
    }
    await store.close()
    await fresh.remove()
  })
})

test.each([
  ['never ends', () => new Promise<never>(() => {})],
  ['always fails', () => Promise.reject(new Error('no result'))],
])('a result whose copy %s delays no other', async (_, copyPoisoned) => {
  let poisoned = ''
  const copied: string[] = []
  const results = {
    ...{ keepMs: 1e9, timeoutMs: 60_000, linkTo: (key: string) => `https://files.example/${key}` },
    copy: async ({ user, name }: { readonly user: string; readonly name: string }) => {
      if (user === poisoned) return copyPoisoned()
      copied.push(name)
      return name
    },
    remove: async () => {},
  }
  await using fixture = await openVideoFixture({ gateway: { results, copyPauseMs: 5 } })
  const { ann, bob, emulator } = fixture
  poisoned = ann.id
  await ann.created('poisoned')
  const others: string[] = []
  for (let nth = 0; nth < 6; nth++) others.push(await bob.created())
  for (const task of emulator.video.tasks()) emulator.video.finish(task.id)
  for (const id of others) await until(async () => (await bob.statusOf(id)) === 'succeeded')
  expect(copied.toSorted()).toEqual(others.toSorted())
})

test('a sweep that fails does not keep the others from theirs', async () => {
  const store = openStore('sqlite::memory:')
  const sweeps: string[] = []
  await using _ = await openVideoFixture({
    store: {
      ...store,
      async sweepVideoTasks() {
        throw new Error('not swept')
      },
      sweepVideoRequests: async () => sweeps.push('requests'),
      sweepVideoPools: async () => sweeps.push('pools'),
    },
  })
  await until(() => sweeps.length === 2)
  expect(sweeps).toEqual(['requests', 'pools'])
})

test('a sweep of many old tasks goes on from round to round, and others are polled in between', async () => {
  const store = openStore('sqlite::memory:')
  const steps: string[] = []
  let old = 1_234
  await using fixture = await openVideoFixture({
    store: {
      ...store,
      async sweepVideoTasks(_, max) {
        const swept = Math.min(old, max)
        old -= swept
        steps.push('sweep')
        return Array.from({ length: swept }, (_, nth) => claimOf(`old ${nth}`))
      },
      async unsettledVideoTasks(...asked) {
        steps.push('round')
        return store.unsettledVideoTasks(...asked)
      },
    },
  })
  await until(() => old === 0 && steps.at(-1) === 'round')
  expect(fixture.ann).toBeDefined()
  const [, ...rounds] = steps.join(' ').split('round')
  expect(rounds.map((round) => round.trim().split(' ').filter(Boolean).length).slice(0, 3)).toEqual([5, 5, 3])
  expect(steps.filter((step) => step === 'sweep')).toHaveLength(13)
})

test('a task that cannot be described has an event all the same, so that its transaction does not fail', async () => {
  const store = openStore('sqlite::memory:')
  let describeTask: DescribeVideoTask | undefined
  await using fixture = await openVideoFixture({
    store: {
      ...store,
      describeVideoEvents(describe) {
        describeTask = describe
      },
    },
  })
  await fixture.ann.created()
  const broken = { ...claimOf('broken'), task: '{', fields: '{' }
  expect(describeTask?.(broken)).toEqual({ type: 'video.queued', data: '{"id":"broken","status":"queued"}' })
})

const now = 1_700_000_000_000
const secret = 'secret of poisoned rows'

/** A claim whose answer was lost. */
const claimOf = (id: string, serviceTier: VideoTask['serviceTier'] = 'default') =>
  ({
    ...{ id, user: `user of ${id}`, model: 'm', serviceTier, phase: 'submitting', status: 'queued', fields: '{}' },
    ...{
      createdAt: now,
      claimedAt: now,
      expiresAt: now + 1e8,
      leaseUntil: now,
      attempts: 1,
      nonce: 4_000,
      request: '',
    },
  }) as ClaimedVideoTask

/** The task of a claim at the upstream. */
const taskOf = ({ id, user, nonce }: ClaimedVideoTask) => ({
  ...{ id: `up-${id}`, status: 'queued', createdAt: now / 1000, expiresAfter: nonce },
  safetyIdentifier: safetyIdentifierOf(secret, user),
})

const contextOf = (client: object, store: object, more: object = {}) =>
  ({
    ...{ client, identifierSecret: secret, clock: { now: () => now }, log: noLog, settleMs: 100, pollMs: 10 },
    accounts: oneVideoAccount(client as VideoClient),
    ...{ createTimeoutMs: 10, leaseMs: 15, limitsOf: () => ({ running: 9 }) },
    store: { knownUpstreamIds: async () => new Set(), ...store },
    ...more,
  }) as unknown as VideoContext

describe('lost answers', () => {
  const [poisoned, flex, good] = [claimOf('poisoned'), claimOf('of the tier flex', 'flex'), claimOf('good')]
  const list = async ({ serviceTier, status }: { serviceTier: string; status: string }) => {
    if (serviceTier === 'flex') throw new Error('the list fails')
    return { tasks: status === 'queued' ? [poisoned, good].map(taskOf) : [], total: 2 }
  }

  test('are settled, also if the list of another tier fails, and if the store does not accept one of them', async () => {
    const confirmed: string[] = []
    const deferred: string[] = []
    const context = contextOf(
      { list },
      {
        async confirmVideoTask({ id }: VideoTask) {
          if (id === 'poisoned') throw new Error('not accepted')
          confirmed.push(id)
          return true
        },
        deferVideoClaim: async ({ id }: VideoTask) => void deferred.push(id),
      },
    )
    const settled = await settleClaims([flex, poisoned, good], context)
    expect([confirmed, deferred, [...settled]]).toEqual([
      ['good'],
      ['of the tier flex', 'poisoned'],
      [['good', 'submitted']],
    ])
  })

  test('that all fail reject, and are put off', async () => {
    const deferred: string[] = []
    const context = contextOf({ list }, { deferVideoClaim: async ({ id }: VideoTask) => void deferred.push(id) })
    await expect(settleClaims([flex], context)).rejects.toThrow('the list fails')
    expect(deferred).toEqual(['of the tier flex'])
  })

  test('whose tasks appear late are cancelled, also if the list of another tier fails', async () => {
    const cancelled: string[] = []
    const late = createLateTasks(
      contextOf(
        {
          list,
          async delete(id: string) {
            if (id === 'up-poisoned') throw new Error('not cancelled')
            cancelled.push(id)
          },
        },
        {},
      ),
    )
    for (const claim of [flex, poisoned, good]) late.add(claim)
    await expect(late.cancel(new AbortController().signal)).rejects.toThrow('the list fails')
    expect(cancelled).toEqual(['up-good'])
  })
})

describe('the pools', () => {
  /** Submits from pools with so many tasks each; a claim from the pool `bad` fails. Returns the pools in the order of their submissions. */
  const dispatch = async (counts: Readonly<Record<string, number>>) => {
    const left = new Map(Object.entries(counts))
    const submitted: string[] = []
    const context = contextOf(
      { create: async () => `up-${submitted.length}` },
      {
        poolsWithWaiting: async () => [...left.keys()],
        async claimVideoTask(pool: string) {
          if (pool === 'bad') throw new Error('not claimed')
          const count = left.get(pool) ?? 0
          left.set(pool, count - 1)
          if (count <= 0) return undefined
          submitted.push(pool)
          return { ...claimOf(pool), request: '{}', leaseUntil: now + 1_000 }
        },
        confirmVideoTask: async () => true,
      },
      { callbackUrlOf: () => undefined, maxPriority: 0 },
    )
    await createDispatcher(context).dispatch(new AbortController().signal)
    return submitted
  }

  test('do not wait for one whose tasks cannot be claimed', async () => {
    expect((await dispatch({ bad: 1, good: 3 })).toSorted()).toEqual(['good', 'good', 'good'])
  })

  test('take turns: none waits until others have no task left', async () => {
    const busy = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`busy ${index}`, 50]))
    const submitted = await dispatch({ ...busy, last: 1 })
    expect(submitted).toHaveLength(401)
    expect(submitted.indexOf('last')).toBeLessThan(20)
  })
})
