import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { ClaimedVideoTask } from '../../plugins/video-generation/store/queue.ts'
import { repetitions } from '../support/repetitions.ts'
import { eachVideoQueue, type RecordedQueue } from '../support/video-queues.ts'
import { hour, newTask, start, walkVideoQueue } from './video-queue-walk.ts'

eachVideoQueue('the queue of video tasks', (queue) => {
  let stores: readonly [RecordedQueue, RecordedQueue]
  beforeAll(async () => {
    stores = [await queue.open(), await queue.open()]
  })

  // video-queue-seeds.all.test.ts has further seeds.
  test.each(repetitions(1, 2))(
    'keeps its rules under random steps of two processes that crash (seed %i)',
    (seed) => walkVideoQueue(queue, stores, seed),
    300_000,
  )

  test('suspends a task: it takes no slot, has no place, and comes back at its old one', async () => {
    const pool = randomUUID()
    const limits = { running: 1, waitingPerUser: 2, waitingBytesPerUser: 150 }
    const added = [0, 1, 2].map((nth) => newTask('ann', pool, start, `${pool}-${nth}`))
    const [first] = await Promise.all(added.slice(0, 1).map((task) => stores[0].addVideoTask(task, limits, start + 1)))
    if (first?.outcome !== 'claimed') throw new Error('the slot is free')
    for (const task of added.slice(1)) await stores[0].addVideoTask(task, limits, start + 1)
    const suspension = { fields: '{"a":1}', dueAt: start + 10, limits }
    expect(await stores[0].suspendVideoTask(first.task, suspension, start)).toBe('suspended')
    // Its slot is free. A second one is within the maximum, and a third one is not.
    const second = await stores[1].claimVideoTask(pool, limits, start, start + 1)
    expect(second?.id).toBe(`${pool}-1`)
    expect(await stores[1].videoQueuePlace(first.task, limits, start)).toBeUndefined()
    if (!second) throw new Error('it is its turn')
    const narrow = { ...suspension, limits: { ...limits, waitingPerUser: 1 } }
    expect(await stores[1].suspendVideoTask(second, narrow, start)).toBe('full')
    const short = { ...suspension, limits: { running: 1, waitingBytesPerUser: 60 } }
    expect(await stores[1].suspendVideoTask(second, short, start)).toBe('full')
    expect((await stores[0].countVideoTasks(1_000)).filter((count) => count.pool === pool)).toMatchObject([
      { phase: 'waiting', count: 1 },
      { phase: 'running', count: 1 },
    ])
    // It is due in its time, and comes back before the younger ones.
    const due = async (now: number) =>
      (await stores[0].suspendedVideoTasks(now, 1_000)).filter(({ model }) => model === pool)
    expect(await due(start + 9)).toEqual([])
    const [task] = await due(start + 10)
    expect(task).toMatchObject({ id: first.task.id, phase: 'waiting', status: 'queued', fields: '{"a":1}' })
    expect(await stores[1].resumeVideoTask(first.task, '{"b":1}', start)).toBe(true)
    expect(await stores[0].resumeVideoTask(first.task, '{"b":1}', start)).toBe(false)
    await stores[0].failVideoTask(second, '{}', start)
    const again = await stores[0].claimVideoTask(pool, limits, start, start + 1)
    expect(again).toMatchObject({ id: first.task.id, fields: '{"b":1}', attempts: 2, request: first.task.request })
    expect(await stores[0].suspendVideoTask(first.task, suspension, start)).toBe('ended')
    // It ends like one that waits.
    if (!again) throw new Error('it is its turn')
    await stores[0].suspendVideoTask(again, suspension, start)
    expect(await stores[1].cancelWaitingVideoTask('ann', again.id, start + 2)).toBe(true)
    expect(await due(start + 20)).toEqual([])
    expect((await stores[0].dueVideoCopies(start + 1_000, 1_000)).filter(({ model }) => model === pool)).toEqual([])
    expect(await stores[0].videoTaskRequest(again.id)).toBe('')
    const last = await stores[0].claimVideoTask(pool, limits, start, start + 1)
    if (!last) throw new Error('it is its turn')
    await stores[0].suspendVideoTask(last, suspension, start)
    await stores[0].expireWaitingVideoTasks(start + 100 * hour, 1_000)
    expect(await stores[0].videoTask('ann', last.id)).toMatchObject({ phase: 'ended', status: 'expired' })
    expect(await due(start + 200 * hour)).toEqual([])
  })

  test('starts tasks of all users in turn, claimed by two processes at once', async () => {
    const pool = randomUUID()
    const users = Array.from({ length: 20 }, (_, index) => `${pool}-${String(index).padStart(2, '0')}`)
    const limits = { running: 3 }
    for (const user of users) {
      for (let nth = 0; nth < 5; nth++) {
        await stores[0].addVideoTask(newTask(user, pool, start, `${user}-${nth}`), { running: 0 }, start)
      }
    }
    const starts = new Map(users.map((user) => [user, 0]))
    for (let started = 0; started < 100; ) {
      const claimed = (
        await Promise.all(
          [0, 1, 0, 1].map((n) => (stores[n] as RecordedQueue).claimVideoTask(pool, limits, start, start + 1000)),
        )
      ).flatMap((claim) => claim ?? [])
      expect(claimed).toHaveLength(Math.min(3, 100 - started))
      started += claimed.length
      for (const { id, user } of claimed) {
        expect(id).toBe(`${user}-${starts.get(user)}`)
        starts.set(user, (starts.get(user) ?? 0) + 1)
      }
      const counts = [...starts.values()]
      // Those of one moment may be one round apart.
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
      await Promise.all(claimed.map((claim) => stores[1].failVideoTask(claim, '{}', start)))
    }
  }, 300_000)

  test('starts a task of another user before the second next of a batch', async () => {
    const pool = randomUUID()
    const limits = { running: 2 }
    const add = (user: string, store: RecordedQueue) =>
      store.addVideoTask(newTask(user, pool, start), limits, start + 1000)
    const begun: ClaimedVideoTask[] = []
    for (let nth = 0; nth < 60; nth++) {
      const added = await add('batch', stores[0])
      if (added.outcome === 'claimed') begun.push(added.task)
    }
    expect(begun).toHaveLength(2)
    const claimAfterEnd = async () => {
      const ended = begun.shift()
      if (ended) await stores[0].failVideoTask(ended, '{}', start)
      const claimed = await stores[1].claimVideoTask(pool, limits, start, start + 1000)
      if (claimed) begun.push(claimed)
      return claimed?.user
    }
    // An attempt without a free slot writes nothing.
    const before = await queue.writesOf(pool)
    expect(await stores[1].claimVideoTask(pool, limits, start, start + 1000)).toBeUndefined()
    expect(await queue.writesOf(pool)).toEqual(before)
    for (let nth = 0; nth < 10; nth++) expect(await claimAfterEnd()).toBe('batch')
    expect(await add('one', stores[1])).toEqual({ outcome: 'waiting' })
    expect(await claimAfterEnd()).toBe('one')
    await add('two', stores[1])
    await add('one', stores[1])
    expect([await claimAfterEnd(), await claimAfterEnd(), await claimAfterEnd()].toSorted()).toEqual([
      'batch',
      'one',
      'two',
    ])
  })

  test('saves no turns for a user who sent nothing', async () => {
    const pool = randomUUID()
    const [ann, bob] = [randomUUID(), randomUUID()]
    const add = async (user: string, count: number) => {
      for (let nth = 0; nth < count; nth++) {
        await stores[0].addVideoTask(newTask(user, pool, start), { running: 0 }, start)
      }
    }
    const order = async (count: number) => {
      let users = ''
      for (let nth = 0; nth < count; nth++) {
        const claimed = await stores[1].claimVideoTask(pool, { running: 1 }, start, start)
        if (!claimed) throw new Error('no task is claimed')
        users += claimed.user === ann ? 'a' : 'b'
        await stores[0].failVideoTask(claimed, '{}', start)
      }
      return users
    }
    await add(ann, 20)
    expect(await order(10)).toBe('aaaaaaaaaa')
    await add(bob, 3)
    expect(await order(6)).toBe('bababa')
    expect(await order(5)).toBe('aaaaa')
    await add(bob, 3)
    expect(await order(3)).toBe('bab')
  })

  test('remembers the last turn of a user whose tasks have ended', async () => {
    const [pool, ann, bob] = [randomUUID(), randomUUID(), randomUUID()]
    const add = (user: string) => stores[0].addVideoTask(newTask(user, pool, start), { running: 0 }, start)
    const claim = async () => {
      const claimed = await stores[1].claimVideoTask(pool, { running: 1 }, start, start)
      if (!claimed) throw new Error('no task is claimed')
      await stores[0].failVideoTask(claimed, '{}', start)
      return claimed.user
    }
    await add(ann)
    expect(await claim()).toBe(ann)
    await add(ann)
    await add(bob)
    expect([await claim(), await claim()]).toEqual([bob, ann])
  })

  test('starts tasks in the ratio of weights', async () => {
    const pool = randomUUID()
    const users: readonly string[] = [randomUUID(), randomUUID(), randomUUID()]
    const weightOf = (user: string) => users.indexOf(user) + 1
    for (const user of users) {
      for (let nth = 0; nth < 12; nth++) {
        await stores[0].addVideoTask(newTask(user, pool, start), { running: 0 }, start)
      }
    }
    const counts = [0, 0, 0]
    for (let nth = 0; nth < 24; nth++) {
      const claimed = await stores[1].claimVideoTask(pool, { running: 1, weightOf }, start, start)
      if (!claimed) throw new Error('no task is claimed')
      const of = users.indexOf(claimed.user)
      counts[of] = (counts[of] ?? 0) + 1
      await stores[0].failVideoTask(claimed, '{}', start)
    }
    expect(counts).toEqual([4, 8, 12])
  })
})
