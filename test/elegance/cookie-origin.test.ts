import { expect, test } from 'bun:test'
import { type AnyElysia, Elysia } from 'elysia'
import { gateway } from 'sluice'
import { type Identify, requireSameOrigin } from 'sluice/shared'
import { textGeneration } from 'sluice/text-generation'
import { rest } from 'sluice/upstream-proxy'
import { MemoryStore } from '../ownership/memory.ts'

/** A host app that identifies its users by a cookie. */
const host = (checks: boolean) => {
  const calls: string[] = []
  const identify: Identify = (request) =>
    request.headers.get('cookie') === 'session=ann' ? { user: 'ann' } : undefined
  const options = {
    identify,
    requireSameOrigin: checks ? (request: Request) => requireSameOrigin(request, 'https://host.example') : undefined,
    fetch: async (url: string) => {
      calls.push(url)
      return Response.json({ Result: { Id: 'group-1', Items: [] }, id: 'x', choices: [], data: [] })
    },
  }
  const kind = rest({ url: 'https://upstream.invalid/api/media/proxy', key: 'upstream-key' })
  const app = new Elysia()
    .use(gateway({ ...options, kind, store: new MemoryStore(), secrets: ['sixteen bytes or more'] }))
    .use(textGeneration({ ...options, upstreams: [{ url: 'https://upstream.invalid/v1' }] }))
  return { app: app as AnyElysia, calls }
}

/** Every route of the host that may change something, with a path for it. */
const changing = ({ routes }: AnyElysia) =>
  routes
    .filter(
      ({ method, hooks }) => !['GET', 'HEAD', 'OPTIONS'].includes(method) && [hooks.beforeHandle].flat().some(Boolean),
    )
    .map(({ method, path }) => ({ method, path: path.replace(/:\w+/, 'some-id') }))

const send = async (app: AnyElysia, method: string, path: string, headers: Record<string, string>) => {
  const init = { method, headers, body: method === 'GET' ? undefined : '{}' }
  const response = await app.handle(new Request(`https://host.example${path}`, init))
  return { status: response.status, text: await response.text() }
}

const cookie = 'session=ann'
const foreign: readonly Record<string, string>[] = [
  { origin: 'https://evil.example' },
  { 'sec-fetch-site': 'cross-site' },
  {},
]

test('a page of another origin cannot change anything with the cookie of its visitor', async () => {
  const { app, calls } = host(true)
  expect(changing(app).length).toBe(18)
  for (const { method, path } of changing(app)) {
    for (const headers of foreign) {
      const { status, text } = await send(app, method, path, { cookie, ...headers })
      expect([method, path, headers, status]).toEqual([method, path, headers, 403])
      expect(text).toContain('request comes from a foreign origin')
    }
    const { status } = await send(app, method, path, { cookie: 'session=eve', origin: 'https://evil.example' })
    expect([method, path, status]).toEqual([method, path, 401])
  }
  expect(calls).toEqual([])
})

test('pages of the host may, and reading needs no origin', async () => {
  const { app } = host(true)
  for (const { method, path } of changing(app)) {
    const { text } = await send(app, method, path, { cookie, origin: 'https://host.example' })
    expect(text).not.toContain('foreign origin')
  }
  for (const path of ['/api/media/proxy/assets', '/api/media/proxy/assets/groups', '/v1/models']) {
    expect((await send(app, 'GET', path, { cookie, origin: 'https://evil.example' })).status).toBe(200)
  }
})

test('without the option the origin does not matter, for callers with a token', async () => {
  const { app } = host(false)
  const { status, text } = await send(app, 'POST', '/api/media/proxy/assets/groups', { cookie })
  expect([status, JSON.parse(text).error.message]).toEqual([400, 'Name is required'])
})
