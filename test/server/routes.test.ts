import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { account } from '../../plugins/account/index.ts'
import { assetLibrary } from '../../plugins/asset-library/index.ts'
import { events } from '../../plugins/events/index.ts'
import { fileStorage, folderStorage } from '../../plugins/file-storage/index.ts'
import { noLog, Problem } from '../../plugins/shared/problem.ts'
import { textGeneration } from '../../plugins/text-generation/index.ts'
import { ark } from '../../plugins/upstream-proxy/index.ts'
import {
  createVideoService,
  openaiVideos,
  videoGeneration,
  videoProblemBody,
} from '../../plugins/video-generation/index.ts'
import { openStore } from '../../src/store/index.ts'
import { errorReply } from '../routes/fixture.ts'
import type { Reply } from '../support/gateway.ts'
import {
  eventRoutes,
  libraryPath,
  libraryRoutes,
  openaiVideoRoutes,
  openRoutes,
  sessionRoutes,
  textRoutes,
  uploadRoutes,
  videoRoutes,
} from '../support/route-table.ts'
import type { ServerProcess } from '../support/server.ts'
import { arkOf, type Browser, browse, type Fixture, openFixture, send } from './fixture.ts'

type Route = readonly [method: string, path: string]

/** Method and path of every route of the server, also of those that only respond with an error. Each parameter is `x`. */
const allRoutes = async (): Promise<readonly Route[]> => {
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
  const uses = () => {
    throw new Error('nobody asks for uses')
  }
  const { gateway, upstream } = assetLibrary({
    kind,
    store,
    shares: { store },
    identify: noIdentity,
    secrets,
    uses,
    batches: store,
    consents: { store },
  })
  const app = new Elysia()
    .use(gateway)
    .use(textGeneration({ upstreams: [], identify: noIdentity }))
    .use(events({ store, identify: noIdentity, webhooks: { store, identify: noIdentity, publicUrl } }))
    .use(fileStorage({ store, identify: noIdentity, publicUrl, secrets, storage: folderStorage('data/none') }))
    .use(videoGeneration({ store, identify: noIdentity }))
    .use(openaiVideos({ service: createVideoService({ store }), identify: noIdentity }))
    .use(account({ store, secrets, publicUrl, face: { store, upstream, consents: { store, secrets } }, log: noLog }))
  await store.close()
  const pairs = app.routes
    .filter(({ path }) => !path.startsWith('/console'))
    .map(({ method, path }) => [method === 'ALL' ? 'PATCH' : method, withIds(path)])
  return [...new Set(pairs.map((pair) => pair.join(' ')))].map((pair) => pair.split(' ') as [string, string])
}

const withIds = (path: string): string => path.replace(/:\w+/g, 'x').replace('*', 'y/z')
const filled = (routes: readonly (readonly [string, string, ...unknown[]])[], prefix = ''): readonly Route[] =>
  routes.map(([method, path]) => [method, prefix + withIds(path)])

/** The routes that need a credential. */
const guarded = {
  session: filled(sessionRoutes),
  either: [...filled(eventRoutes), ...filled(uploadRoutes)],
  token: [
    ...[...filled(libraryRoutes, libraryPath), ...filled(textRoutes, '/v1'), ...filled(videoRoutes, '/api/v3')],
    ...filled(openaiVideoRoutes, '/v1/videos'),
  ],
}
const open = filled(openRoutes)

const name = ([method, path]: Route) => `${method} ${path}`

/** Without the id of the request, which is in errors of Anthropic's shape. */
const statusAndText = (reply: Reply) => ({
  status: reply.status,
  text: reply.text.replace(/"request_id":"[^"]+"/, '"request_id":null'),
})

/**
 * Status and body of an error at a path: that of Anthropic below `/v1/messages`, that of OpenAI below `/v1`, that of the vendor below `/api/v3`,
 * else that of the gateway.
 */
const errorAt = (path: string, status: number, message: string, type: string, code: string | null = null) => {
  if (path.startsWith('/api/v3'))
    return { status, text: JSON.stringify(videoProblemBody(new Problem(status, message))) }
  if (!path.startsWith('/v1')) return errorReply(status, message)
  const details = status === 404 && { details: { error_code: code } }
  const body = path.startsWith('/v1/messages')
    ? { type: 'error', error: { type: details ? 'not_found_error' : type, message, ...details }, request_id: null }
    : { error: { message, type, param: null, code } }
  return { status, text: JSON.stringify(body) }
}
const unauthenticatedAt = (path: string) =>
  errorAt(path, 401, 'not authenticated', 'authentication_error', 'invalid_api_key')
const notFoundAt = (method: string, path: string, text: string) =>
  path.startsWith('/v1')
    ? errorAt(
        path,
        404,
        messageIn(text, `${method} ${path} does not exist. There is: `),
        'invalid_request_error',
        'unknown_url',
      )
    : errorAt(path, 404, 'not found', '')
/** The message of an error, if it begins like this. */
const messageIn = (text: string, start: string): string => {
  const { message } = JSON.parse(text).error
  return message.startsWith(start) ? message : start
}
const notAllowedAt = (path: string) => errorAt(path, 405, 'method not allowed', 'invalid_request_error')

describe('the routes of the server', () => {
  let fixture: Fixture
  let server: ServerProcess
  let ann: Browser
  let token = ''
  let bearer: Record<string, string>
  beforeAll(async () => {
    fixture = await openFixture()
    await fixture.addPerson('ann')
    token = (await fixture.addUser('carl')).token
    bearer = { authorization: `Bearer ${token}` }
    const { text, video } = fixture.emulator
    server = await fixture.start({
      ...{ ...arkOf(fixture), TEXT_UPSTREAM_URL: text.url, TEXT_UPSTREAM_KEY: text.key },
      ...{ VIDEO_UPSTREAM_URL: video.url, VIDEO_UPSTREAM_KEY: video.key },
    })
    ann = await browse(server, 'ann')
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
    send(server.url, method, path, ['POST', 'PUT', 'PATCH'].includes(method) ? {} : undefined, {
      origin: server.url,
      ...headers,
    })
  const withoutDate = (reply: Reply) => {
    const { date: _, 'x-request-id': id, 'request-id': _ofMessages, ...rest } = Object.fromEntries(reply.headers)
    expect(id).toMatch(/^[\w-]{36}$/)
    return { ...statusAndText(reply), headers: rest }
  }

  test('that respond 401 without a credential are exactly the expected ones', async () => {
    const protectedRoutes: string[] = []
    for (const route of await allRoutes()) {
      const reply = await ask(...route)
      if (reply.status === 401) {
        protectedRoutes.push(name(route))
        expect([name(route), statusAndText(reply)]).toEqual([name(route), unauthenticatedAt(route[1])])
      } else if (!open.map(name).includes(name(route))) {
        expect([route, [404, 405].includes(reply.status)]).toEqual([route, true])
      }
    }
    expect(protectedRoutes.sort()).toEqual([...guarded.session, ...guarded.either, ...guarded.token].map(name).sort())
    expect(fixture.emulator.calls).toEqual([])
  })

  test('respond to the wrong kind of credential as to none', async () => {
    for (const [credential, others] of [
      [bearer, guarded.session],
      [{ cookie: ann.cookie }, guarded.token],
    ] as const) {
      for (const [method, path] of others) {
        const [withNone, withWrong] = [await ask(method, path), await ask(method, path, credential)]
        expect(withNone.status).toBe(401)
        expect([path, withoutDate(withWrong)]).toEqual([path, withoutDate(withNone)])
      }
    }
    expect(fixture.emulator.calls).toEqual([])
  })

  test('use only their own kind of credential when a request has both', async () => {
    const both = { cookie: ann.cookie, ...bearer }
    expect((await ask('GET', '/api/session', both)).json.user.name).toBe('ann')
    expect((await ask('GET', '/v1/models', both)).status).toBe(200)
    expect((await ask('GET', '/v1/models', { ...both, authorization: 'Bearer sk-none' })).status).toBe(401)
    expect((await ask('GET', '/api/session', { ...both, cookie: 'session=none' })).status).toBe(401)
    await ask('POST', `${libraryPath}/assets/groups`, { ...both, 'content-type': 'application/json' })
    for (const { headers } of fixture.emulator.calls) {
      expect(JSON.stringify(headers)).not.toContain(ann.cookie.slice(8))
      expect(JSON.stringify(headers)).not.toContain(token)
    }
  })

  test('reject an object that does not belong to the caller', async () => {
    const messages = {
      ownsGroup: 'group_id does not belong to your asset groups',
      readsGroup: 'group_id does not belong to your asset groups',
      ownsAsset: 'asset not found in your asset group',
      readsAsset: 'asset not found in your asset group',
    }
    fixture.emulator.clearCalls()
    for (const [method, path, guard] of libraryRoutes) {
      if (guard === 'caller') continue
      const reply = await ask(method, libraryPath + withIds(path), bearer)
      expect([method, path, statusAndText(reply)]).toEqual([method, path, errorReply(403, messages[guard])])
    }
    expect(fixture.emulator.calls.filter(({ action }) => !action.startsWith('Get'))).toEqual([])
  })

  test('respond 405 with Allow to every other method, standard or not, with and without a credential', async () => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'SEARCH', 'LOCK', 'TRACE']
    const routes = [...guarded.session, ...guarded.either, ...guarded.token, ...open]
    fixture.emulator.clearCalls()
    for (const path of new Set(routes.map(([, each]) => each))) {
      const allowed = routes.filter((route) => route[1] === path).map(([method]) => method)
      for (const method of methods.filter((each) => !allowed.includes(each))) {
        for (const headers of [{}, { cookie: ann.cookie, ...bearer }]) {
          const reply = await ask(method, path, headers)
          expect([method, path, statusAndText(reply)]).toEqual([method, path, notAllowedAt(path)])
          expect([path, reply.headers.get('allow')?.split(', ').sort()]).toEqual([path, allowed.toSorted()])
        }
      }
    }
    for (const method of ['PROPFIND', 'LOCK', 'TRACE']) {
      const { status, headers } = await ask(method, '/console')
      expect([method, status, headers.has('allow')]).toEqual([method, 405, true])
    }
    expect(fixture.emulator.calls).toEqual([])
  })

  test('do not serve HEAD without a credential', async () => {
    for (const [, path] of guarded.token) {
      const { status } = await ask('HEAD', path)
      expect([path, [401, 405].includes(status)]).toEqual([path, true])
    }
    expect(fixture.emulator.calls).toEqual([])
  })

  test('do not include any other path, with every method, with and without a credential', async () => {
    const paths = [
      ...['', '/', '/x', '/asset', '/assets/a/b', '/assets//', '/assets/groups/a/b', '/assets/groups/a/b/c', '/groups'],
      ...['/assetsx', '/ASSETS', '/%61ssets', '/assets/..', '/assets/%2e%2e', '/assets/../..', '/assets/a/%2e%2e/b/c'],
    ].map((path) => libraryPath + path)
    const textPaths = ['/v1', '/v1/', '/v1/responses/r1/r2', '/v1/conversations/c1', '/v1/messages/batches']
    for (const path of [...paths, ...textPaths]) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
        for (const headers of [{}, bearer]) {
          const reply = await ask(method, path, headers)
          expect([method, path, statusAndText(reply)]).toEqual([method, path, notFoundAt(method, path, reply.text)])
        }
      }
    }
    expect(fixture.emulator.calls).toEqual([])
  })
})
