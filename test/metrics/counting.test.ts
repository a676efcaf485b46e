import { describe, expect, test } from 'bun:test'
import { type AnyElysia, Elysia } from 'elysia'
import { createMetrics, metrics } from '../../plugins/metrics/index.ts'

/** The number of responses by method and status. */
const countsOf = async ({ registry }: ReturnType<typeof createMetrics>) =>
  Object.fromEntries(
    [...(await registry.metrics()).matchAll(/^sluice_requests_total\{method="(\w+)",status="(\d+)"\} (\d+)$/gm)].map(
      ([, method, status, count]) => [`${method} ${status}`, Number(count)],
    ),
  )

const send = (app: AnyElysia, path: string, method = 'GET') =>
  app.handle(new Request(`http://localhost${path}`, { method }))

describe('the plugin counts the requests of its host', () => {
  test('on routes before and after it, static ones, errors and unknown paths', async () => {
    const counters = createMetrics()
    const app = new Elysia()
      .get('/before', () => 'before')
      .use(metrics({ metrics: counters, token: undefined }))
      .post('/after', async () => 'after')
      .get('/static', 'static')
      .get('/broken', () => {
        throw new Error('broken')
      })
    for (const path of ['/before', '/static', '/broken', '/unknown', '/metrics']) await send(app, path)
    await send(app, '/after', 'POST')
    expect(await countsOf(counters)).toEqual({ 'GET 200': 2, 'GET 500': 1, 'GET 404': 2, 'POST 200': 1 })
  })

  test('behind a listener, where Bun routes by itself', async () => {
    const counters = createMetrics()
    const app = new Elysia()
      .get('/static', 'static')
      .use(metrics({ metrics: counters, token: 'secret' }))
      .listen({ port: 0, hostname: '127.0.0.1' })
    const url = `http://127.0.0.1:${app.server?.port}`
    for (const path of ['/static', '/metrics', '/unknown']) await (await fetch(url + path)).text()
    await app.stop(true)
    expect(await countsOf(counters)).toEqual({ 'GET 200': 1, 'GET 401': 1, 'GET 404': 1 })
  })

  test('once, when two plugins of the host use it', async () => {
    const counters = createMetrics()
    const plugin = metrics({ metrics: counters, token: undefined })
    const part = (prefix: string) => new Elysia({ prefix }).use(plugin).get('/x', () => 'x')
    await send(new Elysia().use(part('/one')).use(part('/two')), '/one/x')
    expect(await countsOf(counters)).toEqual({ 'GET 200': 1 })
  })

  test('in each of two instances', async () => {
    const [one, two] = [createMetrics(), createMetrics()]
    const app = new Elysia()
      .use(metrics({ metrics: one, token: undefined }))
      .use(metrics({ metrics: two, token: 'secret', prefix: '/other/metrics' }))
      .get('/x', () => 'x')
    for (const path of ['/x', '/metrics', '/other/metrics']) await send(app, path)
    const expected = { 'GET 200': 1, 'GET 404': 1, 'GET 401': 1 }
    expect([await countsOf(one), await countsOf(two)]).toEqual([expected, expected])
  })

  test('with 499 for an error that the caller has not waited for', async () => {
    const counters = createMetrics()
    const app = new Elysia()
      .use(metrics({ metrics: counters, token: undefined }))
      .get('/failed', () => new Response(null, { status: 502 }))
      .get('/done', () => 'done')
    const signal = AbortSignal.abort()
    for (const path of ['/failed', '/done']) await app.handle(new Request(`http://localhost${path}`, { signal }))
    await send(app, '/failed')
    expect(await countsOf(counters)).toEqual({ 'GET 499': 1, 'GET 200': 1, 'GET 502': 1 })
  })

  test('unless the host counts them', async () => {
    const counters = createMetrics()
    const app = new Elysia().use(metrics({ metrics: counters, token: undefined, countRequests: false }))
    await send(app, '/metrics')
    expect(await countsOf(counters)).toEqual({})
  })
})
