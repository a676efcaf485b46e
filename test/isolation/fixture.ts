import { AsyncLocalStorage } from 'node:async_hooks'
import type { FetchHandler } from '../../plugins/concurrency-limits/index.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { ark, type MediaKind, rest } from '../../plugins/upstream-proxy/index.ts'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { startGateway, type TestGateway, type User } from '../support/gateway.ts'

export type Kind = 'rest' | 'ark'

/** The parts of a gateway that a mutant replaces. */
export interface Overrides {
  readonly store?: Store
  readonly kind?: MediaKind
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  readonly around?: (handle: FetchHandler) => FetchHandler
}

/** What a mutant may use. */
export interface MutantContext {
  readonly emulator: Emulator
  readonly store: Store
  readonly kind: MediaKind
  readonly secret: string
  /** Id of the user whose request the gateway currently handles. */
  currentUser(): string
  tokenOf(user: string): string | undefined
  userOf(authorization: string | null): string | undefined
}

export type Mutant = (context: MutantContext) => Overrides

/** A gateway with an emulated upstream. Every sequence gets new users. The clock moves only when a test moves it. */
export interface Fixture extends AsyncDisposable {
  readonly kind: Kind
  readonly gateway: TestGateway
  readonly emulator: Emulator
  readonly store: Store
  now(): number
  tick(ms: number): void
  /** Empties the upstream and creates three new users. */
  reset(): Promise<readonly User[]>
}

export const processingMs = 5_000

const secret = 'a secret of the isolation suite'

export const openFixture = async (kind: Kind, mutant?: Mutant): Promise<Fixture> => {
  let time = Date.UTC(2026, 0, 1)
  const now = () => time
  const clock = { ...systemClock, now }
  const emulator = await startEmulator({ processingMs, times: 'mixed', clock: now })
  const store = openStore('sqlite::memory:')
  const media = kind === 'rest' ? rest(emulator.rest) : ark({ ...emulator.ark, clock })

  const tokens = new Map<string, string>()
  const users = new Map<string, string>()
  const currentUser = new AsyncLocalStorage<string>()
  const userOf = (authorization: string | null) => users.get(authorization?.replace(/^bearer +/i, '') ?? '')
  const context: MutantContext = {
    ...{ emulator, store, kind: media, secret, userOf },
    currentUser: () => currentUser.getStore() ?? '',
    tokenOf: (user) => tokens.get(user),
  }
  const overrides = mutant?.(context) ?? {}
  const gateway = await startGateway({
    ...{ emulator, clock, secrets: [secret], store: overrides.store ?? store, fetch: overrides.fetch },
    kindOf: () => overrides.kind ?? media,
    // The faults of the upstream omit fields.
    checked: mutant ? 'none' : 'own',
    around: (handle) => {
      const inner = overrides.around?.(handle) ?? handle
      return (request) => currentUser.run(userOf(request.headers.get('authorization')) ?? '', () => inner(request))
    },
  })

  let sequences = 0
  return {
    ...{ kind, gateway, emulator, store, now },
    tick: (ms) => {
      time += ms
    },
    async reset() {
      time += 1_000
      sequences++
      emulator.faults.clear()
      for (const { id } of emulator.library.groups()) emulator.library.deleteGroup(id)
      tokens.clear()
      users.clear()
      const three: User[] = []
      for (const name of ['ann', 'bob', 'eve']) three.push(await gateway.addUser(`${name} ${sequences}`))
      for (const { id, token } of three) {
        tokens.set(id, token)
        users.set(token, id)
      }
      return three
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await store.close()
      await emulator.stop()
    },
  }
}
