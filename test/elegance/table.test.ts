import { describe, expect, test } from 'bun:test'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { gateway } from '../../src/gateway.ts'
import { MemoryStore } from '../ownership/memory.ts'
import { codeOf, sources } from './sources.ts'

/** The asset library's table of contents: method, path, and the macro that guards it. */
const table = [
  ['POST', '/assets/groups', 'caller'],
  ['GET', '/assets/groups', 'caller'],
  ['GET', '/assets/groups/:group_id', 'ownsGroup'],
  ['PUT', '/assets/groups/:group_id', 'ownsGroup'],
  ['PATCH', '/assets/groups/:group_id', 'ownsGroup'],
  ['DELETE', '/assets/groups/:group_id', 'ownsGroup'],
  ['POST', '/assets', 'caller'],
  ['GET', '/assets', 'caller'],
  ['GET', '/assets/:asset_id', 'examinesAsset'],
  ['PUT', '/assets/:asset_id', 'ownsAsset'],
  ['PATCH', '/assets/:asset_id', 'ownsAsset'],
  ['DELETE', '/assets/:asset_id', 'ownsAsset'],
] as const

const prefix = '/api/media/proxy'

/** A gateway whose upstream is never to be reached. */
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

describe('the gateway is the table of contents', () => {
  test('its chain reads as the table, guard by guard', () => {
    const [source] = sources('src').filter(({ path }) => path === 'src/gateway.ts')
    const routes = /\.(get|post|put|patch|delete)\('([^']*)',[^{]*?\{ (\w+):/g
    const read = [...codeOf(source ?? { path: '', text: '' }).matchAll(routes)]
      .map(([, method = '', path, guard]) => [method.toUpperCase(), path, guard])
      .filter(([, path]) => path?.startsWith('/assets'))
    expect(read.sort()).toEqual(table.map((row) => [...row]).sort())
  })

  test('every route that is not a refusal is in the table', () => {
    const { app } = start()
    // The refusals of other methods and unknown paths are told apart by having no guard.
    const guarded = app.routes
      .filter((route) => [route.hooks.beforeHandle].flat().some((hook) => hook !== undefined))
      .map((route) => `${route.method} ${route.path.slice(prefix.length)}`)
      .filter((route) => route.includes(' /assets'))
    expect(guarded.sort()).toEqual(table.map(([method, path]) => `${method} ${path}`).sort())
  })

  for (const [method, path, guard] of table) {
    test(`${method} ${path} lets nobody in without a credential`, async () => {
      const { ask, calls } = start()
      const response = await ask(method, path)
      expect(response.status).toBe(401)
      expect(await response.json()).toEqual({
        success: false,
        error: { message: 'not authenticated', type: 'media_proxy_error' },
      })
      expect(calls).toEqual([])
    })

    const refusal = {
      caller: undefined,
      ownsGroup: 'group_id does not belong to your asset groups',
      ownsAsset: 'asset not found in your asset group',
      examinesAsset: 'asset not found in your asset group',
    }[guard]
    if (refusal === undefined) continue
    test(`${method} ${path} refuses what is not the caller's`, async () => {
      const { ask, calls } = start()
      const response = await ask(method, path, true, method === 'PUT' || method === 'PATCH' ? '{}' : undefined)
      expect([response.status, await response.json()]).toEqual([
        403,
        { success: false, error: { message: refusal, type: 'media_proxy_error' } },
      ])
      expect(calls.filter((call) => !call.startsWith('GET '))).toEqual([])
    })
  }

  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']
  for (const path of new Set(table.map(([, path]) => path))) {
    const allowed: string[] = table.filter((row) => row[1] === path).map(([method]) => method)
    test(`${path} answers every other method with 405 and Allow`, async () => {
      const { ask } = start()
      for (const method of methods.filter((name) => !allowed.includes(name))) {
        const response = await ask(method, path)
        expect([method, response.status]).toEqual([method, 405])
        expect(response.headers.get('allow')?.split(', ').sort()).toEqual([...allowed].sort())
        expect(await response.json()).toMatchObject({ success: false, error: { type: 'media_proxy_error' } })
      }
    })

    test(`HEAD ${path} tells nothing without a credential`, async () => {
      const { ask, calls } = start()
      const response = await ask('HEAD', path)
      expect([401, 405]).toContain(response.status)
      expect(calls).toEqual([])
    })
  }

  for (const path of ['', '/', '/asset', '/assets/a/b', '/assets//', '/assets/groups/a/b', '/%61ssets']) {
    test(`${path || 'the prefix'} is unknown, and says so in the document's shape`, async () => {
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

  test('an encoded word of the table is data, not the word', async () => {
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
