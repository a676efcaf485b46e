import { Agent, request } from 'node:http'
import { createToken, hashToken, identifyByToken } from '../../plugins/api-token/index.ts'
import type { GatewayOptions, PictureOptions, SlotOptions } from '../../plugins/asset-library/index.ts'
import type { FetchHandler } from '../../plugins/concurrency-limits/index.ts'
import {
  createResultStorage,
  type FileStorageOptions,
  type ResultStorageOptions,
} from '../../plugins/file-storage/index.ts'
import { RevisionClock } from '../../plugins/ownership/index.ts'
import { noAudit } from '../../plugins/shared/audit.ts'
import { type Log, noLog } from '../../plugins/shared/problem.ts'
import { type MediaKind, rest } from '../../plugins/upstream-proxy/index.ts'
import type { AppOptions } from '../../src/app/options.ts'
import { createOriginals } from '../../src/app/originals.ts'
import { keepPictures } from '../../src/app/pictures.ts'
import { renderRejection } from '../../src/app/request/rejection.ts'
import { createApp } from '../../src/app.ts'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts'
import { createNodeServer } from '../../src/node-server.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import type { CheckedParts } from './check-response.ts'
import { checkReply, checkServer, uncheckServer } from './checked-servers.ts'

/** A user of the gateway, who sends authenticated requests. */
export interface User {
  readonly id: string
  readonly token: string
  /** Sends a request to a path below `/api/media/proxy`, without normalizing it. A body other than a string or bytes is sent as JSON, also with GET. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly json: any
}

export interface TestGateway extends AsyncDisposable {
  readonly url: string
  readonly emulator: Emulator
  readonly store: Store
  addUser(name: string): Promise<User>
}

export interface TestGatewayOptions extends Partial<Omit<GatewayOptions, 'store' | 'pictures' | 'slots'>> {
  readonly pictures?: Partial<PictureOptions>
  /** A library that is larger than its slots. It needs `files`. */
  readonly slots?: Pick<SlotOptions, 'slots' | 'floor' | 'cap'>
  /** For uploads, and for results of video generation. Default: none. */
  readonly files?: Pick<FileStorageOptions, 'storage'> & Partial<FileStorageOptions & ResultStorageOptions>
  readonly store?: Store
  readonly emulator?: EmulatorOptions | Emulator
  readonly kindOf?: (emulator: Emulator) => MediaKind
  /** Wraps the request handler of the app. */
  readonly around?: (handle: FetchHandler) => FetchHandler
  /** What the OpenAPI document decides about the responses. Default `all`. */
  readonly checked?: CheckedParts
  readonly log?: Log
  readonly text?: Partial<AppOptions['text']>
  readonly video?: Partial<AppOptions['video']>
  readonly people?: Partial<AppOptions['people']>
  readonly limiting?: AppOptions['limits']
  /** Limits of users, on the store of the gateway. Default: none. */
  readonly limitsOf?: (store: Store) => AppOptions['usageLimits']
  readonly mcp?: Partial<AppOptions['mcp']>
  readonly metricsToken?: string
  readonly tracing?: AppOptions['tracing']
  readonly circuits?: AppOptions['circuits']
}

/** Starts a gateway on a real socket. Defaults: an emulated upstream without rate limits, and a database in memory. */
export const startGateway = async (options: TestGatewayOptions = {}): Promise<TestGateway> => {
  const given = options.emulator
  const emulator = given && 'faults' in given ? given : await startEmulator({ processingMs: 0, ...given })
  const store = options.store ?? openStore('sqlite::memory:')
  await store.migrate()
  const revisionClock = new RevisionClock((since) => store.revision(since))
  let url = ''
  const kind = (options.kindOf ?? (({ rest: settings }) => rest(settings)))(emulator)
  const files = options.files && {
    ...{ store, publicUrl: () => url, secrets: ['a secret of the test suite'] },
    identify: identifyByToken({ store, revisionClock }),
    ...options.files,
  }
  const results = files && createResultStorage(files)
  const app = createApp({
    gateway: {
      kind,
      secrets: ['a secret of the test suite'],
      identify: identifyByToken({ store, revisionClock }),
      revisionClock,
      idempotency: store.idempotency,
      shares: { store },
      ...options,
      store,
      batches: store,
      consents: {
        store,
        linkTo: (secret) => `${url}/api/${options.segment ?? 'media'}/face-verifications/consent/${secret}`,
      },
      slots: options.slots &&
        files &&
        results && {
          ...{ store, ...options.slots },
          originals: createOriginals({ ...files, results, networks: ['127.0.0.1'] }),
        },
      pictures: { store, ...(results && { keepFile: keepPictures(results) }), ...options.pictures },
    },
    text: {
      upstreams: [emulator.text],
      identify: identifyByToken({ store, revisionClock }),
      usage: store,
      objects: store,
      storedResponses: store,
      ...options.text,
    },
    video: {
      upstream: emulator.video,
      store,
      identify: identifyByToken({ store, revisionClock }),
      idempotency: store.idempotency,
      identifierSecret: 'a secret of the test suite',
      ...(results && { results }),
      ...options.video,
    },
    people: {
      store,
      secrets: ['a secret of the test suite'],
      publicUrl: () => url,
      ...options.people,
      face: { consents: { store, secrets: ['a secret of the test suite'] }, ...options.people?.face },
    },
    events: { store, identify: identifyByToken({ store, revisionClock }) },
    files,
    mcp: {
      secrets: ['a secret of the test suite'],
      publicUrl: () => url,
      identify: identifyByToken({ store, revisionClock }),
      ...options.mcp,
    },
    limits: options.limiting ?? {},
    usageLimits: options.limitsOf?.(store),
    health: { database: () => store.ready(), draining: () => false },
    metricsToken: options.metricsToken,
    tracing: options.tracing,
    ...(options.circuits && { circuits: options.circuits }),
    log: options.log ?? noLog,
    audit: options.audit ?? noAudit,
  })
  const handle = options.around?.(app) ?? app
  const refuse = renderRejection(options.segment)
  const server = await createNodeServer(handle, { renderRejection: refuse }).listen()
  url = server.url
  const { segment, checked } = options
  await checkServer(url, { segment, checked, hasCallback: (options.kind ?? kind).faceVerification === 'ark' })

  return {
    url,
    emulator,
    store,
    async addUser(name) {
      const id = await store.addUser({ name, createdAt: Date.now() })
      if (id === undefined) throw new Error(`${name} exists already`)
      const token = createToken()
      await store.addToken({ user: id, hash: hashToken(token), start: token.slice(0, 9), createdAt: Date.now() })
      return userAt(url, id, token)
    },
    async [Symbol.asyncDispose]() {
      await server.stop({ closeActiveConnections: true })
      uncheckServer(url)
      if (!options.store) await store.close()
      if (emulator !== given) await emulator.stop()
    },
  }
}

export const userAt = (url: string, id: string, token: string): User => ({
  id,
  token,
  async ask(method, path, body, headers = {}) {
    const target = `/api/media/proxy${path}`
    const given = {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    }
    // `fetch` rejects a GET with a body, and normalizes paths.
    if ((method === 'GET' && body !== undefined) || hasOddSegments(path)) return askRaw(url, target, given)
    const response = await fetch(url + target, { ...given, redirect: 'manual' })
    return checkedReply(url, method, target, replyOf(response.status, response.headers, await response.text()))
  },
})

/** Words of databases, runtimes and sockets. No error response may contain them. */
export const internalDetails =
  /sqlite|postgres|\bselect\b|\binsert\b|SQL|constraint|ECONN|ENOTFOUND|socket|fetch|127\.0\.0\.1|localhost|TypeError|RangeError|SyntaxError|undefined|\[object|node:|\.ts\b|\bat \w+ \(|Unexpected|JSON\.parse|stack/i

/** Sends a request without normalization, over a new connection. */
export const askRaw = (
  url: string,
  target: string,
  given: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string | Uint8Array },
): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const length = given.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(given.body)) }
    const headers = { ...length, ...given.headers }
    const sent = request({ hostname, port, path: target, method: given.method, headers, agent }, (response) => {
      const chunks: Uint8Array[] = []
      response.on('data', (chunk: Uint8Array) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const pairs = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as [string, string])
        const reply = replyOf(response.statusCode ?? 0, new Headers(pairs), Buffer.concat(chunks).toString())
        resolve(checkedReply(url, given.method, target, reply))
      })
    })
    sent.on('error', reject)
    sent.end(given.body)
  })

const checkedReply = (url: string, method: string, target: string, reply: Reply): Reply => {
  const { status, headers, text } = reply
  checkReply(url, { method, target, status, headers: Object.fromEntries(headers), body: text })
  return reply
}

const agent = new Agent({ keepAlive: false })

const hasOddSegments = (path: string): boolean => /[\\#\t\n]|\/(?:\.|%2e){1,2}(?:[/?]|$)/i.test(path)

const replyOf = (status: number, headers: Headers, text: string): Reply => ({
  status,
  headers,
  text,
  json: text.startsWith('{') ? JSON.parse(text) : undefined,
})
