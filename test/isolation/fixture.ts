import { AsyncLocalStorage } from 'node:async_hooks'
import { ark, type MediaKind, rest } from '../../plugins/upstream-proxy/index.ts'
import type { Handle } from '../../src/app.ts'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { startGateway, type TestGateway, type User } from '../support/gateway.ts'

export type Kind = 'rest' | 'ark'

/** What a planted hole may put between the parts of a gateway. */
export interface Seams {
  readonly store?: Store
  readonly kind?: MediaKind
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  readonly around?: (handle: Handle) => Handle
}

/** What a hole finds when it is planted. */
export interface Ground {
  readonly emulator: Emulator
  readonly store: Store
  readonly kind: MediaKind
  readonly secret: string
  /** Id of the user whose request is being answered. */
  acting(): string
  /** Token of a user. */
  tokenOf(user: string): string | undefined
  userOf(authorization: string | null): string | undefined
}

export type Hole = (ground: Ground) => Seams

/** One gateway before one emulated upstream for any number of sequences, each with users of its own. Time passes only when it is told to. */
export interface World extends AsyncDisposable {
  readonly kind: Kind
  readonly gateway: TestGateway
  readonly emulator: Emulator
  readonly store: Store
  now(): number
  tick(ms: number): void
  /** Three users that nobody has heard of, before an upstream that holds nothing. */
  begin(): Promise<readonly User[]>
}

export const processingMs = 5_000

const secret = 'a secret of the isolation suite'

export const openWorld = async (kind: Kind, hole?: Hole): Promise<World> => {
  let time = Date.UTC(2026, 0, 1)
  const now = () => time
  const emulator = await startEmulator({ limits: {}, processingMs, times: 'mixed', clock: now })
  const store = openStore('sqlite::memory:')
  const media = kind === 'rest' ? rest(emulator.rest) : ark({ ...emulator.ark, now })

  const tokens = new Map<string, string>()
  const users = new Map<string, string>()
  const acting = new AsyncLocalStorage<string>()
  const userOf = (authorization: string | null) => users.get(authorization?.replace(/^bearer +/i, '') ?? '')
  const ground: Ground = {
    ...{ emulator, store, kind: media, secret, userOf },
    acting: () => acting.getStore() ?? '',
    tokenOf: (user) => tokens.get(user),
  }
  const seams = hole?.(ground) ?? {}
  const gateway = await startGateway({
    ...{ emulator, now, secrets: [secret], store: seams.store ?? store, fetch: seams.fetch },
    kindOf: () => seams.kind ?? media,
    around: (handle) => {
      const inner = seams.around?.(handle) ?? handle
      return (request) => acting.run(userOf(request.headers.get('authorization')) ?? '', () => inner(request))
    },
  })

  let sequences = 0
  return {
    ...{ kind, gateway, emulator, store, now },
    tick: (ms) => {
      time += ms
    },
    async begin() {
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
