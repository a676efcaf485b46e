import { describe, expect, test } from 'bun:test'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { gateway } from '../../src/gateway.ts'
import { MemoryStore } from '../ownership/memory.ts'
import { codeOf, sources } from './sources.ts'

/** The route table of the asset library: method, path, and guarding macro. */
const table = [
  ['POST', '/assets/groups', 'caller'],
  ['GET', '/assets/groups', 'caller'],
  ['GET', '/assets/groups/:group_id', 'ownsGroup'],
  ['PUT', '/assets/groups/:group_id', 'ownsGroup'],
  ['PATCH', '/assets/groups/:group_id', 'ownsGroup'],
  ['DELETE', '/assets/groups/:group_id', 'ownsGroup'],
  ['POST', '/assets', 'caller'],
  ['GET', '/assets', 'caller'],
  ['GET', '/assets/:asset_id', 'locatesAsset'],
  ['PUT', '/assets/:asset_id', 'ownsAsset'],
  ['PATCH', '/assets/:asset_id', 'ownsAsset'],
  ['DELETE', '/assets/:asset_id', 'ownsAsset'],
] as const

const prefix = '/api/media/proxy'

/** A gateway that records its upstream calls. */
const start = () => {
  const calls: string[] = []
  const app = gateway({
    kind: rest({ url: 'http://upstream.invalid', key: 'upstream-key' }),
    fetch: async (url, { method } = {}) => {
      calls.push(`${method} ${url}`)
      return new Response('{}', { status: 404, headers: { 'content-type': 'application/json' } })
    },
    store: new MemoryStore(),
    identify: (request) => (request.headers.has('authorization') ? { user: 'ann' } : undefined),
    secrets: ['page-secret'],
  })
  const ask = (method: string, path: string, authorized = false, body?: string) =>
    app.handle(
      new Request(`http://localhost${prefix}${path.replace(/:\w+/, 'some-id')}`, {
        method,
        body,
        headers: authorized ? { authorization: 'Bearer x' } : {},
      }),
    )
  return { app, ask, calls }
}

describe('the route table of the gateway', () => {
  test('the source has exactly these routes and guards', () => {
    const [source] = sources('src').filter(({ path }) => path === 'src/gateway.ts')
    const routes = /\.(get|post|put|patch|delete)\('([^']*)',[^{]*?\{ (\w+):/g
    const read = [...codeOf(source ?? { path: '', text: '' }).matchAll(routes)]
      .map(([, method = '', path, guard]) => [method.toUpperCase(), path, guard])
      .filter(([, path]) => path?.startsWith('/assets'))
    expect(read.sort()).toEqual(table.map((row) => [...row]).sort())
  })

  test('every guarded route of the app is in the table', () => {
    const { app } = start()
    // Routes for 404 and 405 have no guard.
    const guarded = app.routes
      .filter((route) => [route.hooks.beforeHandle].flat().some((hook) => hook !== undefined))
      .map((route) => `${route.method} ${route.path.slice(prefix.length)}`)
      .filter((route) => route.includes(' /assets'))
    expect(guarded.sort()).toEqual(table.map(([method, path]) => `${method} ${path}`).sort())
  })

  for (const [method, path, guard] of table) {
    test(`${method} ${path} requires authentication`, async () => {
      const { ask, calls } = start()
      const response = await ask(method, path)
      expect(response.status).toBe(401)
      expect(await response.json()).toEqual({
        success: false,
        error: { message: 'not authenticated', type: 'media_proxy_error' },
      })
      expect(calls).toEqual([])
    })

    const errorBody = {
      caller: undefined,
      ownsGroup: 'group_id does not belong to your asset groups',
      ownsAsset: 'asset not found in your asset group',
      locatesAsset: 'asset not found in your asset group',
    }[guard]
    if (errorBody === undefined) continue
    test(`${method} ${path} rejects a foreign object`, async () => {
      const { ask, calls } = start()
      const response = await ask(method, path, true, method === 'PUT' || method === 'PATCH' ? '{}' : undefined)
      expect([response.status, await response.json()]).toEqual([
        403,
        { success: false, error: { message: errorBody, type: 'media_proxy_error' } },
      ])
      expect(calls.filter((call) => !call.startsWith('GET '))).toEqual([])
    })
  }

  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']
  for (const path of new Set(table.map(([, path]) => path))) {
    const allowed: string[] = table.filter((row) => row[1] === path).map(([method]) => method)
    test(`${path} responds to every other method with 405 and Allow`, async () => {
      const { ask } = start()
      for (const method of methods.filter((name) => !allowed.includes(name))) {
        const response = await ask(method, path)
        expect([method, response.status]).toEqual([method, 405])
        expect(response.headers.get('allow')?.split(', ').sort()).toEqual([...allowed].sort())
        expect(await response.json()).toMatchObject({ success: false, error: { type: 'media_proxy_error' } })
      }
    })

    test(`HEAD ${path} requires authentication`, async () => {
      const { ask, calls } = start()
      const response = await ask('HEAD', path)
      expect([401, 405]).toContain(response.status)
      expect(calls).toEqual([])
    })
  }

  for (const path of ['', '/', '/asset', '/assets/a/b', '/assets//', '/assets/groups/a/b', '/%61ssets']) {
    test(`${path || 'the prefix'} is 404 in the documented format`, async () => {
      const { ask } = start()
      for (const method of ['GET', 'POST', 'DELETE', 'PROPFIND']) {
        const response = await ask(method, path)
        expect([method, response.status]).toEqual([method, 404])
        expect(await response.json()).toEqual({
          success: false,
          error: { message: 'not found', type: 'media_proxy_error' },
        })
      }
    })
  }

  test('an encoded path segment is data and selects no route', async () => {
    const { ask, calls } = start()
    for (const path of ['/assets/%67roups', '/assets/group%73']) {
      for (const method of ['GET', 'DELETE']) {
        const response = await ask(method, path, true)
        expect([response.status, await response.json()]).toMatchObject([
          403,
          { error: { message: 'asset not found in your asset group' } },
        ])
      }
    }
    expect(calls).toEqual([])
  })
})
