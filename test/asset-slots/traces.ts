import { expect } from 'bun:test'
import { startEmulator } from '../../src/emulator/index.ts'
import { openStore } from '../../src/store/index.ts'
import { migratedDatabase, type TestDatabase } from '../support/database.ts'
import { addWaitingTask, counter, openProcess } from './fixture.ts'

export interface TraceSize {
  readonly slots: number
  /** Assets of the library. */
  readonly assets: number
  /** Those of them that tasks use. */
  readonly inUse: number
  readonly tasks: number
  /** Tasks that wait at a time. */
  readonly waiting: number
}

/** The assets of each task, as numbers from 0. */
export type Trace = readonly (readonly number[])[]

/** A generator of numbers below 1 that gives the same ones each time (mulberry32). */
const randomOf = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export const traces = {
  'any asset as likely as any other': ({ inUse, tasks }: TraceSize): Trace => {
    const random = randomOf(1)
    return Array.from({ length: tasks }, () =>
      Array.from({ length: 1 + Math.floor(random() * 3) }, () => Math.floor(random() * inUse)),
    )
  },
  'few assets far more often than others': ({ inUse, tasks }: TraceSize): Trace => {
    const random = randomOf(2)
    const skewed = () => Math.min(inUse - 1, Math.floor(random() ** -1.6) - 1)
    return Array.from({ length: tasks }, () => Array.from({ length: 1 + Math.floor(random() * 3) }, skewed))
  },
  'users who work on one scene after the other': ({ inUse, tasks }: TraceSize): Trace => {
    const random = randomOf(3)
    const [users, scene] = [5, 6]
    const scenes = Array.from({ length: users }, () => 0)
    return Array.from({ length: tasks }, () => {
      const user = Math.floor(random() * users)
      if (random() < 0.1) scenes[user] = Math.floor(random() * (inUse / scene))
      const start = (scenes[user] ?? 0) * scene
      return Array.from({ length: 2 }, () => (start + Math.floor(random() * scene)) % inUse)
    })
  },
}

/** Misses of the optimum that knows the whole trace (Bélády: it evicts what is used again last), from an empty cache. */
export const optimum = (trace: Trace, slots: number): number => {
  const uses = trace.flat()
  const next = uses.map((asset, at) => {
    const again = uses.indexOf(asset, at + 1)
    return again < 0 ? Number.POSITIVE_INFINITY : again
  })
  const cache = new Map<number, number>()
  let misses = 0
  for (const [at, asset] of uses.entries()) {
    if (!cache.has(asset)) {
      misses++
      if (cache.size >= slots) {
        const [victim] = [...cache].reduce((worst, each) => (each[1] > worst[1] ? each : worst))
        cache.delete(victim)
      }
    }
    cache.set(asset, next[at] ?? 0)
  }
  return misses
}

/** A library that is larger than its slots, at an account that is full with these: one creation too many would be refused. */
export interface TracedLibrary extends AsyncDisposable {
  /**
   * Lets tasks use assets in the order of a trace, which begins with the asset `first` of the library. None of them may
   * have been in use. Resolves with the creations of the gateway and of the optimum.
   */
  follow(trace: Trace, first?: number): Promise<{ readonly creates: number; readonly optimum: number }>
}

export const openTracedLibrary = async (kind: TestDatabase['kind'], size: TraceSize): Promise<TracedLibrary> => {
  // Full with the slots and the groups.
  const emulator = await startEmulator({ processingMs: 0, quota: size.slots + 1 })
  const made = await migratedDatabase(kind)
  const store = openStore(made.url, { deadlineMs: 60_000 })
  const process = openProcess(store, emulator, { slots: { slots: size.slots } })
  const group = await process.group('ann', 'trace')
  const ids: string[] = []
  for (let at = 0; at < size.assets; at++) {
    ids.push(await process.asset('ann', group, `t${at}`))
    await process.ask('ann', 'GET', `/assets/${ids.at(-1)}`)
  }
  return {
    async follow(trace, first = 0) {
      const creates = counter(emulator, 'CreateAsset')
      const idsOf = (at: number) => [...new Set(trace[at]?.map((asset) => ids[first + asset] ?? ''))]
      const taskOf = (at: number) => `cgt-${first}-${String(at).padStart(6, '0')}`
      let added = 0
      for (const at of trace.keys()) {
        for (; added < Math.min(trace.length, at + size.waiting); added++)
          await addWaitingTask(store, taskOf(added), 'ann', idsOf(added))
        await process.placed(idsOf(at), taskOf(at))
        expect(await store.cancelWaitingVideoTask('ann', taskOf(at), 1)).toBe(true)
        await process.clock.pass(1_000)
      }
      const refused = emulator.calls.filter(({ action, status }) => action === 'CreateAsset' && status !== 200)
      expect(refused).toEqual([])
      const listed = await process.list('ann')
      expect(listed.toSorted()).toEqual(ids.toSorted())
      return { creates: creates(), optimum: optimum(trace, size.slots) }
    },
    async [Symbol.asyncDispose]() {
      await store.close()
      await made.remove()
      await emulator.stop()
    },
  }
}
