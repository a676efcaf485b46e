import { expect, test } from 'bun:test'
import type { Specification } from '../../src/documentation/specification.ts'
import { startGateway } from '../support/gateway.ts'

/** The same for everybody: a cache may store them. */
const publicRoutes = ['/openapi/json', '/api/failure-advice', '/api/failure-advice/{code}']

const methods = ['get', 'post', 'put', 'patch', 'delete']

test('every route forbids caches to store its response: to a user, without a user, and for a wrong method', async () => {
  await using gateway = await startGateway({ metricsToken: 'a-metrics-token' })
  const ann = await gateway.addUser('ann')
  const document = (await (await fetch(`${gateway.url}/openapi/json`)).json()) as Specification
  const cached: string[] = []
  const statuses = new Set<number>()
  const check = async (path: string, method: string, token: string | undefined) => {
    const headers: Record<string, string> = { 'content-type': 'application/json' }
    if (token !== undefined) headers.authorization = `Bearer ${token}`
    const controller = new AbortController()
    const init = { method: method.toUpperCase(), headers, signal: controller.signal }
    const response = await fetch(gateway.url + path, method === 'get' ? init : { ...init, body: '{}' })
    statuses.add(response.status)
    if (!response.headers.get('cache-control')?.split(', ').includes('no-store'))
      cached.push(`${method} ${path} ${response.status}`)
    // The stream of events is endless.
    controller.abort()
  }
  for (const template of Object.keys(document.paths)) {
    if (publicRoutes.includes(template)) continue
    const path = template.replace(/\{[^}]*\}/g, 'none')
    for (const method of methods)
      for (const token of [ann.token, undefined, 'a-metrics-token']) await check(path, method, token)
  }
  for (const path of ['/none', '/api/none', '/v1/none', '/api/v3/none', '/api/media/proxy/none'])
    for (const token of [ann.token, undefined]) await check(path, 'get', token)
  expect(cached).toEqual([])
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 401, 403, 404, 405]))
  expect(Object.keys(document.paths).length).toBeGreaterThan(30)
})

test('what the upstream says about caches changes nothing', async () => {
  await using gateway = await startGateway({
    text: { fetch: async (...call) => cacheable(await fetch(...(call as Parameters<typeof fetch>))) },
  })
  const ann = await gateway.addUser('ann')
  const messages = [{ role: 'user', content: 'Hello' }]
  for (const body of [
    { model: 'doubao-seed-emulated', messages },
    { model: 'doubao-seed-emulated', messages, stream: true },
    { model: 'none', messages },
  ]) {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    await response.text()
    expect(response.headers.get('cache-control')).toStartWith('no-store')
  }
})

const cacheable = (response: Response): Response => {
  const headers = new Headers(response.headers)
  headers.set('cache-control', 'public, max-age=3600')
  return new Response(response.body, { status: response.status, headers })
}
