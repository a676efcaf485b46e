import { describe, expect, test } from 'bun:test'
import { LoginQueue } from '../../plugins/shared/login/login-queue.ts'

/** A queue whose jobs end when the test calls `end`. */
const openQueue = (atOnce: number, maxWaiting: number) => {
  const queue = new LoginQueue({ atOnce, maxWaiting, message: 'full' })
  const started: string[] = []
  const rejected: string[] = []
  const ends: (() => void)[] = []
  return {
    started,
    rejected,
    queue,
    /** Adds a job. The first letter names its flow; a capital letter means a known flow. */
    put(name: string, flow = name.slice(0, 1)) {
      const job = () =>
        new Promise<void>((resolve) => {
          started.push(name)
          ends.push(resolve)
        })
      queue
        .run({ name: flow, known: /[A-Z]/.test(flow) }, job)
        .catch(({ status, message }) => rejected.push(`${name} ${status} ${message}`))
    },
    /** Ends `count` running jobs, the oldest first. */
    async end(count: number) {
      for (let nth = 0; nth < count; nth++) {
        await Bun.sleep(0)
        ends.shift()?.()
      }
      await Bun.sleep(0)
    },
  }
}

describe('a fair queue', () => {
  test('runs a few jobs concurrently, and serves the waiting flows round robin', async () => {
    const { put, started, end } = openQueue(2, 9)
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) put(name)
    await end(0)
    expect(started).toEqual(['a1', 'a2'])
    await end(7)
    expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2'])
  })

  test('serves known and unknown flows in turn', async () => {
    const { put, started, end } = openQueue(1, 9)
    for (const name of ['x', 'a', 'b', 'c', 'd', 'A1', 'A2', 'B1']) put(name)
    await end(8)
    expect(started).toEqual(['x', 'A1', 'a', 'B1', 'b', 'A2', 'c', 'd'])
  })

  test('full of one flow admits another flow in its place, until both have the same number', async () => {
    const { put, started, rejected, end } = openQueue(1, 4)
    for (const name of ['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'b3', 'a6']) put(name)
    await end(0)
    expect(rejected).toEqual(['a5 503 full', 'a4 503 full', 'a3 503 full', 'b3 503 full', 'a6 503 full'])
    await end(9)
    expect(started).toEqual(['a0', 'a1', 'b1', 'a2', 'b2'])
  })

  test('full of flows with one job each rejects every further job', async () => {
    const { put, rejected, end } = openQueue(1, 2)
    for (const name of ['x', 'a', 'b', 'c']) put(name)
    put('empty', '')
    await end(0)
    expect(rejected).toEqual(['c 503 full', 'empty 503 full'])
  })

  test('full of unknown flows with one job each admits one job of each known flow, and no further unknown one', async () => {
    const { put, started, rejected, end } = openQueue(1, 3)
    for (const name of ['x', 'a', 'b', 'c']) put(name)
    for (const name of ['A1', 'B1', 'A2', 'd']) put(name)
    await end(0)
    expect(rejected).toEqual(['c 503 full', 'b 503 full', 'A2 503 full', 'd 503 full'])
    for (const name of ['C1', 'D1', 'A3']) put(name)
    await end(0)
    expect(rejected.slice(4)).toEqual(['a 503 full', 'D1 503 full', 'A3 503 full'])
    await end(4)
    expect(started).toEqual(['x', 'A1', 'B1', 'C1'])
    for (const name of ['y', 'e']) put(name)
    await end(2)
    expect(started).toEqual(['x', 'A1', 'B1', 'C1', 'y', 'e'])
  })

  test('continues after a job that fails, and has its full capacity again afterwards', async () => {
    const { put, started, end, queue } = openQueue(1, 1)
    await expect(queue.run({ name: 'a' }, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    for (const name of ['a', 'b', 'c']) put(name)
    await end(2)
    put('d')
    put('e')
    await end(2)
    expect(started).toEqual(['a', 'b', 'd', 'e'])
  })

  test('rejects with Retry-After', async () => {
    const { put, queue } = openQueue(1, 0)
    put('a')
    const problem = await queue.run({ name: 'b' }, async () => {}).catch((error) => error)
    expect(problem.headers).toEqual({ 'retry-after': '1' })
  })
})
