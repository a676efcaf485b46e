import { describe, expect, test } from 'bun:test'
import { noLog } from '../../plugins/shared/problem.ts'
import { createCostOf, isPrices } from '../../plugins/text-generation/usage/prices.ts'
import { createUsageRecorder, type UsageEntry } from '../../plugins/text-generation/usage/usage.ts'

const tokens = { input: 1_000, cachedInput: 400, output: 50, reasoning: 30 }

describe('the cost of a call, in billionths', () => {
  test('is that of its uncached input, its cached input, its output and the request', () => {
    const costOf = createCostOf({ m: { input: 3, cachedInput: 0.3, output: 15, request: 0.01 } })
    // 600 × 0.000003 + 400 × 0.0000003 + 50 × 0.000015 + 0.01
    expect(costOf({ model: 'm', tokens })).toBe(12_670_000)
  })

  test('of cached input is by default that of other input', () => {
    expect(createCostOf({ m: { input: 2 } })({ model: 'm', tokens })).toBe(2_000_000)
  })

  test('of more cached input than input is that of the input', () => {
    const costOf = createCostOf({ m: { input: 2, cachedInput: 1 } })
    expect(costOf({ model: 'm', tokens: { ...tokens, input: 3 } })).toBe(3_000)
  })

  test('of a call without reported tokens is that of the request', () => {
    expect(createCostOf({ m: { input: 2, request: 0.5 } })({ model: 'm', tokens: undefined })).toBe(500_000_000)
  })

  test('is known of models in the table, and of others where it has a price for them', () => {
    const costOf = createCostOf({ m: { output: 1 } })
    expect(costOf({ model: 'other', tokens })).toBeUndefined()
    expect(costOf({ model: 'constructor', tokens })).toBeUndefined()
    const withOthers = createCostOf({ m: { output: 1 }, '*': { output: 2 } })
    expect(withOthers({ model: 'other', tokens })).toBe(100_000)
    expect(withOthers({ model: 'm', tokens })).toBe(50_000)
  })

  test('of the largest plausible call is exact', () => {
    const largest = { input: 1e9, cachedInput: 0, output: 1e9, reasoning: 0 }
    const cost = createCostOf({ m: { input: 1_000, output: 1_000, request: 1_000 } })({ model: 'm', tokens: largest })
    expect(cost).toBe(2_001_000_000_000_000)
    expect(Number.isSafeInteger(cost)).toBe(true)
  })
})

describe('a price table', () => {
  test.each([
    [{}],
    [{ m: {} }],
    [{ m: { input: 0, cachedInput: 0.000_1, output: 1_000, request: 1 }, '*': { input: 1 } }],
  ])('may be %j', (prices) => expect(isPrices(prices)).toBe(true))

  test.each([
    [null],
    [[]],
    ['m'],
    [{ m: 3 }],
    [{ m: null }],
    [{ m: [1] }],
    [{ m: { input: '3' } }],
    [{ m: { input: -1 } }],
    [{ m: { input: 1_001 } }],
    [{ m: { input: Number.NaN } }],
    [{ m: { inputs: 3 } }],
  ])('is not %j', (prices) => {
    expect(isPrices(prices)).toBe(false)
    expect(() => createCostOf(prices as never)).toThrow(TypeError)
  })
})

test('usage and metrics receive the cost of accepted calls of models with a price', () => {
  const recorded: (Pick<UsageEntry, 'model' | 'cost'> & { accepted?: boolean })[] = []
  const keep = ({ model, cost }: Pick<UsageEntry, 'model' | 'cost'>) => void recorded.push({ model, cost })
  const record = createUsageRecorder({
    usage: { recordUsage: keep },
    observe: keep,
    costOf: createCostOf({ m: { request: 1 } }),
    log: noLog,
  })
  const call = { user: 'ann', model: 'm', at: 1, tokens }
  record(call)
  record({ ...call, model: 'free' })
  record(call, false)
  const paid = { model: 'm', cost: 1_000_000_000 }
  const free = { model: 'free', cost: undefined }
  const rejected = { model: 'm', cost: undefined }
  expect(recorded).toEqual([paid, paid, free, free, rejected, rejected])
})

test('a rejected call is recorded under the name of its model if the model is configured or was accepted before, and else as other', () => {
  const recorded: string[] = []
  const observed: string[] = []
  const record = createUsageRecorder({
    usage: { recordUsage: ({ model }) => void recorded.push(model) },
    observe: ({ model }) => void observed.push(model),
    costOf: undefined,
    models: ['configured'],
    log: noLog,
  })
  const call = { user: 'ann', at: 1, tokens: undefined }
  for (let nth = 0; nth < 3; nth++) record({ ...call, model: `invented-${nth}` }, false)
  record({ ...call, model: 'configured' }, false)
  record({ ...call, model: 'm' }, false)
  record({ ...call, model: 'm' }, true)
  record({ ...call, model: 'm' }, false)
  expect(recorded).toEqual(['other', 'other', 'other', 'configured', 'other', 'm', 'm'])
  expect(observed).toEqual(recorded)
})
