import { randomUUID } from 'node:crypto'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import type { Scope } from '../../plugins/shared/identity/scopes.ts'
import { beginSession } from '../../plugins/web-session/index.ts'
import type { Specification } from '../../src/documentation/specification.ts'
import type { Emulator } from '../../src/emulator/index.ts'
import type { Store } from '../../src/store/index.ts'
import { MODEL, text } from '../emulator/video-client.ts'
import { png } from '../mcp/fixture.ts'
import { openFixture } from '../server/fixture.ts'
import { createResponseChecker } from '../support/check-response.ts'
import { freePort } from '../support/free-port.ts'
import { startS3Server } from '../support/s3-server.ts'
import type { ServerProcess } from '../support/server.ts'
import { startProviderBehindProxy } from './browsing.ts'
import { type FaultProxy, portOf, startFaultProxy } from './fault-proxy.ts'
import { PostgresCut } from './postgres-cut.ts'

/** What the server depends on, each behind a proxy of its own. */
export const dependencies = ['database', 'assets', 'text', 'video', 'login', 'storage'] as const
export type Dependency = (typeof dependencies)[number]

/** Who sends a request: with an API token, with a session, as an operator, or without a credential. */
export type Sender = 'token' | 'session' | 'admin' | 'nobody'

/** A request that succeeds while nothing fails. */
export interface FaultRequest {
  readonly as: Sender
  readonly path: string
  /** What is not text or bytes is sent as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** What shows afterwards whether it had its effect: see `effects`. */
  readonly about?: string | undefined
}

/** A response that was read. */
export interface FaultReply extends Record<'text', string> {
  readonly status: number
  /** The cookies that it sets. */
  readonly cookie: string
  /** Whether its body has broken off, so that the client knows that something is missing. */
  readonly isCut: boolean
  /** What the OpenAPI document of the server does not describe. */
  readonly undocumented: readonly string[]
}

/** The deadlines of the server's calls: as long as a busy machine needs. */
export const deadlineSeconds = 5
const patienceMs = 30_000
/** A default server on PostgreSQL whose database, upstreams and identity provider can fail, with users and what they have. */
export interface FaultWorld extends AsyncDisposable {
  readonly server: ServerProcess
  readonly proxies: Readonly<Record<Dependency, FaultProxy>>
  readonly emulator: Emulator
  /** On the database itself. */
  readonly store: Store
  /** The ids of the users. */
  readonly ids: Readonly<Record<'token' | 'session' | 'admin', string>>
  send(method: string, request: FaultRequest): Promise<FaultReply>
  /** Sends a request, and returns its JSON. Throws for an error. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  ask(method: string, request: FaultRequest): Promise<any>
  /** Its routes, as `METHOD /path/{}`. */
  readonly routes: readonly string[]
  /** The headers with the API token of the user. */
  readonly credential: Readonly<Record<string, string>>
  /** What exists and is only read. */
  readonly known: KnownObjects
}

export interface KnownObjects {
  readonly group: string
  readonly asset: string
  readonly batch: string
  readonly face: string
  readonly verification: string
  readonly response: string
  readonly video: string
  readonly file: string
  readonly user: string
  readonly callback: string
}

const library = '/api/media/proxy'

const methods = ['get', 'post', 'put', 'patch', 'delete']

const routesOf = ({ paths }: Specification): readonly string[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    methods
      .filter((method) => method in operations)
      .map((method) => `${method.toUpperCase()} ${path.replace(/\{[^}]*\}/g, '{}')}`),
  )

/** @param pooled starts something between the proxy and the database, and returns its `DATABASE_URL`. Default: nothing */
export const openFaultWorld = async (
  pooled: (url: string, stack: AsyncDisposableStack) => Promise<string> = async (url) => url,
): Promise<FaultWorld> => {
  const stack = new AsyncDisposableStack()
  const video = { queuedMs: 0, runningMs: Number.POSITIVE_INFINITY, maxQueued: 1e6, maxRunning: { '*': 1e6 } }
  const fixture = stack.use(await openFixture('postgres', { video }))
  const { emulator, store, environment } = fixture
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const proxyOf = async (serverPort: number) => stack.use(await startFaultProxy(serverPort))
  const login = await startProviderBehindProxy(url, proxyOf)
  stack.defer(login.stop)
  const upstreamPort = portOf(emulator.origin)
  const bucket = stack.use(await startS3Server())
  const passed = { count: 0 }
  const databaseUrl = await pooled(environment.DATABASE_URL ?? '', stack)
  const proxies = {
    database: stack.use(await startFaultProxy(portOf(databaseUrl), () => new PostgresCut(passed))),
    assets: await proxyOf(upstreamPort),
    text: await proxyOf(upstreamPort),
    video: await proxyOf(upstreamPort),
    login: login.proxy,
    storage: await proxyOf(portOf(bucket.endpoint)),
  }
  const seconds = String(deadlineSeconds)
  const server = await fixture.start({
    ...{ PORT: String(port), PUBLIC_URL: url, METRICS_TOKEN: 'token-of-metrics' },
    ...{ DATABASE_URL: proxies.database.before(databaseUrl), DATABASE_TIMEOUT_SECONDS: seconds },
    ...{ MEDIA_UPSTREAM_KIND: 'ark', MEDIA_UPSTREAM_URL: proxies.assets.before(emulator.ark.url) },
    ...{ MEDIA_UPSTREAM_ACCESS_KEY: emulator.ark.accessKey, MEDIA_UPSTREAM_SECRET_KEY: emulator.ark.secretKey },
    ...{ MEDIA_UPSTREAM_LIMITS: '{}', MEDIA_UPSTREAM_TIMEOUT_SECONDS: seconds },
    ...{ TEXT_UPSTREAM_URL: proxies.text.before(emulator.text.url), TEXT_UPSTREAM_KEY: emulator.text.key },
    ...{ TEXT_TIMEOUT_SECONDS: seconds, STORAGE_TIMEOUT_SECONDS: seconds },
    STORAGE_URL: `s3://${bucket.bucket}/?region=${bucket.region}&endpoint=${proxies.storage.before(bucket.endpoint)}`,
    ...{ STORAGE_ACCESS_KEY: bucket.accessKey, STORAGE_SECRET_KEY: bucket.secretKey },
    ...{ VIDEO_UPSTREAM_URL: proxies.video.before(emulator.video.url), VIDEO_UPSTREAM_KEY: emulator.video.key },
    ...{ VIDEO_CREATE_TIMEOUT_SECONDS: seconds, VIDEO_SETTLE_SECONDS: '5', VIDEO_POLL_SECONDS: '0.5' },
    ...{
      VIDEO_MODEL_ALIASES: JSON.stringify({ 'sora-2': MODEL }),
      MCP_CONFIRM_ABOVE: 'off',
      WEBHOOK_NETWORKS: '127.0.0.0/8',
    },
    ...login.settings,
    ...{
      USER_MAX_TOKENS: '10000',
      USER_MAX_REQUESTS: '1000',
      USER_MAX_FACE_CHECKS: '10000',
      USER_MAX_UPLOADS: '10000',
    },
  })

  const ann = (await fixture.addUser('ann')).id
  const root = await store.addAdminUser({ name: 'root', role: 'admin', createdAt: Date.now() })
  if (typeof root === 'string') throw new Error(root)
  const ids = {
    token: ann,
    session: await fixture.addPerson('pia'),
    login: await fixture.addPerson('lena'),
    admin: root.id,
  }
  const cookie = await newCookie({ store, server }, ids.session)
  const credentials: Readonly<Record<Sender, Readonly<Record<string, string>>>> = {
    token: await addToken(store, ann, ['media', 'text', 'video']),
    session: { cookie, origin: url },
    admin: await addToken(store, root.id, ['admin']),
    nobody: {},
  }

  const document = (await (await fetch(`${url}/openapi/json`)).json()) as Specification
  const checker = createResponseChecker(document)
  const send: FaultWorld['send'] = async (method, { as, path, body, headers }) => {
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array
    const given = { ...(body !== undefined && !isRaw && { 'content-type': 'application/json' }), ...credentials[as] }
    const left = new AbortController()
    const signal = AbortSignal.any([left.signal, AbortSignal.timeout(patienceMs)])
    const init = { method, headers: { ...given, ...headers }, redirect: 'manual', signal } as const
    const content = (isRaw ? body : JSON.stringify(body)) as Exclude<RequestInit['body'], null>
    const response = await fetch(url + path, body === undefined ? init : { ...init, body: content })
    const { status } = response
    // The stream of events is endless.
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    let isCut = false
    const answer = isStream
      ? ''
      : await response.text().catch((error: unknown) => {
          if (signal.aborted) throw error
          isCut = true
          return ''
        })
    left.abort()
    const sent = { port, method, target: path, status, headers: Object.fromEntries(response.headers), body: answer }
    const found = isStream || isCut ? [] : checker.problemsOf(sent, false)
    const isForwarded = status >= 400 && checker.problemsOf(sent, true).length === 0
    return { status, isCut, text: answer, cookie: cookiesOf(response), undocumented: isForwarded ? [] : found }
  }
  const ask: FaultWorld['ask'] = async (method, request) => {
    const { status, text: answer } = await send(method, request)
    if (status >= 300) throw new Error(`${method} ${request.path}: ${status} ${answer}`)
    return answer === '' ? undefined : JSON.parse(answer)
  }
  const world = {
    ...{ server, proxies, emulator, store, ids, credential: credentials.token, send, ask },
    routes: routesOf(document),
  }
  return {
    ...world,
    known: await makeObjects(world),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** As a request sends them. What a response removes has no value. */
const cookiesOf = ({ headers }: Response): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .filter((cookie) => !cookie.endsWith('='))
    .join('; ')

type NewWorld = Omit<FaultWorld, 'known' | typeof Symbol.asyncDispose>

const makeObjects = async (world: NewWorld): Promise<KnownObjects> => {
  const { ask, emulator, ids } = world
  const group = await newGroup(world)
  const asset = await newAsset(world, group)
  const body = '{"URL":"https://files.example/b.png","AssetType":"Image","Name":"b"}'
  const headers = { 'content-type': 'application/x-ndjson' }
  const batch = await ask('POST', { as: 'token', path: `${library}/assets/batches?GroupId=${group}`, body, headers })
  const checking = await ask('POST', { as: 'session', path: '/api/media/face-verifications', body: {} })
  const callback = new URL(emulator.face.finish(emulator.face.sessions().at(-1)?.bytedToken ?? '', 'succeed') ?? '')
  const upload = await ask('POST', { as: 'token', path: '/api/uploads', body: png })
  const video = await newEndedVideo(world)
  return {
    ...{ group, asset, batch: batch.Result.Id, face: await newFace(world), verification: checking.verification_id },
    ...{
      response: await newResponse(world),
      video,
      file: new URL(upload.upload.url).pathname + new URL(upload.upload.url).search,
    },
    ...{ user: ids.token, callback: callback.pathname + callback.search },
  }
}

/** Adds a token of a user. Returns the header that has it. */
const addToken = async (store: Store, user: string, scopes: readonly Scope[]) => {
  const token = createToken()
  await store.addUserToken(user, { hash: hashToken(token), start: token.slice(0, 9), scopes, createdAt: Date.now() })
  return { authorization: `Bearer ${token}` }
}

/** A name that nothing has. */
export const newName = (): string => randomUUID()

export const newGroup = async ({ ask }: NewWorld): Promise<string> =>
  (await ask('POST', { as: 'token', path: `${library}/assets/groups`, body: { Name: newName() } })).Result.Id

export const newAsset = async ({ ask }: NewWorld, group: string): Promise<string> => {
  const body = { GroupId: group, URL: 'https://files.example/a.png', AssetType: 'Image', Name: newName() }
  return (await ask('POST', { as: 'token', path: `${library}/assets`, body })).Result.Id
}

/** A group of a person, of the user with the token. */
export const newFace = async ({ emulator, store, ids }: NewWorld): Promise<string> => {
  const name = newName()
  const { id } = emulator.library.addGroup({ name, type: 'LivenessFace' })
  await store.adoptGroup({ id, user: ids.token, type: 'LivenessFace', name, createdAt: Date.now() })
  return id
}

/** The secret of a link for the person of a group. */
export const newConsentLink = async (world: NewWorld, group: string): Promise<string> => {
  const link = await world.ask('POST', {
    as: 'token',
    path: `${library}/assets/groups/${group}/consent/links`,
    body: {},
  })
  return new URL(link.Result.URL).pathname.split('/').at(-1) ?? ''
}

export const newResponse = async ({ ask }: NewWorld, more: object = {}): Promise<string> => {
  const body = { model: 'doubao-seed-emulated', input: 'Hello', store: true, ...more }
  return (await ask('POST', { as: 'token', path: '/v1/responses', body })).id
}

export const newVideo = async ({ ask }: NewWorld): Promise<string> => {
  const body = { model: MODEL, content: [text('a cat')] }
  return (await ask('POST', { as: 'token', path: '/api/v3/contents/generations/tasks', body })).id
}

/** The upstream's task of a video. */
export const upstreamTaskOf = async ({ store, emulator, ids }: NewWorld, id: string) => {
  const known = await store.videoTask(ids.token, id)
  const task = emulator.video.tasks().find((each) => each.id === known?.upstreamId)
  if (!task) throw new Error(`the upstream has no task of ${id}`)
  return task
}

/** A video that has been made. */
export const newEndedVideo = async (world: NewWorld): Promise<string> => {
  const id = await newVideo(world)
  world.emulator.video.finish((await upstreamTaskOf(world, id)).id)
  const path = `/api/v3/contents/generations/tasks/${id}`
  while ((await world.ask('GET', { as: 'token', path })).status !== 'succeeded') await Bun.sleep(20)
  return id
}

/** A user whom operators change. */
export const newUser = async ({ store }: NewWorld): Promise<string> => {
  const id = await store.addUser({ name: newName(), createdAt: Date.now() })
  if (id === undefined) throw new Error('the name is taken')
  return id
}

/** A token of a user, by its id. */
export const newToken = async ({ store }: NewWorld, user: string): Promise<string> => {
  const token = createToken()
  const parts = { hash: hashToken(token), start: token.slice(0, 9), scopes: ['media'] as const, createdAt: Date.now() }
  const added = await store.addUserToken(user, parts)
  if (typeof added === 'string') throw new Error(added)
  return added.id
}

/** A team without members. */
export const newTeam = async ({ store }: NewWorld): Promise<string> => {
  const team = await store.addTeam({ name: newName(), createdAt: Date.now() })
  if (typeof team === 'string') throw new Error(team)
  return team.id
}

/** A creation of a group whose outcome is not known, and that is not due. */
export const newClaim = async (world: NewWorld): Promise<{ readonly id: string; readonly user: string }> => {
  const { store } = world
  const user = await newUser(world)
  const now = Date.now()
  const claim = await store.claim({ user, type: 'AIGC', name: newName(), createdAt: now, dueAt: now + 86_400_000 })
  return { id: claim?.id ?? '', user }
}

/** A batch of assets on which nothing works. */
export const newBatch = async (world: NewWorld): Promise<string> => {
  const { store } = world
  const [id, now] = [newName(), Date.now()]
  const batch = { id, user: await newUser(world), group: newName(), groupType: 'AIGC', createdAt: now }
  await store.addAssetBatch(batch, [{ name: 'a', body: '{}' }], 10)
  await store.postponeAssetBatch(id, now + 86_400_000)
  return id
}

/** A video whose create call had an unknown outcome. */
export const newUndecidedVideo = async (world: NewWorld): Promise<string> => {
  const { store } = world
  const [id, now, day] = [newName(), Date.now(), 86_400_000]
  const task = {
    ...{ id, user: await newUser(world), model: MODEL, serviceTier: 'default' as const },
    ...{ fields: '{}', request: '{}', createdAt: now, expiresAt: now + 2 * day },
  }
  const added = await store.addVideoTask(task, undefined, now + day)
  if (added.outcome !== 'claimed') throw new Error(`the task is ${added.outcome}`)
  const error = { code: 'create_outcome_unknown', message: 'it is not known' }
  await store.failVideoTask(added.task, JSON.stringify({ id, status: 'failed', error }), now, true)
  return id
}

/** The secret of an invitation. */
export const newInvitation = async (world: NewWorld, user: string): Promise<string> => {
  const path = `/api/admin/users/${user}/invitation`
  const { invitation } = await world.ask('POST', { as: 'admin', path })
  return invitation.url.split('/').at(-1)
}

/** A group that another user lends to the user with the token. */
export const newBorrowedGroup = async ({ store, ids, ask }: NewWorld): Promise<string> => {
  const owner = await store.addUser({ name: newName(), createdAt: Date.now() })
  if (owner === undefined) throw new Error('the name is taken')
  const [group, headers] = [`group-${newName()}`, await addToken(store, owner, ['media'])]
  await store.adoptGroup({ id: group, user: owner, type: 'AIGC', name: group, createdAt: Date.now() })
  const path = `${library}/assets/groups/${group}/shares`
  await ask('POST', { as: 'nobody', path, body: { User: ids.token, Access: 'use' }, headers })
  return group
}

/** The cookie of a new session of the person, whose other sessions stay. */
export const newCookie = async (
  { store, server }: { readonly store: Store; readonly server: Pick<ServerProcess, 'url'> },
  user: string,
): Promise<string> => {
  const publicUrl = server.url
  const begin = beginSession({ store, secrets: [await store.secret('session')], publicUrl, maxSessions: 10_000 })
  const { name = '', password } = (await store.account(user)) ?? {}
  const cookie = await begin(new Request(publicUrl), { id: user, name, ...(password !== undefined && { password }) })
  return cookie?.split(';')[0] ?? ''
}

/** The headers of a new operator, for what each can do once at a time. */
export const newOperator = async ({ store }: NewWorld): Promise<Readonly<Record<string, string>>> => {
  const user = await store.addAdminUser({ name: newName(), role: 'admin', createdAt: Date.now() })
  if (typeof user === 'string') throw new Error(user)
  return addToken(store, user.id, ['admin'])
}

/** The cookie of a person of whom nothing else is known. */
export const newPerson = async (world: NewWorld): Promise<string> => newCookie(world, await newUser(world))
