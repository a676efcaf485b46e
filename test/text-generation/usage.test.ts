import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseLossless } from '../../plugins/shared/json/lossless.ts'
import { readTokens } from '../../plugins/text-generation/usage/usage.ts'

const none = { input: 0, cachedInput: 0, output: 0, reasoning: 0 }

describe('tokens are read from the usage of the upstream', () => {
  test('of a chat completion', () => {
    const usage = {
      prompt_tokens: 1_000,
      completion_tokens: 50,
      total_tokens: 1_050,
      prompt_tokens_details: { cached_tokens: 400, audio_tokens: 7 },
      completion_tokens_details: { reasoning_tokens: 30, accepted_prediction_tokens: 3 },
    }
    expect(readTokens(usage)).toEqual({ input: 1_000, cachedInput: 400, output: 50, reasoning: 30 })
  })

  test('of a response', () => {
    const usage = {
      input_tokens: 1_000,
      input_tokens_details: { cached_tokens: 400, cache_write_tokens: 7 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 30 },
      total_tokens: 1_050,
    }
    expect(readTokens(usage)).toEqual({ input: 1_000, cachedInput: 400, output: 50, reasoning: 30 })
  })

  test('without details, or with some of the counts', () => {
    expect(readTokens({ prompt_tokens: 3, completion_tokens: 4 })).toEqual({ ...none, input: 3, output: 4 })
    expect(readTokens({ input_tokens: 3, input_tokens_details: null })).toEqual({ ...none, input: 3 })
    expect(readTokens({ completion_tokens: 4, prompt_tokens: null })).toEqual({ ...none, output: 4 })
  })

  test('from the protocol with non-zero counts, when the usage has the names of both', () => {
    const chat = { prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 2 } }
    const response = { input_tokens: 0, output_tokens: 0, input_tokens_details: { cached_tokens: 0 } }
    expect(readTokens({ ...response, ...chat })).toEqual({ ...none, input: 3, cachedInput: 2, output: 4 })
    expect(readTokens({ prompt_tokens: 0, input_tokens: 3, output_tokens: 4 })).toEqual({
      ...none,
      input: 3,
      output: 4,
    })
  })

  test('once, when the usage has equal counts under the names of both protocols', () => {
    const both = { prompt_tokens: 3, input_tokens: 3, completion_tokens: 4, output_tokens: 4 }
    expect(readTokens(both)).toEqual({ ...none, input: 3, output: 4 })
  })

  test('reported zeros count as reported', () => {
    expect(readTokens({ prompt_tokens: 0, completion_tokens: 0 })).toEqual(none)
    expect(readTokens(parseLossless('{"prompt_tokens":-0}'))).toEqual(none)
  })

  test('losslessly parsed numbers are numbers', () => {
    const usage = parseLossless(
      '{"prompt_tokens":12.0,"completion_tokens":1e3,"prompt_tokens_details":{"cached_tokens":5.0}}',
    )
    expect(readTokens(usage)).toEqual({ ...none, input: 12, cachedInput: 5, output: 1_000 })
  })
})

describe('invalid usage is ignored', () => {
  for (const usage of [undefined, null, 7, 'usage', true, [], [7], {}, { total_tokens: 12 }, { prompt_tokens: null }]) {
    test(`${JSON.stringify(usage)} has no tokens`, () => {
      expect(readTokens(usage)).toBeUndefined()
    })
  }

  const odd = [-1, 1.5, 1_000_000_001, Number.NaN, Number.POSITIVE_INFINITY, '12', true, [12], {}, { rawJSON: '12' }]
  for (const value of odd) {
    test(`${typeof value === 'number' ? value : JSON.stringify(value)} is not a count`, () => {
      expect(readTokens({ prompt_tokens: value, output_tokens: value })).toBeUndefined()
      const details = { cached_tokens: value, reasoning_tokens: value }
      const usage = { prompt_tokens: 3, completion_tokens: value, prompt_tokens_details: details }
      expect(readTokens({ ...usage, completion_tokens_details: details })).toEqual({ ...none, input: 3 })
      expect(readTokens({ ...usage, prompt_tokens_details: value })).toEqual({ ...none, input: 3 })
    })
  }

  test.each(['12.5', '9007199254740993', '1e400', '-5.0'])(
    '%s as a losslessly parsed number is not a count',
    (written) => {
      expect(readTokens(parseLossless(`{"prompt_tokens":${written}}`))).toBeUndefined()
    },
  )

  test('for any JSON the tokens are four integers or undefined', () => {
    const odd = fc.oneof(
      fc.jsonValue(),
      fc.integer(),
      fc.double(),
      fc.constant(JSON.parse('['.repeat(9) + ']'.repeat(9))),
    )
    const details = fc.record({ cached_tokens: odd, reasoning_tokens: odd }, { requiredKeys: [] })
    const names = ['prompt_tokens', 'input_tokens', 'completion_tokens', 'output_tokens']
    const detailed = ['prompt', 'input', 'completion', 'output'].map((name) => `${name}_tokens_details`)
    const shape = Object.fromEntries([
      ...names.map((name) => [name, odd] as const),
      ...detailed.map((name) => [name, fc.oneof(odd, details)] as const),
    ])
    const usage = fc.oneof(fc.jsonValue(), fc.record<Record<string, unknown>>(shape, { requiredKeys: [] }))
    fc.assert(
      fc.property(usage, (said) => {
        const tokens = readTokens(said)
        for (const count of Object.values(tokens ?? {})) {
          expect(Number.isInteger(count)).toBe(true)
          expect(count).toBeWithin(0, 1_000_000_001)
        }
      }),
      { seed: 41, numRuns: 500 },
    )
  })
})
