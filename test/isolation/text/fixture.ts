import { AsyncLocalStorage } from 'node:async_hooks'
import type { FetchHandler } from '../../../plugins/concurrency-limits/index.ts'
import type { StoredResponseStore, TextObjectStore } from '../../../plugins/text-generation/index.ts'
import { type Emulator, startEmulator } from '../../../src/emulator/index.ts'
import { openStore } from '../../../src/store/index.ts'
import { migratedDatabase } from '../../support/database.ts'
import { startGateway, type TestGateway, type User } from '../../support/gateway.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

/** The request that a gateway currently handles. */
export interface CurrentRequest {
  readonly user: string
  readonly method: string
  readonly path: string
  /** The body. */
  readonly text: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: mutants read requests of every shape
  readonly json: any
  /** Members that a mutant has removed from the request and adds to the upstream request. */
  smuggled?: object
}

/** What a planted mutant may put between the parts of a gateway. */
export interface Overrides {
  readonly objects?: TextObjectStore
  readonly storedResponses?: StoredResponseStore
  readonly around?: (handle: FetchHandler) => FetchHandler
  readonly fetch?: (url: string, init: RequestInit, startRequest: typeof fetch) => Promise<Response>
}

/** What a mutant finds when it is planted, once in each gateway. */
export interface MutantContext {
  readonly emulator: Emulator
  readonly objects: TextObjectStore
  readonly storedResponses: StoredResponseStore
  /** Index of the gateway: 0 or 1. */
  readonly at: number
  readonly clock: VirtualClock
  readonly users: () => readonly User[]
  currentRequest(): CurrentRequest
}

export type Mutant = (context: MutantContext) => Overrides

/** Two gateways with one database and one emulated upstream, and three users. The clock moves only when a test moves it. */
export interface Fixture extends AsyncDisposable {
  readonly emulator: Emulator
  readonly clock: VirtualClock
  readonly urls: readonly [string, string]
  readonly users: readonly User[]
  /** How long the gateways keep the record of an owner, by this clock. */
  readonly retentionMs: number
  /** Whether the gateways bridge a model to chat completions. */
  readonly bridges: boolean
  /** Whether the gateways poll background responses. */
  readonly polls: boolean
  /** Advances the clock past the timeout of every call. */
  timeOut(): Promise<void>
  /** Empties the upstream. */
  reset(): Promise<void>
}

/** The upstream keeps objects longer than the gateways keep the owner: so the test detects a use after the record expired. */
export const retentionMs = 60_000
export const accountOptions = { responsesKeptMs: 90_000, queuedMs: 500, backgroundMs: 2_000 }
const timeoutMs = 3_000

/** A model that the gateways bridge to chat completions. */
export const bridgedModel = 'emulated-chat-only'
export const nativeModel = 'doubao-seed-emulated'

const sendUnauthenticated: CurrentRequest = { user: '', method: '', path: '', text: undefined, json: undefined }

export const openFixture = async (database: 'sqlite' | 'postgres', mutant?: Mutant): Promise<Fixture> => {
  const clock = new VirtualClock()
  const { url, remove } = await migratedDatabase(database)
  const emulator = await startEmulator({
    clock: clock.now,
    text: accountOptions,
  })
  const stores = [openStore(url, { deadlineMs: 60_000 }), openStore(url, { deadlineMs: 60_000 })]
  let users: readonly User[] = []
  const currentRequest = new AsyncLocalStorage<CurrentRequest>()

  const gatewayAt = async (at: number): Promise<TestGateway> => {
    const store = stores[at] as (typeof stores)[number]
    await store.migrate()
    const context = {
      emulator,
      objects: store,
      storedResponses: store,
      at,
      clock,
      users: () => users,
      currentRequest: () => currentRequest.getStore() ?? sendUnauthenticated,
    }
    const overrides = mutant?.(context)
    return startGateway({
      ...{ emulator, store },
      checked: mutant ? 'none' : 'all',
      around: overrides && ((handle) => seen(overrides.around?.(handle) ?? handle)),
      text: {
        ...{ clock, timeoutMs, objects: overrides?.objects ?? store, objectTtlMs: retentionMs, usage: undefined },
        storedResponses: overrides?.storedResponses ?? store,
        upstreams: [{ ...emulator.text, models: [nativeModel, { id: bridgedModel, chatOnly: true }] }],
        fetch: async (url, init) => {
          const startRequest = (url: string, init: RequestInit) => withNewConversation(emulator, url, init)
          return overrides?.fetch ? overrides.fetch(url, init, startRequest as typeof fetch) : startRequest(url, init)
        },
      },
    })
  }

  /** Makes the request available to a mutant. */
  const seen =
    (handle: FetchHandler): FetchHandler =>
    async (request) => {
      const text = request.body ? await request.text() : undefined
      const token = request.headers.get('authorization')?.slice('Bearer '.length)
      const { pathname } = new URL(request.url)
      const user = users.find((one) => one.token === token)?.id ?? ''
      const { method, signal, headers } = request
      const again = text === undefined ? request : new Request(request.url, { method, headers, body: text, signal })
      return currentRequest.run({ user, method, path: pathname, text, json: parsed(text) }, () => handle(again))
    }

  const [first, second] = [await gatewayAt(0), await gatewayAt(1)]
  users = [await first.addUser('ann'), await first.addUser('bob'), await first.addUser('eve')]
  return {
    ...{ emulator, clock, users, urls: [first.url, second.url], retentionMs, bridges: true, polls: false },
    timeOut: () => clock.pass(timeoutMs),
    async reset() {
      await clock.pass(1_000)
      emulator.faults.clear()
      emulator.text.objects.clear()
      emulator.clearCalls()
    },
    async [Symbol.asyncDispose]() {
      await first[Symbol.asyncDispose]()
      await second[Symbol.asyncDispose]()
      await Promise.all(stores.map((store) => store.close()))
      await emulator.stop()
      await remove()
    },
  }
}

/** The upstream starts a conversation where `metadata` asks for it. Callers have no other way to get one. */
const withNewConversation = async (emulator: Emulator, url: string, init: RequestInit): Promise<Response> => {
  const body = init.body === undefined || init.body === null ? '' : await new Response(init.body).text()
  if (!body.includes('"begins":"yes"')) return fetch(url, init)
  const headers = { authorization: `Bearer ${emulator.text.key}`, 'content-type': 'application/json' }
  const made = await fetch(`${emulator.text.url}/conversations`, { method: 'POST', headers, body: '{}' })
  const { id } = (await made.json()) as { id: string }
  return fetch(url, { ...init, body: `{"conversation":${JSON.stringify(id)},${body.slice(1)}` })
}

const parsed = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}
