import { afterAll, beforeAll } from 'bun:test'
import { rest } from '../../../plugins/upstream-proxy/index.ts'
import { type Emulator, startEmulator } from '../../../src/emulator/index.ts'
import { openStore, type Store } from '../../../src/store/index.ts'
import { migratedDatabase, type TestDatabase } from '../../support/database.ts'
import { ownIdIn } from '../fixture.ts'
import { openTextProcess, type TextProcess, type TextProcessOptions } from '../text-fixture.ts'

export const names = ['a', 'b'] as const

type Account = (typeof names)[number]

/** A process with a library on two accounts, each with its own slots. */
export interface TwoAccounts extends TextProcess, AsyncDisposable {
  readonly store: Store
  /** A further process with the same database. */
  other(options?: TextProcessOptions): TextProcess
  /** The id of a new group of a user on an account. */
  groupOn(account: Account, user: string): Promise<string>
}

export interface TwoAccountsSuite {
  emulator(account: Account): Emulator
  /** `slots`: of each account. Each process has a database of its own. */
  open(slots: Readonly<Record<Account, number>>, options?: TextProcessOptions): Promise<TwoAccounts>
  /** The gateway's ids of what an account has, in their order. */
  present(account: Account): readonly string[]
}

/** For a suite: all its tests have the same two emulators. */
export const twoAccounts = (kind: TestDatabase['kind']): TwoAccountsSuite => {
  const emulators = new Map<Account, Emulator>()
  const emulator = (account: Account): Emulator => {
    const found = emulators.get(account)
    if (!found) throw new Error(`there is no account ${account}`)
    return found
  }
  beforeAll(async () => {
    for (const [index, name] of names.entries())
      emulators.set(name, await startEmulator({ processingMs: 0, account: index }))
  })
  afterAll(async () => {
    for (const each of emulators.values()) await each.stop()
  })
  return {
    emulator,
    present: (account) =>
      emulator(account)
        .library.assets()
        .map(({ name }) => ownIdIn(name))
        .toSorted(),
    async open(slots, options = {}) {
      for (const each of emulators.values()) {
        each.faults.clear()
        for (const { id } of each.library.groups()) each.library.deleteGroup(id)
      }
      const made = await migratedDatabase(kind)
      const store = openStore(made.url, { deadlineMs: 60_000 })
      const accounts = names.map((name) => ({ name, kind: rest(emulator(name).rest), slots: slots[name] }))
      const other = (more: TextProcessOptions = {}): TextProcess =>
        openTextProcess(store, emulator('a'), {
          ...{ kind: undefined, accounts },
          ...options,
          ...more,
          slots: { ...options.slots, ...more.slots },
        })
      let groups = 0
      return {
        ...other(),
        ...{ store, other },
        async groupOn(account, user) {
          const name = `group ${++groups}`
          const { id } = emulator(account).library.addGroup({ name })
          const failure = await store.adoptGroup({ id, user, type: 'AIGC', name, account, createdAt: groups })
          if (failure) throw new Error(failure)
          return id
        },
        async [Symbol.asyncDispose]() {
          await store.close()
          await made.remove()
        },
      }
    },
  }
}
