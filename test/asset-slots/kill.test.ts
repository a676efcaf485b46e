import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Background } from '../../plugins/shared/background/background.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { migratedDatabase, repeatOnDatabases } from '../support/database.ts'
import { sleepOn, VirtualClock } from '../support/virtual-clock.ts'
import { memoryOriginals, openProcess, ownIdIn, type SlotProcess } from './fixture.ts'

const slots = 2

/** What a process does until it is killed. Resolves with what its users were told. */
const scenarios = {
  'creates an asset in the slot of another one': async (process: SlotProcess, group: string) => {
    await process.asset('ann', group, 'new')
    return { added: 1, removed: undefined }
  },
  'creates an asset again': async (process: SlotProcess, _: string, [first = '']: readonly string[]) => {
    await process.placed([first], 'cgt-1')
    return { added: 0, removed: undefined }
  },
  'deletes an asset': async (process: SlotProcess, _: string, ids: readonly string[]) => {
    const removed = ids.at(-1)
    const { status, text } = await process.ask('ann', 'DELETE', `/assets/${removed}`)
    if (status !== 200) throw new Error(text)
    return { added: 0, removed }
  },
}

/** Ends a process at one of its steps: a call of the store or of the upstream, before or after it has had its effect. */
class Kill {
  #left: number
  readonly #after: boolean

  constructor(step: number, after: boolean) {
    this.#left = step
    this.#after = after
  }

  async step<Value>(call: () => Promise<Value>): Promise<Value> {
    this.#left--
    if (this.#left < 0 || (this.#left === 0 && !this.#after)) throw new Error('killed')
    const value = await call()
    if (this.#left === 0) throw new Error('killed')
    return value
  }

  get isDead(): boolean {
    return this.#left <= 0
  }

  store(store: Store): Store {
    return new Proxy(store, {
      get: (target, name) => {
        const member = target[name as keyof Store] as unknown
        if (typeof member !== 'function' || !steps.has(String(name))) return member
        return (...given: unknown[]) => this.step(() => member.apply(target, given))
      },
    })
  }
}

const steps: ReadonlySet<string> = new Set([
  ...['addSlottedAsset', 'claimSlot', 'confirmCreated', 'releaseSlot', 'confirmDeleted', 'takeOver'],
  ...['noteUpstreamItem', 'removeSlottedAsset', 'touchSlottedAssets', 'recordAsset', 'slottedAssets'],
])

repeatOnDatabases('after a kill at any step, nothing is lost, and nothing is there twice', ({ kind }) => {
  let emulator: Emulator
  let first: Emulator
  beforeAll(async () => {
    emulator = await startEmulator({ processingMs: 0 })
    first = await startEmulator({ processingMs: 0, account: 1 })
  })
  afterAll(async () => {
    await emulator.stop()
    await first.stop()
  })

  for (const [name, run, account] of [
    ...Object.entries(scenarios).map((scenario) => [...scenario, undefined] as const),
    ['creates an asset again on one of several accounts', scenarios['creates an asset again'], 'second'] as const,
  ]) {
    test(`when a process ${name}`, async () => {
      const made = await migratedDatabase(kind)
      const store = openStore(made.url, { deadlineMs: 60_000 })
      const clock = new VirtualClock(4, Date.now())
      const originals = memoryOriginals()
      const accounts = [
        { name: 'first', kind: rest(first.rest) },
        { name: 'second', kind: rest(emulator.rest) },
      ]
      const options = {
        ...{ clock, slots: { slots, originals } },
        ...(account !== undefined && { kind: undefined, accounts }),
      }
      const begun = openProcess(store, emulator, options)
      const { id: group } = emulator.library.addGroup({ name: `${name} ${kind}` })
      const owned = { id: group, user: 'ann', type: 'AIGC', name, createdAt: 1 }
      await store.adoptGroup({ ...owned, ...(account !== undefined && { account }) })
      let ids: readonly string[] = []
      for (const each of ['a', 'b', 'c']) {
        ids = [...ids, await begun.asset('ann', group, each)]
        await begun.ask('ann', 'GET', `/assets/${ids.at(-1)}`)
        await clock.pass(1_000)
      }
      let kills = 0
      for (const after of [false, true]) {
        for (let step = 1; ; step++) {
          const kill = new Kill(step, after)
          const killed = openProcess(kill.store(store), emulator, {
            ...options,
            fetch: (url, init) => kill.step(() => fetch(url, init)),
          })
          const told = await run(killed, group, ids).catch(() => undefined)
          const isDead = kill.isDead
          // Another process goes on, when the leases of the killed one are over.
          await clock.pass(70_000)
          const background = new Background({ sleep: sleepOn(clock) })
          const other = openProcess(store, emulator, { ...options, background })
          // The database needs real time.
          const key = account ?? ''
          while ((await store.dueSlottedAssets({ key, name: key }, 2 ** 52, 1)).length > 0) {
            await clock.pass(2_000)
            await new Promise((resolve) => setTimeout(resolve, 2))
          }
          await background.stop()
          const listed = await other.list('ann')
          const lost = ids.filter((id) => !listed.includes(id))
          if (name !== 'deletes an asset') expect(lost).toEqual([])
          else expect(lost).toEqual(lost.length > 0 || told?.removed ? [ids.at(-1) ?? ''] : [])
          const added = listed.filter((id) => !ids.includes(id))
          expect(added.length).toBeLessThanOrEqual(1)
          if (told) expect(added).toHaveLength(told.added)
          // Each asset of the upstream is that of one in the list, and no two are of the same.
          const names = emulator.library.assets(group).map((asset) => ownIdIn(asset.name))
          expect(new Set(names).size).toBe(names.length)
          expect(names.filter((each) => !listed.includes(each))).toEqual([])
          expect(names.length).toBeLessThanOrEqual(slots)
          expect(first.library.assets()).toEqual([])
          for (const id of listed) {
            await other.placed([id], 'cgt-2')
            const { json } = await other.ask('ann', 'GET', `/assets/${id}`)
            expect(json.Result).toMatchObject({ Id: id, Status: 'Active' })
          }
          ids = listed
          for (const id of added) await other.ask('ann', 'DELETE', `/assets/${id}`)
          ids = ids.filter((id) => !added.includes(id))
          if (lost.length > 0 || ids.length < 3) {
            ids = [...ids, await other.asset('ann', group, `again${step}`)]
            await other.ask('ann', 'GET', `/assets/${ids.at(-1)}`)
          }
          if (!isDead) break
          kills++
        }
      }
      expect(kills).toBeGreaterThan(5)
      await store.close()
      await made.remove()
    }, 120_000)
  }
})
