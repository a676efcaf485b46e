import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { AnyElysia } from 'elysia'
import { createToken, hashToken, identifyByToken } from '../../plugins/api-token/index.ts'
import { createMetrics } from '../../plugins/metrics/index.ts'
import { type Role, type Scope, scopes } from '../../plugins/shared/identity/scopes.ts'
import { ark } from '../../plugins/upstream-proxy/index.ts'
import { usageLimits } from '../../plugins/usage-limits/index.ts'
import { identifyBySession } from '../../plugins/web-session/index.ts'
import { openOidcLogin } from '../../src/app/oidc-login.ts'
import { createRoutes } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { adminOptions } from '../../src/operators/admin-options.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { silentLog } from './silent-log.ts'

/**
 * Who may use the routes of the default server: a scope, `session` for a person in a browser, `any` for any credential,
 * or `open`. A new route needs an entry here, and what it answers to each scope must fit.
 */
const families: readonly (readonly [path: RegExp, family: Scope | 'session' | 'open' | 'any'])[] = [
  [/^\/(?:healthz|readyz|metrics|openapi.*|console.*|)$/, 'open'],
  [/^\/api\/media\/face-verifications\/callback\//, 'open'],
  [/^\/api\/v3\/contents\/generations\/callbacks\//, 'open'],
  [/^\/api\/failure-advice(?:\/|$)/, 'open'],
  [/^\/api\/files\//, 'open'],
  [/^\/api\/session(?:\/oidc.*)?$/, 'open'],
  [/^\/api\/invitations\/:token$/, 'open'],
  [/^\/api\/(?:account|tokens|usage|webhooks|media\/face-verifications)(?:\/|$)/, 'session'],
  [/^\/api\/(?:media\/proxy|uploads|events)(?:\/|$)/, 'media'],
  [/^\/(?:v1\/videos|api\/v3)(?:\/|$)/, 'video'],
  [/^\/v1(?:\/|$)/, 'text'],
  [/^\/api\/limits$/, 'any'],
  [/^\/mcp$/, 'any'],
  [/^\/mcp\/uploads\//, 'open'],
  [/^\/api\/admin\/users\/import$/, 'admin'],
  [/^\/api\/admin\/(?:users|teams|tokens)(?:\/|$)/, 'provision'],
  [/^\/api\/admin(?:\/|$)/, 'admin'],
]

const familyOf = (path: string) => families.find(([pattern]) => pattern.test(path))?.[1]

/** Routes that `read` may use although they are no GET. */
const readsByPost = ['/v1/messages/count_tokens', '/v1/responses/input_tokens']

describe('the families of routes', () => {
  let app: AnyElysia
  let store: Store
  const tokens = new Map<string, string>()

  beforeAll(async () => {
    store = openStore('sqlite::memory:')
    await store.migrate()
    const secrets = ['a secret of the test suite']
    const session = { store, secrets, publicUrl: 'http://localhost' }
    const identify = identifyByToken({ store })
    const limits = usageLimits({ store: store.limits })
    const config = readConfig({ STORAGE_URL: 'none' })
    if ('problems' in config) throw new Error(config.problems.join('\n'))
    const oidc = await openOidcLogin(
      { issuer: 'http://127.0.0.1:1', clientId: 'c', clientSecret: 's', scopes: 'openid' },
      { ...session, addressOf: () => undefined },
    )
    const kind = ark({ url: 'http://127.0.0.1:1', accessKey: 'AK', secretKey: 'SK', region: 'cn-beijing' })
    app = createRoutes(
      {
        gateway: { kind, store, identify, secrets },
        text: { upstreams: [{ url: 'http://127.0.0.1:1/v1' }], identify, storedResponses: store },
        video: { upstream: { url: 'http://127.0.0.1:1', key: 'k' }, store, identify },
        people: { ...session, face: {} },
        events: { store, identify, webhooks: { ...session, identify: identifyBySession(session) } },
        files: { ...session, identify, storage: { put: refuse, open: refuse, remove: refuse } as never },
        ...{ limits: {}, usageLimits: limits, oidc },
        admin: adminOptions(config, { ...session, identify, usageLimits: limits }),
        mcp: { ...session, identify },
        health: { database: async () => {}, draining: () => false },
        metricsToken: 'metrics',
        log: silentLog,
      },
      createMetrics(),
    )
    for (const role of ['user', 'admin'] as const)
      for (const scope of scopes) tokens.set(`${role} ${scope}`, await tokenWith(role, [scope]))
    return () => store.close()
  })

  const refuse = () => Promise.reject(new Error('no storage in this test'))

  const tokenWith = async (role: Role, of: readonly Scope[]): Promise<string> => {
    const user = await store.addAdminUser({ name: randomUUID(), role, createdAt: 1 })
    if (typeof user === 'string') throw new Error(user)
    const token = createToken()
    await store.addUserToken(user.id, { hash: hashToken(token), start: 'sk-', scopes: of, createdAt: 1 })
    return token
  }

  const ask = (method: string, path: string, token?: string, headers: Record<string, string> = {}) =>
    app.handle(
      new Request(`http://localhost${path.replace(/:\w+|\*/g, 'x')}`, {
        method,
        headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      }),
    )

  /** Whether the response is the one for a credential without the scope. That of the admin API does not say why. */
  const isOutsideScopes = async (response: Response) =>
    response.status === 403 && /needs the scope|"not allowed"/.test(await response.text())

  const routes = () =>
    app.routes
      .filter(({ method }) => method !== 'ALL' && method !== 'OPTIONS')
      .map(({ method, path }) => ({ method, path, family: familyOf(path) }))

  test('have every route of the app', () => {
    expect(routes().length).toBeGreaterThan(80)
    expect(routes().filter(({ family }) => family === undefined)).toEqual([])
    for (const [pattern] of families) expect(app.routes.some(({ path }) => pattern.test(path))).toBe(true)
  })

  test('admit exactly the tokens with their scope, and reading ones where nothing changes', async () => {
    const wrong: string[] = []
    const everything = await tokenWith('admin', scopes)
    const seen = { checked: 0, unknown: 0 }
    for (const { method, path, family } of routes()) {
      const anonymous = (await ask(method, path)).status
      // Another method of a known path, or a page of the console. The admin API tells only admins.
      if (anonymous === 405 || anonymous === 404 || (await ask(method, path, everything)).status === 405) {
        seen.unknown++
        continue
      }
      if (family === 'open') continue
      if (anonymous !== 401) wrong.push(`${method} ${path}: ${anonymous} without a credential`)
      for (const [name, token] of tokens) {
        const [role, scope = ''] = name.split(' ')
        const response = await ask(method, path, token)
        if (family === 'session') {
          if (response.status !== 401) wrong.push(`${method} ${path}: ${response.status} with a token`)
          continue
        }
        const reads = method === 'GET' || method === 'HEAD' || readsByPost.includes(path)
        const isAdmitted =
          family === 'any' ||
          (family === 'admin' || family === 'provision'
            ? role === 'admin' && (scope === 'admin' || scope === family)
            : scope === family || (scope === 'read' && reads))
        if ((await isOutsideScopes(response)) === isAdmitted)
          wrong.push(`${method} ${path}: ${response.status} for ${name}`)
        seen.checked++
      }
    }
    expect(wrong).toEqual([])
    expect(seen.checked).toBeGreaterThan(400)
  })

  test('answer 403 in the form of the route', async () => {
    const media = tokens.get('user media') ?? ''
    const text = tokens.get('user text') ?? ''
    const message = (scope: string) => `this credential must not use this route: it needs the scope ${scope}`
    const json = async (response: Response) => (await response.json()) as unknown
    expect(await json(await ask('GET', '/api/media/proxy/assets', text))).toEqual({
      success: false,
      error: { message: message('media'), type: 'media_proxy_error' },
    })
    expect(await json(await ask('POST', '/v1/chat/completions', media))).toEqual({
      error: { message: message('text'), type: 'permission_error', param: null, code: null },
    })
    expect(await json(await ask('POST', '/v1/messages', media))).toMatchObject({
      type: 'error',
      error: { type: 'permission_error', message: message('text') },
    })
    expect(await json(await ask('POST', '/api/v3/contents/generations/tasks', text))).toEqual({
      error: { code: 'AccessDenied', message: message('video'), param: '', type: 'Forbidden' },
    })
    expect(await json(await ask('POST', '/v1/videos', text))).toEqual({
      error: { message: message('video'), type: 'permission_error', param: null, code: null },
    })
  })

  test('do not let a reading token open a WebSocket, which generates', async () => {
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket' }
    expect(await isOutsideScopes(await ask('GET', '/v1/responses', tokens.get('user read'), upgrade))).toBe(true)
    expect(await isOutsideScopes(await ask('GET', '/v1/responses', tokens.get('user text'), upgrade))).toBe(false)
  })

  test('add up, and a token without any scope may do nothing', async () => {
    const both = await tokenWith('user', ['video', 'read'])
    expect(await isOutsideScopes(await ask('GET', '/v1/models', both))).toBe(false)
    expect(await isOutsideScopes(await ask('POST', '/v1/responses', both))).toBe(true)
    expect(await isOutsideScopes(await ask('POST', '/v1/videos', both))).toBe(false)
    const none = await tokenWith('admin', [])
    for (const path of ['/v1/models', '/v1/videos', '/api/media/proxy/assets', '/api/events'])
      expect(await isOutsideScopes(await ask('GET', path, none))).toBe(true)
  })
})
