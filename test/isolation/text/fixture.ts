import { AsyncLocalStorage } from 'node:async_hooks'
import type { TextObjectStore } from '../../../plugins/text-generation/index.ts'
import type { Handle } from '../../../src/app.ts'
import { type Emulator, startEmulator } from '../../../src/emulator/index.ts'
import { openStore } from '../../../src/store/index.ts'
import { freshDatabase } from '../../support/database.ts'
import { startGateway, type TestGateway, type User } from '../../support/gateway.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

/** A request while it is being answered, as a planted hole sees it. */
export interface Acting {
  readonly user: string
  readonly method: string
  readonly path: string
  /** Of its body. */
  readonly text: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: holes look into requests of every shape
  readonly json: any
  /** What a hole took out of the request, to be put back on its way upstream. */
  smuggled?: object
}

/** What a planted hole may put between the parts of a gateway. */
export interface Seams {
  readonly objects?: TextObjectStore
  readonly around?: (handle: Handle) => Handle
  readonly fetch?: (url: string, init: RequestInit, send: typeof fetch) => Promise<Response>
}

/** What a hole finds when it is planted, once in each gateway. */
export interface Ground {
  readonly emulator: Emulator
  readonly objects: TextObjectStore
  /** Which of the gateways: 0 or 1. */
  readonly at: number
  readonly clock: VirtualClock
  readonly users: () => readonly User[]
  acting(): Acting
}

export type Hole = (ground: Ground) => Seams

/** Two gateways on one database before one emulated upstream, for any number of sequences of what three users do. Time passes only when it is told to. */
export interface World extends AsyncDisposable {
  readonly emulator: Emulator
  readonly clock: VirtualClock
  readonly urls: readonly [string, string]
  readonly users: readonly User[]
  /** How long the gateways know whose an object is, by this clock. */
  readonly keptMs: number
  /** Whether they bridge a model. */
  readonly bridges: boolean
  /** Whether they ask by themselves about what goes on in the background. */
  readonly looksAfter: boolean
  /** Lets the time limit of every call pass. */
  timeOut(): Promise<void>
  /** Begins anew, before an upstream that holds nothing. */
  begin(): Promise<void>
}

/** The upstream keeps objects longer than the gateways know whose they are, so that one which is used too late shows. */
export const keptMs = 60_000
export const accountOptions = { responsesKeptMs: 90_000, queuedMs: 500, backgroundMs: 2_000 }
const timeoutMs = 3_000

/** A model that the gateways bridge to chat completions. */
export const bridgedModel = 'emulated-chat-only'
export const nativeModel = 'doubao-seed-emulated'

const nobody: Acting = { user: '', method: '', path: '', text: undefined, json: undefined }

export const openWorld = async (database: 'sqlite' | 'postgres', hole?: Hole): Promise<World> => {
  const clock = new VirtualClock()
  const { url, remove } = await freshDatabase(database)
  const emulator = await startEmulator({
    limits: {},
    clock: clock.now,
    text: accountOptions,
  })
  const stores = [openStore(url), openStore(url)]
  let users: readonly User[] = []
  const acting = new AsyncLocalStorage<Acting>()

  const gatewayAt = async (at: number): Promise<TestGateway> => {
    const store = stores[at] as (typeof stores)[number]
    await store.migrate()
    const ground = {
      emulator,
      objects: store,
      at,
      clock,
      users: () => users,
      acting: () => acting.getStore() ?? nobody,
    }
    const seams = hole?.(ground)
    return startGateway({
      ...{ emulator, store },
      around: seams && ((handle) => seen(seams.around?.(handle) ?? handle)),
      text: {
        ...{ clock, timeoutMs, objects: seams?.objects ?? store, objectsKeptMs: keptMs, usage: undefined },
        upstreams: [{ ...emulator.text, models: [nativeModel, { id: bridgedModel, chatOnly: true }] }],
        fetch: async (url, init) => {
          const send = (url: string, init: RequestInit) => beginning(emulator, url, init)
          return seams?.fetch ? seams.fetch(url, init, send as typeof fetch) : send(url, init)
        },
      },
    })
  }

  /** Runs a request where a hole can see it. */
  const seen =
    (handle: Handle): Handle =>
    async (request) => {
      const text = request.body ? await request.text() : undefined
      const token = request.headers.get('authorization')?.slice('Bearer '.length)
      const { pathname } = new URL(request.url)
      const user = users.find((one) => one.token === token)?.id ?? ''
      const { method, signal, headers } = request
      const again = text === undefined ? request : new Request(request.url, { method, headers, body: text, signal })
      return acting.run({ user, method, path: pathname, text, json: parsed(text) }, () => handle(again))
    }

  const [first, second] = [await gatewayAt(0), await gatewayAt(1)]
  users = [await first.addUser('ann'), await first.addUser('bob'), await first.addUser('eve')]
  return {
    ...{ emulator, clock, users, urls: [first.url, second.url], keptMs, bridges: true, looksAfter: false },
    timeOut: () => clock.pass(timeoutMs),
    async begin() {
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

/** An upstream that begins a conversation by itself where `metadata` asks for one: by no other way does a caller come to have any. */
const beginning = async (emulator: Emulator, url: string, init: RequestInit): Promise<Response> => {
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
