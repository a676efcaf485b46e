import type { SlotAccount } from '../../../plugins/asset-library/index.ts'
import { rest } from '../../../plugins/upstream-proxy/index.ts'
import { type Emulator, startEmulator } from '../../../src/emulator/index.ts'
import { openStore, type Store } from '../../../src/store/index.ts'
import { openTextProcess, type TextProcess } from '../../asset-slots/text-fixture.ts'

/** Of each account: as many as a sequence soon needs more than. */
const slotsOf = [3, 2] as const

/** One of several accounts has its name, and the only one has none. */
const names = ['a', 'b'] as const

/** An account of the library, and its upstream. */
export interface Account {
  readonly emulator: Emulator
  readonly slots: number
  /** In records of groups. Undefined: the only one. */
  readonly name: string | undefined
  /** For the store. */
  readonly slotAccount: SlotAccount
}

/** What a mutant may use. */
export interface MutantContext {
  readonly store: Store
  readonly accounts: readonly Account[]
  /** Name of the user whose request the gateway handles. */
  currentUser(): string
}

/** Replaces methods of the store by ones with a defect. */
export type Mutant = (context: MutantContext) => Partial<Store>

/** A gateway whose library is larger than its slots. */
export interface Fixture {
  readonly accounts: readonly [Account, ...Account[]]
  readonly process: TextProcess
  readonly store: Store
  /** Calls the gateway for a user. Calls come one after the other. */
  as<Value>(user: string, call: () => Promise<Value>): Promise<Value>
  /** Whether a request waits for a slot. */
  isWaiting(): Promise<boolean>
  /** Whether the store has recorded the ends of all uses that have ended. */
  usesEnded(): boolean
}

/** The asset of an upstream that has this id, on any account. */
export const upstreamAsset = (accounts: readonly Account[], id: string) =>
  accounts.map(({ emulator }) => emulator.library.asset(id)).find((asset) => asset !== undefined)

const openAccount = async (index: 0 | 1, several: boolean): Promise<Account> => {
  const emulator = await startEmulator({ processingMs: 0, account: index })
  const name = several ? names[index] : undefined
  const slotAccount = { key: index === 0 ? '' : names[index], name: name ?? '' }
  return { emulator, slots: slotsOf[index], name, slotAccount }
}

/** Each sequence has a gateway, a database, and one upstream or several of its own. */
export const openFixture = async (several: boolean, mutant?: Mutant): Promise<Fixture & AsyncDisposable> => {
  const first = await openAccount(0, several)
  const accounts = [first, ...(several ? [await openAccount(1, several)] : [])] as const
  const store = openStore('sqlite::memory:')
  await store.migrate()
  let current = ''
  const changes = mutant?.({ store, accounts, currentUser: () => current }) ?? {}
  const changed = { ...store, ...changes }
  let ending = 0
  const endAssetUse: Store['endAssetUse'] = async (id) => {
    ending++
    await changed.endAssetUse(id).finally(() => ending--)
  }
  const process = openTextProcess({ ...changed, endAssetUse }, first.emulator, {
    slots: { slots: first.slots },
    ...(several && {
      kind: undefined,
      accounts: accounts.map(({ name = '', emulator, slots }) => ({ name, kind: rest(emulator.rest), slots })),
    }),
  })
  return {
    ...{ accounts, process, store },
    async as(user, call) {
      current = user
      return call()
    },
    isWaiting: async () => (await store.countSlots(first.slotAccount, process.clock.now())).waiting > 0,
    usesEnded: () => ending === 0,
    async [Symbol.asyncDispose]() {
      await store.close()
      for (const { emulator } of accounts) await emulator.stop()
    },
  }
}
