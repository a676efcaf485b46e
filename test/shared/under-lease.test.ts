import { expect, test } from 'bun:test'
import type { LeaseStore } from '../../plugins/shared/lease-store.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { runUnderLease, type UnderLeaseOptions } from '../../plugins/shared/under-lease.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'

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
  const sleep: UnderLeaseOptions['sleep'] = (ms, signal) =>
    new Promise((resolve) => {
      const cancel = clock.at(clock.now() + ms, resolve)
      signal.addEventListener('abort', () => {
        cancel()
        resolve()
      })
      if (signal.aborted) resolve()
    })
  const start = (run: UnderLeaseOptions['run'], more: Partial<UnderLeaseOptions> = {}) => {
    const stop = new AbortController()
    const loop = runUnderLease({
      ...{ store: leases.store, name: 'job', run, signal: stop.signal, log: noLog, clock, sleep },
      ...{ everyMs: 100, leaseMs: 900, ...more },
    })
    return { ...loop, stop: () => stop.abort() }
  }
  return { clock, start, ...leases }
}

/** A job that counts its calls. */
const counter = () => {
  const job = { calls: 0, run: async () => void job.calls++ as undefined }
  return job
}

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
