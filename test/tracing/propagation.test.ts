import { expect, test } from 'bun:test'
import { createIsTrustedPeer } from '../../plugins/shared/http/client-address.ts'
import { startTracedGateway } from './fixture.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'vendor=value' }

test('a trace goes on when a trusted proxy sends its context', async () => {
  await using traced = await startTracedGateway({}, { isTrusted: createIsTrustedPeer(['127.0.0.0/8']) })
  const ann = await traced.gateway.addUser('ann')
  await ann.ask('GET', '/assets/groups', undefined, headers)
  const { request } = await traced.traceOf('GET')
  expect(request.spanContext().traceId).toBe(traceId)
  expect(request.parentSpanContext?.spanId).toBe('b7ad6b7169203331')
})

for (const [proxies, isTrusted] of [
  ['no proxy is trusted', undefined],
  ['another proxy is trusted', createIsTrustedPeer(['10.0.0.0/8', '::1'])],
] as const) {
  test(`a caller's trace context has no effect when ${proxies}`, async () => {
    await using traced = await startTracedGateway({}, { isTrusted })
    const ann = await traced.gateway.addUser('ann')
    // Its last field asks that nothing is recorded.
    const unsampled = { ...headers, traceparent: headers.traceparent.replace(/01$/, '00') }
    await ann.ask('GET', '/assets/groups', undefined, unsampled)
    const { request } = await traced.traceOf('GET')
    expect(request.spanContext().traceId).not.toBe(traceId)
    expect(request.parentSpanContext).toBe(undefined)
  })
}

test('no trace context reaches an upstream', async () => {
  await using traced = await startTracedGateway({}, { isTrusted: () => true })
  const ann = await traced.gateway.addUser('ann')
  await ann.ask('POST', '/assets/groups', { Name: 'one' }, headers)
  const calls = traced.gateway.emulator.calls
  expect(calls.length).toBeGreaterThan(0)
  expect(JSON.stringify(calls)).not.toMatch(/traceparent|tracestate|0af7651916cd43dd8448eb211c80319c/)
})
