import { afterAll, beforeAll, describe } from 'bun:test'
import { type FaceVerificationOptions, faceVerification } from '../../plugins/face-verification/index.ts'
import type { Log } from '../../plugins/shared/problem.ts'
import type { Upstream } from '../../plugins/upstream-proxy/index.ts'
import type { Database } from '../../src/store/database/database.ts'
import { openDatabase } from '../../src/store/database/kinds.ts'
import { createVerificationStore } from '../../src/store/face-verifications.ts'
import { createGroupStore } from '../../src/store/library/groups.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { databaseNames, migratedDatabase } from '../support/database.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'
import { RestUpstream, Vendor } from './vendor.ts'

export type FaceStore = ReturnType<typeof storeOn>

export const storeOn = (database: Database) => ({ ...createGroupStore(database), ...createVerificationStore(database) })

export const openMigrated = async (url: string): Promise<Database> => {
  const database = openDatabase(url, { deadlineMs: 60_000 })
  await database.exclusively(() => migrate(0))
  return database
}

/** Declares a suite for each database. It gets two stores on one database, as two processes have. */
export const eachStore = (name: string, suite: (stores: () => readonly [FaceStore, FaceStore]) => void): void => {
  for (const kind of databaseNames) {
    describe(`${name} (${kind})`, () => {
      const open: Database[] = []
      let stores: readonly [FaceStore, FaceStore] | undefined
      let remove = async () => {}
      beforeAll(async () => {
        const fresh = await migratedDatabase(kind)
        remove = fresh.remove
        open.push(await openMigrated(fresh.url), await openMigrated(fresh.url))
        stores = [storeOn(open[0] as Database), storeOn(open[1] as Database)]
      }, 300_000)
      afterAll(async () => {
        await Promise.all(open.map((database) => database.close()))
        await remove()
      })
      suite(() => {
        if (!stores) throw new Error('the stores are not open before beforeAll')
        return stores
      })
    })
  }
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  readonly json: any
}

const replyOf = async (response: Response): Promise<Reply> => {
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: text.startsWith('{') ? JSON.parse(text) : undefined,
  }
}

export const publicUrl = 'https://gate.test'
export const base = `${publicUrl}/api/media/face-verifications`

/** A log that records its lines. Fields are JSON, with errors and their causes. */
export const keptLog = () => {
  const lines: string[] = []
  const write = (level: string) => (fields: object, message: string) => {
    lines.push(
      `${level} ${message} ${JSON.stringify(fields, (_, value) => (value instanceof Error ? plain(value) : value))}`,
    )
  }
  const log: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
  return { log, lines }
}

const plain = (error: Error) => ({ ...error, message: error.message, stack: error.stack, cause: error.cause })

/** The plugin with an upstream in memory. The header `x-user` stands for the session of that user. */
export const openFixture = async (
  options: Partial<Omit<FaceVerificationOptions, 'clock'>> & {
    readonly store?: FaceStore
    readonly clock?: VirtualClock
    readonly vendor?: Vendor
    /** Which upstream: a `Vendor` (`ark`, default) or a `RestUpstream` (`rest`). */
    readonly kind?: 'ark' | 'rest'
  } = {},
) => {
  const { clock = new VirtualClock(), vendor = new Vendor(), kind = 'ark', ...pluginOptions } = options
  const restUpstream = new RestUpstream()
  const { log, lines } = keptLog()
  const store = options.store ?? storeOn(await openMigrated('sqlite::memory:'))
  const app = faceVerification({
    identify: (request) => {
      const user = request.headers.get('x-user')
      return user ? { user } : undefined
    },
    publicUrl,
    clock,
    log,
    // Tests share users, so the limit must not apply.
    maxOpen: 1_000_000,
    ...pluginOptions,
    upstream: countCalls(options.upstream ?? (kind === 'ark' ? vendor : restUpstream).upstream({ log }), clock),
    store: countStoreCalls(store, clock),
  })

  const ask = async (url: string, init: RequestInit = {}): Promise<Reply> =>
    replyOf(await app.handle(new Request(url, init)))
  const as = (user: string) => ({
    create: (body?: string | object, headers: Record<string, string> = {}) =>
      ask(base, {
        method: 'POST',
        headers: { 'x-user': user, ...headers },
        body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
      }),
    query: (id: string, init: RequestInit = {}) => ask(`${base}/${id}`, { ...init, headers: { 'x-user': user } }),
  })
  return { app, clock, vendor, restUpstream, store, lines, ask, as, ann: as('ann'), bob: as('bob') }
}

/** The stored status of a verification. */
export const statusOf = async (store: FaceStore, id: string) => (await store.verification(id))?.status

/** Calls of the upstream and the store that have not ended, for each clock. Signing and a database take real time, which the virtual clock must wait for. */
const pendingCalls = new WeakMap<VirtualClock, number>()

const pendingOn = <Result>(clock: VirtualClock, call: Promise<Result>): Promise<Result> => {
  const add = (change: number) => pendingCalls.set(clock, (pendingCalls.get(clock) ?? 0) + change)
  add(1)
  return call.finally(() => add(-1))
}

const countCalls = (upstream: Upstream, clock: VirtualClock): Upstream => ({
  faceVerification: upstream.faceVerification,
  send: (...call) => pendingOn(clock, upstream.send(...call)),
})

const countStoreCalls = (store: FaceStore, clock: VirtualClock): FaceStore =>
  new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...given: unknown[]) => {
        const result: unknown = member.apply(target, given)
        return result instanceof Promise ? pendingOn(clock, result) : result
      }
    },
  })

/** Advances the clock in steps. After each step it waits until nothing is pending that needs no timer. */
export const pass = async (clock: VirtualClock, ms: number): Promise<void> => {
  const stepMs = Math.max(500, Math.ceil(ms / 4_000))
  for (let passed = 0; passed < ms; passed += stepMs) {
    await clock.pass(Math.min(stepMs, ms - passed))
    do for (let turn = 0; turn < 6; turn++) await settled()
    while ((pendingCalls.get(clock) ?? 0) > 0)
  }
}
