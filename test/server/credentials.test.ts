import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { noLog } from '../../plugins/shared/problem.ts'
import { textGeneration } from '../../plugins/text-generation/index.ts'
import { ark } from '../../plugins/upstream-proxy/index.ts'
import { account } from '../../src/account.ts'
import { assetLibrary } from '../../src/gateway.ts'
import { openStore } from '../../src/store/index.ts'
import type { Reply } from '../support/gateway.ts'
import type { ServerProcess } from '../support/server.ts'
import { arkOf, type Browser, browse, type Fixture, openFixture, send } from './fixture.ts'

/** Method and path of every route of the server, also of those that only respond with an error. Each parameter is `x`. */
const routes = async (): Promise<readonly (readonly [string, string])[]> => {
  const store = openStore('sqlite::memory:')
  const secrets = ['a secret of the test suite'] as const
  const noIdentity = () => undefined
  const publicUrl = 'http://localhost'
  // An upstream of this kind adds the callback page, too.
  const kind = ark({
    url: 'http://upstream.invalid',
    accessKey: 'access-key',
    secretKey: 'secret-key',
    region: 'cn-beijing',
  })
  const { gateway, upstream } = assetLibrary({ kind, store, identify: noIdentity, secrets })
  const app = new Elysia()
    .use(gateway)
    .use(textGeneration({ upstreams: [], identify: noIdentity }))
    .use(account({ store, secrets, publicUrl, face: { upstream }, log: noLog }))
  await store.close()
  const pairs = app.routes
    .filter(({ path }) => !path.startsWith('/console'))
    .map(({ method, path }) => [method === 'ALL' ? 'PATCH' : method, path.replace(/:\w+/g, 'x').replace('*', 'y/z')])
  return [...new Set(pairs.map((pair) => pair.join(' ')))].map((pair) => pair.split(' ') as [string, string])
}

/** The routes that need a credential. */
const guarded = {
  session: [
    ['GET', '/api/session'],
    ['DELETE', '/api/session'],
    ['GET', '/api/tokens'],
    ['POST', '/api/tokens'],
    ['DELETE', '/api/tokens/x'],
    ['GET', '/api/usage'],
    ['POST', '/api/media/face-verifications'],
    ['GET', '/api/media/face-verifications/x'],
  ],
  token: [
    ['POST', '/api/media/proxy/assets/groups'],
    ['GET', '/api/media/proxy/assets/groups'],
    ['GET', '/api/media/proxy/assets/groups/x'],
    ['PUT', '/api/media/proxy/assets/groups/x'],
    ['PATCH', '/api/media/proxy/assets/groups/x'],
    ['DELETE', '/api/media/proxy/assets/groups/x'],
    ['POST', '/api/media/proxy/assets'],
    ['GET', '/api/media/proxy/assets'],
    ['GET', '/api/media/proxy/assets/x'],
    ['PUT', '/api/media/proxy/assets/x'],
    ['PATCH', '/api/media/proxy/assets/x'],
    ['DELETE', '/api/media/proxy/assets/x'],
    ['POST', '/v1/chat/completions'],
    ['POST', '/v1/responses'],
    ['GET', '/v1/responses/x'],
    ['DELETE', '/v1/responses/x'],
    ['POST', '/v1/responses/x/cancel'],
    ['GET', '/v1/responses/x/input_items'],
    ['GET', '/v1/models'],
    ['GET', '/v1/models/x'],
  ],
}
/** The routes that need no credential. */
const open = [
  ['POST', '/api/session'],
  ['GET', '/api/media/face-verifications/callback/x'],
]

describe('the routes of the server', () => {
  let fixture: Fixture
  let server: ServerProcess
  let ann: Browser
  let token = ''
  beforeAll(async () => {
    fixture = await openFixture()
    await fixture.addPerson('ann')
    token = (await fixture.addUser('carl')).token
    const { text } = fixture.emulator
    server = await fixture.start({ ...arkOf(fixture), TEXT_UPSTREAM_URL: text.url, TEXT_UPSTREAM_KEY: text.key })
    ann = await browse(server, 'ann')
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
    send(server.url, method, path, ['POST', 'PUT', 'PATCH'].includes(method) ? {} : undefined, {
      origin: server.url,
      ...headers,
    })
  const withoutDate = ({ status, text, headers }: Reply) => {
    const { date: _, ...rest } = Object.fromEntries(headers)
    return { status, text, headers: rest }
  }
  const name = ([method, path]: readonly string[]) => `${method} ${path}`

  test('that respond 401 without a credential are exactly the expected ones', async () => {
    const protectedRoutes: string[] = []
    for (const route of await routes()) {
      const { status } = await ask(...route)
      if (status === 401) protectedRoutes.push(name(route))
      else if (!open.map(name).includes(name(route)))
        expect([route, [404, 405].includes(status)]).toEqual([route, true])
    }
    expect(protectedRoutes.sort()).toEqual([...guarded.session, ...guarded.token].map(name).sort())
  })

  test('respond to the wrong kind of credential as to none', async () => {
    for (const [credential, others] of [
      [{ authorization: `Bearer ${token}` }, guarded.session],
      [{ cookie: ann.cookie }, guarded.token],
    ] as const) {
      for (const [method = '', path = ''] of others) {
        const [withNone, withWrong] = [await ask(method, path), await ask(method, path, credential)]
        expect(withNone.status).toBe(401)
        expect([path, withoutDate(withWrong)]).toEqual([path, withoutDate(withNone)])
      }
    }
    expect(fixture.emulator.calls).toEqual([])
  })

  test('respond 405 to every other method, standard or not', async () => {
    const paths = [...guarded.session, ...guarded.token].map(([, path = '']) => path)
    for (const path of new Set([...paths, '/console'])) {
      for (const method of ['PROPFIND', 'LOCK', 'TRACE']) {
        const { status, headers } = await ask(method, path)
        expect([method, path, status, headers.has('allow')]).toEqual([method, path, 405, true])
      }
    }
  })

  test('use only their own kind of credential when a request has both', async () => {
    const both = { cookie: ann.cookie, authorization: `Bearer ${token}` }
    expect((await ask('GET', '/api/session', both)).json.user.name).toBe('ann')
    expect((await ask('GET', '/v1/models', both)).status).toBe(200)
    expect((await ask('GET', '/v1/models', { ...both, authorization: 'Bearer sk-none' })).status).toBe(401)
    expect((await ask('GET', '/api/session', { ...both, cookie: 'session=none' })).status).toBe(401)
    await ask('POST', '/api/media/proxy/assets/groups', { ...both, 'content-type': 'application/json' })
    for (const { headers } of fixture.emulator.calls) {
      expect(JSON.stringify(headers)).not.toContain(ann.cookie.slice(8))
      expect(JSON.stringify(headers)).not.toContain(token)
    }
  })
})
