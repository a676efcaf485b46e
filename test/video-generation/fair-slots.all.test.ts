/** Runs with `--all`: simulates hours of a full queue on both databases; queue.test.ts tests the order. */
import { describe, expect, test } from 'bun:test'
import { openStore, type Store } from '../../src/store/index.ts'
import { databaseNames, migratedDatabase } from '../support/database.ts'
import { isSlow } from '../support/run-if.ts'
import { busyPart, type SimulationOptions, simulate } from './queue-simulation.ts'

/** Two stores on one database: two processes. */
const withStores = async (kind: (typeof databaseNames)[number], run: (stores: readonly Store[]) => Promise<void>) => {
  const database = await migratedDatabase(kind)
  const stores = [0, 1].map(() => openStore(database.url, { deadlineMs: 30_000 }))
  try {
    await stores[0]?.migrate()
    await run(stores)
  } finally {
    await Promise.all(stores.map((store) => store.close()))
    await database.remove()
  }
}

const users = Array.from({ length: 20 }, (_, index) => `user-${index}`)
/** The same for each task, and different for tasks: 90 to 110 seconds. */
const runningSeconds = (prompt: string) => 90 + ((Number(prompt.split(' ')[1]) * 7) % 21)

/** Each user creates tasks at the same rate, all together five times as many as the slots can run. */
const fiveTimes = (slots: number): SimulationOptions['arrivals'] => {
  const perSecond = (5 * slots) / 100
  let created = 0
  return async (second, create) => {
    for (; created < (second + 3) * perSecond; created++) await create(users[(created * 7) % 20] ?? '')
  }
}

const kinds = isSlow ? databaseNames : (['sqlite'] as const)

describe.each(kinds)('the queue, with two processes (%s)', (kind) => {
  test.each([
    [3, isSlow ? 8_000 : 2_100],
    [10, isSlow ? 4_000 : 1_200],
  ])(
    'shares %i slots among 20 users who want five times as many',
    async (slots, seconds) => {
      await withStores(kind, async (stores) => {
        const from = 300
        const { tasks, rejected } = await simulate({
          stores,
          slots,
          runningSeconds,
          seconds,
          arrivals: fiveTimes(slots),
        })
        const starts = new Map(users.map((user) => [user, 0]))
        for (const { user, startedAt } of tasks) {
          if (startedAt >= from) starts.set(user, (starts.get(user) ?? 0) + 1)
        }
        const counts = [...starts.values()]
        const fair = counts.reduce((sum, count) => sum + count, 0) / 20
        const busy = busyPart(tasks, slots, from, seconds)
        if (isSlow) console.log({ kind, slots, busy, fair, slowest: Math.min(...counts), most: Math.max(...counts) })
        expect(busy).toBeGreaterThan(0.95)
        expect(busy).toBeLessThanOrEqual(1)
        expect(rejected).toBe(0)
        // No user is more than a task behind or ahead.
        expect(Math.min(...counts)).toBeGreaterThanOrEqual(Math.floor(fair))
        expect(Math.max(...counts)).toBeLessThanOrEqual(Math.ceil(fair))
        expect(new Set(tasks.map(({ prompt }) => prompt)).size).toBe(tasks.length)
      })
    },
    600_000,
  )

  test.each([3, 10])(
    'lets a batch of 500 delay tasks of others by one task at most, on %i slots',
    async (slots) => {
      await withStores(kind, async (stores) => {
        const seconds = isSlow ? 2_700 : 900
        let created = 0
        const arrivedAt = new Map<string, number>()
        const arrivals: SimulationOptions['arrivals'] = async (second, create) => {
          for (; second === 0 && created < 500; created++) await create('batch')
          // One task at a time of another user, now and then.
          if (second % 90 === 30) {
            arrivedAt.set(`user-${created} ${created}`, second)
            await create(`user-${created++}`)
          }
        }
        const { tasks } = await simulate({ stores, slots, runningSeconds, seconds, arrivals })
        const batch = tasks.filter(({ user }) => user === 'batch')
        const delays = [...arrivedAt].map(([prompt, from]) => {
          const started = tasks.find((task) => task.prompt === prompt)?.startedAt ?? Number.POSITIVE_INFINITY
          return batch.filter(({ startedAt }) => startedAt > from && startedAt < started).length
        })
        expect(delays.length).toBe(seconds / 90)
        expect(Math.max(...delays)).toBeLessThanOrEqual(1)
        expect(busyPart(tasks, slots, 0, seconds)).toBeGreaterThan(0.95)
      })
    },
    600_000,
  )
})
