import { expect, test } from 'bun:test'
import { openServerFixture } from '../support/server-fixture.ts'
import { until } from './fixture.ts'

test('the price table decides the costs in the metrics and in the database', async () => {
  await using fixture = await openServerFixture()
  const server = await fixture.start({
    TEXT_UPSTREAM_URL: fixture.emulator.text.url,
    TEXT_UPSTREAM_KEY: fixture.emulator.text.key,
    TEXT_PRICES: '{"emulated-wide":{"input":2,"output":10,"request":0.001}}',
    METRICS_TOKEN: 'of-metrics',
  })
  const ann = await fixture.addUser('ann')
  const post = async (model: string, stream: boolean) => {
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'hello' }] }),
    })
    await response.text()
    expect(response.status).toBe(200)
  }
  await post('emulated-wide', true)
  await post('emulated-wide', false)
  await post('doubao-seed-emulated', false)
  await until(async () => (await fixture.store.listUsage({ user: ann.id })).length === 2)
  const [free, paid] = await fixture.store.listUsage({ user: ann.id })
  expect(free).toMatchObject({ model: 'doubao-seed-emulated', calls: 1 })
  expect(free?.cost).toBeUndefined()
  const { inputTokens = 0, outputTokens = 0, cost = 0 } = paid ?? {}
  expect(inputTokens).toBeGreaterThan(0)
  expect(cost).toBe(inputTokens * 2_000 + outputTokens * 10_000 + 2 * 1_000_000)
  const metrics = await fetch(`${server.url}/metrics`, { headers: { authorization: 'Bearer of-metrics' } })
  const costs = (await metrics.text()).split('\n').filter((line) => line.startsWith('sluice_text_cost_total'))
  expect(costs).toEqual([`sluice_text_cost_total{model="emulated-wide"} ${cost / 1_000_000_000}`])
})
