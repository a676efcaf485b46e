import { expect, test } from 'bun:test'
import { createMetrics } from '../../plugins/metrics/index.ts'

const tokens = { input: 1_000, cachedInput: 400, output: 50, reasoning: 30 }
const none = { input: 0, cachedInput: 0, output: 0, reasoning: 0 }

/** The samples of text generation. */
const lines = async ({ registry }: ReturnType<typeof createMetrics>) =>
  (await registry.metrics()).split('\n').filter((line) => line.startsWith('sluice_text_'))

test('tokens are counted by model and kind, and calls by whether usage was reported', async () => {
  const metrics = createMetrics()
  metrics.text({ model: 'a', accepted: true, tokens })
  metrics.text({ model: 'a', accepted: true, tokens: { ...none, input: 1 } })
  metrics.text({ model: 'a', accepted: true, tokens: undefined })
  metrics.text({ model: 'b', accepted: true, tokens: undefined })
  await lines(metrics)
  expect(await lines(metrics)).toEqual([
    'sluice_text_calls_total{model="a",reported="true"} 2',
    'sluice_text_calls_total{model="a",reported="false"} 1',
    'sluice_text_calls_total{model="b",reported="false"} 1',
    'sluice_text_tokens_total{model="a",kind="input"} 1001',
    'sluice_text_tokens_total{model="a",kind="cached_input"} 400',
    'sluice_text_tokens_total{model="a",kind="output"} 50',
    'sluice_text_tokens_total{model="a",kind="reasoning"} 30',
  ])
})

test('costs are summed by model, and models without a price have none', async () => {
  const metrics = createMetrics()
  metrics.text({ model: 'a', accepted: true, tokens, cost: 1_500_000_000 })
  metrics.text({ model: 'a', accepted: true, tokens: undefined, cost: 250_000_000 })
  metrics.text({ model: 'a', accepted: true, tokens })
  metrics.text({ model: 'b', accepted: true, tokens, cost: 0 })
  metrics.text({ model: 'c', accepted: true, tokens })
  expect((await lines(metrics)).filter((line) => line.includes('cost'))).toEqual([
    'sluice_text_cost_total{model="a"} 1.75',
    'sluice_text_cost_total{model="b"} 0',
  ])
})

test('after 200 models all others share one label, and the first 200 keep theirs', async () => {
  const metrics = createMetrics()
  for (let nth = 0; nth < 300; nth++) metrics.text({ model: `m-${nth}`, accepted: true, tokens })
  metrics.text({ model: 'm-0', accepted: true, tokens })
  const said = await lines(metrics)
  const models = new Set(said.map((line) => /model="([^"]*)"/.exec(line)?.[1]))
  expect(models.size).toBe(201)
  expect(said).toContain('sluice_text_calls_total{model="m-0",reported="true"} 2')
  expect(said).toContain('sluice_text_calls_total{model="m-199",reported="true"} 1')
  expect(said).toContain('sluice_text_calls_total{model="other",reported="true"} 100')
  expect(said).toContain('sluice_text_tokens_total{model="other",kind="input"} 100000')
})

test('a model without an accepted upstream call gets no label of its own', async () => {
  const metrics = createMetrics()
  for (let nth = 0; nth < 300; nth++) metrics.text({ model: `invented-${nth}`, accepted: false, tokens: undefined })
  metrics.text({ model: 'a', accepted: true, tokens })
  metrics.text({ model: 'a', accepted: false, tokens: undefined })
  expect((await lines(metrics)).filter((line) => line.startsWith('sluice_text_calls_total'))).toEqual([
    'sluice_text_calls_total{model="other",reported="false"} 300',
    'sluice_text_calls_total{model="a",reported="true"} 1',
    'sluice_text_calls_total{model="a",reported="false"} 1',
  ])
})

test.each([
  ['nothing', ''],
  ['a NUL in it', 'a\0'],
  ['a line break in it', 'a\nb'],
  ['a lone surrogate', '\ud800'],
  ['257 characters', 'x'.repeat(257)],
])('a model name with %s gets no label of its own', async (_, model) => {
  const metrics = createMetrics()
  metrics.text({ model, accepted: true, tokens: undefined })
  expect(await lines(metrics)).toEqual(['sluice_text_calls_total{model="other",reported="false"} 1'])
})

test('an unusual but valid model name gets its own label', async () => {
  const metrics = createMetrics()
  for (const model of ['a/"b"\\c', '豆包 🦆', '🦆'.repeat(256)])
    metrics.text({ model, accepted: true, tokens: undefined })
  const said = await lines(metrics)
  expect(said).toHaveLength(3)
  expect(said[0]).toBe('sluice_text_calls_total{model="a/\\"b\\"\\\\c",reported="false"} 1')
})

test('two registries count separately', async () => {
  const [one, other] = [createMetrics(), createMetrics()]
  one.text({ model: 'a', accepted: true, tokens })
  expect(await lines(other)).toEqual([])
})
