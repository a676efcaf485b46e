import { type Emulator, startEmulator } from '../../../src/emulator/index.ts'
import { openStore, type Store } from '../../../src/store/index.ts'
import { openTextProcess, type TextProcess } from '../../asset-slots/text-fixture.ts'

/** As many as a sequence soon needs more than. */
export const slots = 3

/** What a mutant may use. */
export interface MutantContext {
  readonly store: Store
  readonly emulator: Emulator
  /** Name of the user whose request the gateway handles. */
  currentUser(): string
}

/** Replaces methods of the store by ones with a defect. */
export type Mutant = (context: MutantContext) => Partial<Store>

/** A gateway whose library is larger than its slots. */
export interface Fixture {
  readonly emulator: Emulator
  readonly process: TextProcess
  readonly store: Store
  /** Calls the gateway for a user. Calls come one after the other. */
  as<Value>(user: string, call: () => Promise<Value>): Promise<Value>
  /** Whether a request waits for a slot. */
  isWaiting(): Promise<boolean>
  /** Whether the store has recorded the ends of all uses that have ended. */
  usesEnded(): boolean
}

/** Each sequence has a gateway, a database and an upstream of its own. */
export const openFixture = async (mutant?: Mutant): Promise<Fixture & AsyncDisposable> => {
  const emulator = await startEmulator({ processingMs: 0 })
  const store = openStore('sqlite::memory:')
  await store.migrate()
  let current = ''
  const changes = mutant?.({ store, emulator, currentUser: () => current }) ?? {}
  const changed = { ...store, ...changes }
  let ending = 0
  const endAssetUse: Store['endAssetUse'] = async (id) => {
    ending++
    await changed.endAssetUse(id).finally(() => ending--)
  }
  const process = openTextProcess({ ...changed, endAssetUse }, emulator, { slots: { slots } })
  return {
    ...{ emulator, process, store },
    async as(user, call) {
      current = user
      return call()
    },
    isWaiting: async () => (await store.countSlots(process.clock.now())).waiting > 0,
    usesEnded: () => ending === 0,
    async [Symbol.asyncDispose]() {
      await store.close()
      await emulator.stop()
    },
  }
}
