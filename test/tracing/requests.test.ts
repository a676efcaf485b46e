import { expect, test } from 'bun:test'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { startTracedGateway } from './fixture.ts'

const seconds = ({ duration: [whole, nanos] }: ReadableSpan) => whole + nanos / 1e9

test('a request has one span, named by its route, and one span below it for each call to the upstream', async () => {
  await using traced = await startTracedGateway({ limits: { perSecond: { GetAsset: 1 } } })
  const ann = await traced.gateway.addUser('ann')
  const group = (await ann.ask('POST', '/assets/groups', { Name: 'holidays' })).json.Result.Id
  const asset = { GroupId: group, URL: 'https://example.com/a.png', AssetType: 'Image', Name: 'beach' }
  const id = (await ann.ask('POST', '/assets', asset)).json.Result.Id
  await ann.ask('GET', `/assets/${id}`)
  traced.reset()
  // The second read within a second waits for its permit.
  expect((await ann.ask('GET', `/assets/${id}`)).status).toBe(200)

  const { request, calls } = await traced.traceOf('GET')
  expect(request).toMatchObject({ name: 'GET /api/media/proxy/assets/:asset_id', kind: SpanKind.SERVER })
  expect(request.parentSpanContext).toBe(undefined)
  expect(request.attributes).toEqual({
    'http.request.method': 'GET',
    'http.route': '/api/media/proxy/assets/:asset_id',
    'http.response.status_code': 200,
  })
  expect(calls).toHaveLength(1)
  const [call] = calls
  expect(call).toMatchObject({ name: 'GetAsset', kind: SpanKind.CLIENT, status: { code: SpanStatusCode.UNSET } })
  expect(call?.parentSpanContext?.spanId).toBe(request.spanContext().spanId)
  expect(call?.attributes).toEqual({
    'sluice.action': 'GetAsset',
    'sluice.queue.seconds': expect.any(Number),
    'http.response.status_code': 200,
  })
  const queued = Number(call?.attributes['sluice.queue.seconds'])
  expect(queued).toBeGreaterThan(0.3)
  // The call's own time is without the wait.
  expect(seconds(request)).toBeGreaterThanOrEqual(queued)
  expect(seconds(call as ReadableSpan)).toBeLessThan(seconds(request) - queued + 0.1)
})

test('an error of the upstream is an error of its call; an error of the caller is none of the request', async () => {
  await using traced = await startTracedGateway()
  const ann = await traced.gateway.addUser('ann')
  traced.gateway.emulator.faults.add({ kind: 'status', action: 'CreateAssetGroup', status: 429 })
  expect((await ann.ask('POST', '/assets/groups', { Name: 'one' })).status).toBe(429)
  const { request, calls } = await traced.traceOf('POST')
  expect(request.status.code).toBe(SpanStatusCode.UNSET)
  expect(calls.map(({ name, status, attributes }) => [name, status.code, attributes['error.type']])).toEqual([
    ['CreateAssetGroup', SpanStatusCode.ERROR, '429'],
  ])

  traced.reset()
  traced.gateway.emulator.faults.add({ kind: 'reset-after', action: 'CreateAssetGroup' })
  expect((await ann.ask('POST', '/assets/groups', { Name: 'two' })).status).toBe(502)
  const broken = await traced.traceOf('POST')
  expect([broken.request.status.code, broken.request.attributes['error.type']]).toEqual([SpanStatusCode.ERROR, '502'])
  expect(broken.calls[0]?.status.code).toBe(SpanStatusCode.ERROR)
  expect(broken.calls[0]?.attributes).not.toHaveProperty(['http.response.status_code'])
})

test('a request that no route handles has a span without a route; monitoring has none', async () => {
  await using traced = await startTracedGateway({ metricsToken: 'secret' })
  for (const path of ['/healthz', '/readyz', '/metrics']) await fetch(traced.gateway.url + path)
  await fetch(`${traced.gateway.url}/nothing/here`, { method: 'PROPFIND' })
  const { request } = await traced.traceOf('_OTHER')
  expect([request.name, request.attributes]).toEqual([
    'HTTP',
    { 'http.request.method': '_OTHER', 'http.response.status_code': 404 },
  ])
  expect(traced.spans()).toHaveLength(1)
})

test('every route of the server has its name in a trace, in whatever plugin it is', async () => {
  await using traced = await startTracedGateway()
  for (const [path, route] of [
    ['/v1/models', '/v1/models'],
    ['/v1/responses/resp_1', '/v1/responses/:response_id'],
    ['/api/media/proxy/assets', '/api/media/proxy/assets'],
    ['/api/session', '/api/session'],
    ['/api/media/face-verifications/v1', '/api/media/face-verifications/:id'],
    ['/console', '/console'],
    ['/openapi', '/openapi'],
  ] as const) {
    await (await fetch(traced.gateway.url + path)).bytes()
    const { request } = await traced.traceOf('GET')
    expect([path, String(request.attributes['http.route']).replace(/:\w+/, ':id')]).toEqual([
      path,
      route.replace(/:\w+/, ':id'),
    ])
    traced.reset()
  }
})
