import { expect, test } from 'bun:test'
import { readConfig } from '../../src/config.ts'

const prices = JSON.stringify({ m: { tokens: 3, second: 0.01 }, '*': { tokens: 2 } })
const form =
  'VIDEO_PRICES must be a JSON object of models or endpoints, each with tokens or second, numbers from 0 to 1000'

const costOf = (model: string, usage: { completionTokens?: number; seconds?: number }) => {
  const config = readConfig({ VIDEO_PRICES: prices })
  if ('problems' in config) throw new Error(config.problems.join())
  return config.video.costOf?.({ model } as never, usage)
}

test('the cost of a task is that of its tokens and seconds, in billionths', () => {
  expect(costOf('m', { completionTokens: 1_000_000, seconds: 5 })).toBe(3_050_000_000)
  expect(costOf('m', { seconds: 5 })).toBe(50_000_000)
  expect(costOf('other', { completionTokens: 108_900, seconds: 5 })).toBe(217_800_000)
  expect(costOf('constructor', { completionTokens: 1 })).toBe(2_000)
})

test('without prices, or without one of the model, a task has no cost', () => {
  const without = readConfig({})
  expect('problems' in without ? without : without.video).not.toHaveProperty('costOf')
  const one = readConfig({ VIDEO_PRICES: '{"m":{"tokens":1}}' })
  expect('problems' in one ? one : one.video.costOf?.({ model: 'other' } as never, { seconds: 1 })).toBeUndefined()
})

test('VIDEO_PRICES is validated', () => {
  for (const text of [
    'x',
    '[]',
    'null',
    '3',
    '{"m":1}',
    '{"m":{"output":1}}',
    '{"m":{"tokens":-1}}',
    '{"m":{"second":1001}}',
  ])
    expect(readConfig({ VIDEO_PRICES: text })).toEqual({ problems: [form] })
})
