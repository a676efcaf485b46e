import { expect, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import { Background, backgroundOf, type Job } from '../../plugins/shared/background/background.ts'
import type { LeaseStore } from '../../plugins/shared/background/lease-store.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { settled, sleepOn, VirtualClock } from '../support/virtual-clock.ts'

/** Leases in memory, which can fail. */
const leaseStore = () => {
  const leases = new Map<string, { holder: string; until: number }>()
  const state = { fails: false, takes: 0 }
  const store: LeaseStore = {
    async takeLease(name, holder, now, until) {
      state.takes++
      if (state.fails) throw new Error('the database is down')
      const lease = leases.get(name)
      if (lease && lease.holder !== holder && lease.until > now) return false
      leases.set(name, { holder, until })
      return true
    },
    async releaseLease(name, holder) {
      if (leases.get(name)?.holder === holder) leases.delete(name)
    },
  }
  return { store, state, leases }
}

const fixture = () => {
  const clock = new VirtualClock()
  const leases = leaseStore()
  const start = (run: Job['run'], more: Partial<Job> = {}) => {
    const background = new Background({ sleep: sleepOn(clock) })
    const lease = { store: leases.store, name: 'job', clock, leaseMs: 900 }
    const job = background.repeat({ run, lease, everyMs: 100, log: noLog, failure: 'the job failed', ...more })
    let ended: Promise<boolean> | undefined
    return {
      wake: () => job.wake(),
      stop() {
        ended = background.stop()
      },
      get ended() {
        return ended
      },
    }
  }
  return { clock, start, ...leases }
}

/** A job that counts its calls. */
const counter = () => {
  const job = { calls: 0, run: async () => void job.calls++ as undefined }
  return job
}

test('the first call may be later, unless the job is woken or ends', async () => {
  const { clock, start, state } = fixture()
  const [slow, woken, ended] = [counter(), counter(), counter()]
  const first = start(slow.run, { firstMs: 500 })
  const second = start(woken.run, { firstMs: 500, lease: undefined })
  const third = start(ended.run, { firstMs: 500, lease: undefined })
  await clock.pass(400)
  expect([slow.calls, woken.calls, state.takes]).toEqual([0, 0, 0])
  second.wake()
  third.stop()
  await clock.pass(50)
  expect([slow.calls, woken.calls]).toEqual([0, 1])
  await clock.pass(100)
  expect(slow.calls).toBe(1)
  expect(ended.calls).toBe(0)
  await third.ended
  first.stop()
  second.stop()
  await clock.pass(200)
  await Promise.all([first.ended, second.ended])
})

test('a job runs in one process, and in another one when that has ended', async () => {
  const { clock, start } = fixture()
  const [one, two] = [counter(), counter()]
  const first = start(one.run)
  const second = start(two.run)
  await clock.pass(1_000)
  expect([one.calls, two.calls]).toEqual([11, 0])
  first.stop()
  await first.ended
  await clock.pass(1_000)
  expect(one.calls).toBe(11)
  expect(two.calls).toBeGreaterThan(5)
  second.stop()
  await second.ended
  expect(clock.pending).toBe(0)
})

test('a job that takes long keeps its lease', async () => {
  const { clock, start } = fixture()
  const two = counter()
  const first = start((signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined))))
  const second = start(two.run)
  await clock.pass(10_000)
  expect(two.calls).toBe(0)
  first.stop()
  await first.ended
  await clock.pass(1_000)
  expect(two.calls).toBeGreaterThan(0)
  second.stop()
  await second.ended
})

test('the signal of a job aborts when the lease is lost, and not when the job resolves', async () => {
  const { clock, start, leases } = fixture()
  const signals: AbortSignal[] = []
  const loop = start(async (signal) => void signals.push(signal) as undefined)
  await clock.pass(450)
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false, false, false])
  leases.set('job', { holder: 'other', until: clock.now() + 2_000 })
  await clock.pass(1_000)
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, true, true])
  await clock.pass(2_000)
  expect(signals.at(-1)?.aborted).toBe(false)
  loop.stop()
  expect(signals.at(-1)?.aborted).toBe(true)
  await loop.ended
})

test('a lease outlasts a short failure of the database, and no longer one', async () => {
  const { clock, start, state } = fixture()
  const job = counter()
  const loop = start(job.run)
  await clock.pass(50)
  state.fails = true
  await clock.pass(700)
  expect(job.calls).toBe(8)
  await clock.pass(2_000)
  expect(job.calls).toBeLessThan(11)
  const before = job.calls
  state.fails = false
  await clock.pass(200)
  expect(job.calls).toBeGreaterThan(before)
  loop.stop()
  await loop.ended
})

test('an error of a job is logged, and the job runs again', async () => {
  const { clock, start } = fixture()
  const warnings: unknown[] = []
  let calls = 0
  const loop = start(
    async () => {
      calls++
      throw new Error('broken')
    },
    { log: { ...noLog, warn: (fields) => void warnings.push(fields) } },
  )
  await clock.pass(250)
  expect(calls).toBe(3)
  expect(warnings).toHaveLength(3)
  loop.stop()
  await loop.ended
})

test('a wake runs the job at once, also while it runs, and a job says when it is next', async () => {
  const { clock, start } = fixture()
  let calls = 0
  const loop = start(async () => {
    calls++
    return 10_000
  })
  await clock.pass(5_000)
  expect(calls).toBe(1)
  loop.wake()
  await clock.pass(0)
  await settled()
  expect(calls).toBe(2)
  await clock.pass(10_000)
  expect(calls).toBe(3)
  loop.stop()
  await loop.ended
})

test('work without a lease runs in every process, at once', async () => {
  const { clock, start } = fixture()
  const [one, two] = [counter(), counter()]
  const loops = [start(one.run, { lease: undefined }), start(two.run, { lease: undefined })]
  expect([one.calls, two.calls]).toEqual([1, 1])
  await clock.pass(1_000)
  expect([one.calls, two.calls]).toEqual([11, 11])
  for (const loop of loops) loop.stop()
  for (const loop of loops) expect(await loop.ended).toBe(true)
  expect(clock.pending).toBe(0)
})

test('a stop waits for work that cannot be interrupted, and for what its end starts', async () => {
  const background = new Background()
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const done: string[] = []
  void background.run(async (signal) => {
    await first.promise
    done.push(`first, aborted: ${signal.aborted}`)
    void background.run(async () => {
      await second.promise
      done.push('second')
    })
  })
  const stopped = background.stop().then((all) => done.push(`stopped: ${all}`))
  await settled()
  expect(done).toEqual([])
  first.resolve()
  await settled()
  expect(done).toEqual(['first, aborted: true'])
  second.resolve()
  await stopped
  expect(done).toEqual(['first, aborted: true', 'second', 'stopped: true'])
})

test('a stop with a maximum time says whether all work has ended', async () => {
  const background = new Background()
  const { promise, resolve } = Promise.withResolvers<void>()
  void background.run(() => promise)
  expect(await background.stop(0)).toBe(false)
  resolve()
  expect(await background.stop(60_000)).toBe(true)
})

test('work that fails rejects for who started it, and a stop still ends', async () => {
  const background = new Background()
  const failing = background.run(() => Promise.reject(new Error('broken')))
  expect(await background.stop()).toBe(true)
  await expect(failing).rejects.toThrow('broken')
})

test('no work begins after the stop, and the owner keeps no listener', async () => {
  const background = new Background()
  const before = counter()
  background.repeat({ run: before.run, everyMs: 1, log: noLog, failure: 'failed' })
  await background.stop()
  const after = counter()
  background.repeat({ run: after.run, everyMs: 1, log: noLog, failure: 'failed' })
  await background.stop()
  expect([before.calls, after.calls]).toEqual([1, 0])
  expect(getEventListeners(background.signal, 'abort')).toHaveLength(0)
})

test('the option of a plugin is an owner, true for work that never ends, or nothing', () => {
  const background = new Background()
  expect(backgroundOf(background)).toBe(background)
  expect(backgroundOf(true)?.signal.aborted).toBe(false)
  expect(backgroundOf(undefined)).toBeUndefined()
  for (const wrong of [new AbortController().signal, false, null, 'yes', {}])
    expect(() => backgroundOf(wrong as never)).toThrow(TypeError)
})
