import { asJsonObject } from '../../../plugins/shared/json/parsed.ts'
import { isPrice } from '../../../plugins/text-generation/usage/prices.ts'
import type { VideoServiceOptions } from '../../../plugins/video-generation/index.ts'

/** Cost of a task in billionths of the currency unit. Undefined: its model has no price. */
export type VideoCostOf = NonNullable<VideoServiceOptions['costOf']>

/** Prices of one model, in the currency of the operator. */
interface VideoPrice {
  /** For a million completion tokens. */
  readonly tokens?: number
  /** For a second of video. */
  readonly second?: number
}

export const videoPricesForm =
  'must be a JSON object of models or endpoints, each with tokens or second, numbers from 0 to 1000'

/** Compiles prices by model, as callers name it; `*` has those of all other models. Undefined for anything else. */
export const videoCostOf = (prices: Readonly<Record<string, unknown>> | undefined): VideoCostOf | undefined => {
  if (!prices || !Object.values(prices).every(isVideoPrice)) return undefined
  const byModel = new Map(Object.entries(prices as Record<string, VideoPrice>))
  return ({ model }, { completionTokens = 0, seconds = 0 }) => {
    const price = byModel.get(model) ?? byModel.get('*')
    if (!price) return undefined
    const { tokens = 0, second = 0 } = price
    // A price of 1 for a million tokens is 1,000 billionths for one.
    return Math.round(completionTokens * tokens * 1_000 + seconds * second * 1_000_000_000)
  }
}

const isVideoPrice = (value: unknown): boolean => {
  const price = asJsonObject(value)
  return price !== undefined && Object.entries(price).every(([name, cost]) => names.includes(name) && isPrice(cost))
}

const names: readonly string[] = ['tokens', 'second'] satisfies (keyof VideoPrice)[]
