import { afterAll, beforeAll } from 'bun:test'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { migratedDatabase, type TestDatabase } from '../support/database.ts'
import { ownIdIn } from './fixture.ts'
import { openTextProcess, type TextCall, type TextProcess, type TextProcessOptions } from './text-fixture.ts'

export interface TextLibrary {
  readonly emulator: Emulator
  /** A process with a database of its own, and an upstream that has nothing. */
  open(slots: number, options?: TextProcessOptions): Promise<OpenedLibrary>
  /** The gateway's ids of the assets that a call names, which the upstream has while it is called. */
  ownIdsIn(call: Pick<TextCall, 'assets'>): readonly string[]
}

/** A process, with the uses of assets that have begun and not ended, and the number of those that wait for a slot. */
export type OpenedLibrary = TextProcess & {
  readonly store: Store
  readonly uses: ReadonlyMap<string, number>
  waiting(): Promise<number>
} & AsyncDisposable

/** For a suite: all its tests have one emulator, because another one would give the same ids. */
export const textLibrary = (kind: TestDatabase['kind']): TextLibrary => {
  let emulator: Emulator
  beforeAll(async () => {
    emulator = await startEmulator({ processingMs: 0, outcome })
  })
  afterAll(() => emulator.stop())
  return {
    get emulator() {
      return emulator
    },
    async open(slots, options = {}) {
      for (const { id } of emulator.library.groups()) emulator.library.deleteGroup(id)
      const made = await migratedDatabase(kind)
      const { store, uses } = watchUses(openStore(made.url, { deadlineMs: 60_000 }))
      return {
        ...openTextProcess(store, emulator, { slots: { slots }, ...options }),
        ...{ store, uses, waiting: async () => (await store.countSlots({ key: '', name: '' }, 0)).waiting },
        async [Symbol.asyncDispose]() {
          await store.close()
          await made.remove()
        },
      }
    },
    ownIdsIn: ({ assets }) => assets.map((id) => ownIdIn(emulator.library.asset(id)?.name ?? `${id} is not there`)),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
export const jsonOf = async (response: Response): Promise<any> => response.json()

/** Own ids of assets that fail at the upstream. */
export const failing = new Set<string>()

const outcome: EmulatorOptions['outcome'] = ({ name }) =>
  failing.has(ownIdIn(name))
    ? { status: 'Failed', code: 'FaceMismatch', message: 'another face' }
    : { status: 'Active' }

/** The store, with the ends of the leases of all uses. */
const watchUses = (store: Store): { readonly store: Store; readonly uses: ReadonlyMap<string, number> } => {
  const uses = new Map<string, number>()
  return {
    uses,
    store: {
      ...store,
      async beginAssetUse(use) {
        uses.set(use.id, 0)
        const begun = await store.beginAssetUse(use)
        if (begun.isHeld) uses.set(use.id, use.leaseUntil)
        return begun
      },
      async renewAssetUses(ids, leaseUntil) {
        await store.renewAssetUses(ids, leaseUntil)
        for (const id of ids) uses.set(id, leaseUntil)
      },
      async endAssetUse(id) {
        await store.endAssetUse(id)
        uses.delete(id)
      },
    },
  }
}
