import { isJsonObject } from '../../shared/json/parsed.ts'
import type { Tokens } from './tokens.ts'

/** Prices of one model, in any currency: that of the operator. Each is a number from 0; default 0. */
export interface ModelPrice {
  /** For a million input tokens that the upstream did not read from its prompt cache. */
  readonly input?: number
  /** For a million input tokens from the prompt cache. Default: `input`. */
  readonly cachedInput?: number
  /** For a million output tokens, reasoning included. */
  readonly output?: number
  /** For each request that the upstream has accepted, in addition to its tokens. */
  readonly request?: number
}

/** Prices by model, as callers name it. The key `*` has the price of all other models. */
export type Prices = Readonly<Record<string, ModelPrice>>

/** Whether a value is a price table. */
export const isPrices = (value: unknown): value is Prices =>
  isJsonObject(value) && Object.values(value).every(isModelPrice)

const isModelPrice = (value: unknown): boolean =>
  isJsonObject(value) && Object.entries(value).every(([member, price]) => members.includes(member) && isPrice(price))

const members: readonly string[] = ['input', 'cachedInput', 'output', 'request'] satisfies (keyof ModelPrice)[]

/** Up to that price, the cost of the largest plausible call is a safe integer. */
export const isPrice = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1_000

/** The cost of a call in billionths of the currency unit, an integer. Undefined for a model without a price. */
export type CostOf = (call: {
  readonly model: string
  /** Undefined: the upstream reported no usage, so only the request is priced. */
  readonly tokens: Tokens | undefined
}) => number | undefined

/** Compiles a price table. Throws TypeError for anything else. */
export const createCostOf = (prices: Prices): CostOf => {
  if (!isPrices(prices)) throw new TypeError('prices must be an object of models, each with prices from 0 to 1000')
  const byModel = new Map(Object.entries(prices))
  return ({ model, tokens }) => {
    const price = byModel.get(model) ?? byModel.get('*')
    if (!price) return undefined
    const { input = 0, cachedInput = input, output = 0, request = 0 } = price
    if (!tokens) return Math.round(request * billion)
    const cached = Math.min(tokens.cachedInput, tokens.input)
    // A price of 1 for a million tokens is 1,000 billionths for one.
    const ofTokens = (tokens.input - cached) * input + cached * cachedInput + tokens.output * output
    return Math.round(ofTokens * 1_000 + request * billion)
  }
}

const billion = 1_000_000_000
