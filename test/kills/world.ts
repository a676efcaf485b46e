import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import type { Scope } from '../../plugins/shared/identity/scopes.ts'
import type { Emulator } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { newCookie } from '../faults/world.ts'
import { arkOf, openFixture } from '../server/fixture.ts'
import type { TestDatabase } from '../support/database.ts'
import { History } from './history.ts'
import { type HeldAmounts, watchHeldAmounts } from './judge/held.ts'
import { createPerson, type Person } from './person.ts'
import { Processes } from './processes.ts'

/** What a webhook has received. */
export interface Delivery {
  /** The path of the webhook's address: the marker of its person, and what tells their webhooks apart. */
  readonly path: string
  readonly id: string
  readonly body: string
}

/** Gateways on one database with an emulated upstream, and the people who use them. */
export interface KillWorld extends AsyncDisposable {
  readonly kind: TestDatabase['kind']
  readonly databaseUrl: string
  readonly emulator: Emulator
  /** On the database itself, with the keys of the audit trail. */
  readonly store: Store
  readonly processes: Processes
  readonly history: History
  readonly people: readonly Person[]
  readonly operator: Person
  /** The address of a webhook. */
  readonly receiver: string
  readonly deliveries: readonly Delivery[]
  readonly held: HeldAmounts
}

export const slots = 4
/** The model whose responses the gateway keeps, and the one whose responses the upstream keeps. */
export const models = { kept: 'emulated-wide', native: 'doubao-seed-emulated' } as const
const auditKey = 'an audit key of the kills'

const limits = [
  { unit: 'requests', amount: 1_000_000, window: 'month' },
  { unit: 'tokens', amount: 1_000_000_000, window: 'month', model: 'doubao-seedance*' },
  ...Object.values(models).map((model) => ({ unit: 'tokens', amount: 1_000_000_000, window: 'month', model })),
  { unit: 'videos', amount: 1_000_000, window: 'month' },
  ...['groups', 'assets', 'running_videos', 'streams'].map((unit) => ({ unit, amount: 1_000_000 })),
  { unit: 'storage_bytes', amount: 1_000_000_000 },
]

const environmentOf = ({ text, video }: Emulator) => ({
  ...{ MEDIA_UPSTREAM_TIMEOUT_SECONDS: '2', TEXT_TIMEOUT_SECONDS: '20', TEXT_KEY: text.key },
  TEXT_UPSTREAMS: JSON.stringify([
    { name: 'kept', url: text.chatOnlyUrl, keyEnv: 'TEXT_KEY', models: [models.kept], chatOnly: true },
    { name: 'native', url: text.url, keyEnv: 'TEXT_KEY' },
  ]),
  ...{ VIDEO_UPSTREAM_URL: video.url, VIDEO_UPSTREAM_KEY: video.key, VIDEO_SLOTS: `{"*":${slots}}` },
  ...{ VIDEO_POLL_SECONDS: '0.2', VIDEO_CREATE_TIMEOUT_SECONDS: '2', VIDEO_SETTLE_SECONDS: '1' },
  ...{ AUDIT_KEY: auditKey, WEBHOOK_NETWORKS: '127.0.0.0/8', LOG_LEVEL: 'error' },
  ...{ USER_LIMITS: JSON.stringify(limits), ACCOUNT_LIMITS: JSON.stringify(limits.slice(0, 4)) },
  ...{ USER_MAX_TOKENS: '10000', USER_MAX_REQUESTS: '1000', USER_MAX_FACE_CHECKS: '10000', USER_MAX_UPLOADS: '10000' },
  USER_MAX_SESSIONS: '10000',
})

const names = ['ann', 'bob', 'cyd', 'dan']

export interface KillWorldOptions {
  /** How many gateways use the database. */
  readonly processes: number
  readonly seed: number
}

export const openKillWorld = async (kind: TestDatabase['kind'], options: KillWorldOptions): Promise<KillWorld> => {
  const stack = new AsyncDisposableStack()
  const video = { queuedMs: 0, runningMs: 200, maxRunning: { '*': slots }, whenFull: 'reject' } as const
  const fixture = stack.use(await openFixture(kind, { video }))
  const { emulator, environment } = fixture
  const databaseUrl = environment.DATABASE_URL ?? ''
  const store = openStore(databaseUrl, { deadlineMs: 60_000, auditKeys: [auditKey] })
  stack.defer(() => store.close())
  // A kill meets some of these calls, whose effect comes afterwards.
  emulator.faults.add({
    ...{ kind: 'delay', ms: 40, action: /^Create/ },
    ...{ times: Number.POSITIVE_INFINITY, probability: 0.5 },
  })
  const history = new History()
  const settings = { ...arkOf(fixture), ...environmentOf(emulator) }
  const start = () => fixture.start(settings)
  const processes = new Processes(start, options.processes, (killed) => history.kills.push(killed))
  const deliveries: Delivery[] = []
  const receiver = await startReceiver((delivery) => deliveries.push(delivery))
  stack.defer(receiver.stop)

  const { url } = await processes.at(0)
  const personOf = async (id: string, name: string, marker: string, scopes: readonly Scope[]): Promise<Person> => {
    const token = createToken()
    const made = { hash: hashToken(token), start: token.slice(0, 9), scopes, createdAt: Date.now() }
    await store.addUserToken(id, made)
    return createPerson({ id, name, marker, token }, await newCookie({ store, server: { url } }, id), processes)
  }
  // A marker is one word, which is in no other one.
  const markerOf = (nth: number) => `zq${options.seed.toString(36)}x${nth}q`
  const people = await Promise.all(
    names.map(async (name, nth) =>
      personOf(await fixture.addPerson(name), name, markerOf(nth), ['media', 'text', 'video']),
    ),
  )
  const root = await store.addAdminUser({ name: 'root', role: 'admin', createdAt: Date.now() })
  if (typeof root === 'string') throw new Error(root)
  const operator = await personOf(root.id, 'root', markerOf(names.length), ['admin'])
  for (const { id, marker } of people) {
    history.owners.set(id, id)
    history.owners.set(marker, id)
  }
  for (let slot = 0; slot < processes.count; slot++) await processes.at(slot)
  for (const person of people) {
    const body = { url: `${receiver.url}/${person.marker}`, types: ['video.*', 'asset_batch.*'] }
    const { status, text } = await person.read('/api/webhooks', { method: 'POST', as: 'session', body })
    if (status !== 200) throw new Error(text)
  }
  return {
    ...{ kind, databaseUrl, emulator, store, processes, history, people, operator, deliveries },
    receiver: receiver.url,
    held: stack.use(watchHeldAmounts(databaseUrl)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const startReceiver = async (receive: (delivery: Delivery) => void) => {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const { url: path = '', headers } = request
    receive({ path, id: String(headers['webhook-id']), body: Buffer.concat(parts).toString() })
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
