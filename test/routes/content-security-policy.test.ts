import { describe, expect, test } from 'bun:test'
import { noLog, Problem } from '../../plugins/shared/problem.ts'
import { renderRejection } from '../../src/app/request/rejection.ts'
import { createWaitingApp } from '../../src/app.ts'
import { askRaw } from '../support/gateway.ts'
import { newAsset, newGroup, openFixture } from './fixture.ts'

const inert = { 'x-content-type-options': 'nosniff', 'content-security-policy': "default-src 'none'; sandbox" }
const policyOf = (headers: Headers) =>
  Object.fromEntries(Object.keys(inert).map((name) => [name, headers.get(name)] as const))

describe('a response that is no page is inert in a browser', () => {
  test('from routes, errors, the server, health checks and the upstream', async () => {
    await using fixture = await openFixture()
    const { ann, url, emulator } = fixture
    const group = await newGroup(ann, 'a')
    const asset = await newAsset(ann, group)
    const statuses = new Set<number>()
    const look = async (method: string, path: string, headers: Record<string, string> = {}, body?: string) => {
      const reply = await askRaw(url, path, { method, headers, body })
      statuses.add(reply.status)
      expect([method, path, reply.status, policyOf(reply.headers)]).toEqual([method, path, reply.status, inert])
    }
    const paths = [
      ...['/', '/nowhere', '/favicon.ico', '/healthz', '/readyz', '/metrics', '/openapi/json'],
      ...[
        '/v1',
        '/v1/models',
        '/v1/models/m',
        '/v1/chat/completions',
        '/v1/responses',
        '/v1/responses/r',
        '/v1/responses/r/input_items',
        '/v1/nowhere',
      ],
      ...['', '/', '/proxy', '/proxy/assets', '/proxy/assets/groups', `/proxy/assets/${asset}`, '/proxy/assets/x'].map(
        (path) => `/api/media${path}`,
      ),
      ...['/api/media/face-verifications', '/api/media/face-verifications/v', '/api/session', '/api/tokens'],
      ...['/api/tokens/t', '/api/usage', '/api/nowhere'],
    ]
    const authorization = `Bearer ${ann.token}`
    for (const path of paths) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        await look(method, path)
        if (method !== 'DELETE') await look(method, path, { authorization })
      }
    }
    await look('OPTIONS', 'http://')
    for (const stream of [false, true]) {
      const question = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], stream })
      await look('POST', '/v1/chat/completions', { authorization, 'content-type': 'application/json' }, question)
    }
    for (const body of ['<script>alert(1)</script>', '{"a":"<script>"}']) {
      emulator.faults.add({ kind: 'status', status: 500, body, headers: { 'content-type': 'text/html' } })
      await look('GET', `/api/media/proxy/assets/${asset}`, { authorization })
    }
    for (const status of [200, 400, 401, 404, 405, 500]) {
      expect([status, statuses.has(status)]).toEqual([status, true])
    }
  })

  test('also before the database is ready, and for a malformed request', async () => {
    const health = { database: () => Promise.reject(new Error('away')), draining: () => false }
    const waiting = createWaitingApp({ health, log: noLog, segment: 'media', reason: () => undefined })
    for (const path of ['/healthz', '/readyz', '/v1/models', '/api/media/proxy/assets', '/']) {
      expect(policyOf((await waiting(new Request(`http://localhost${path}`))).headers)).toEqual(inert)
    }
    for (const target of ['/v1/models', '/', '']) {
      expect(policyOf(renderRejection()(new Problem(400, 'request is not valid'), target).headers)).toEqual(inert)
    }
  })
})

test('pages have their own Content-Security-Policy', async () => {
  await using fixture = await openFixture()
  const { text: page } = await askRaw(fixture.url, '/console', { method: 'GET', headers: {} })
  // The names of the files contain their hash.
  const files = [...page.matchAll(/(?:src|href)="\.(\/console\/[^"]+\.(?:js|css))"/g)].map(([, path = '']) => path)
  expect(new Set(files.map((path) => path.split('.').at(-1)))).toEqual(new Set(['js', 'css']))
  for (const path of ['/console', '/openapi', ...files]) {
    const { headers, status } = await askRaw(fixture.url, path, { method: 'GET', headers: {} })
    expect([path, status, headers.get('x-content-type-options')]).toEqual([path, 200, 'nosniff'])
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  }
})
