import type { TextUpstream } from '../../../plugins/text-generation/index.ts'
import { isPrices, type Prices } from '../../../plugins/text-generation/usage/prices.ts'
import { jsonOrFile } from '../environment/json-or-file.ts'
import { dayMs, days, daysFrom1, integer, seconds, secondsAbove0, secondsFrom0, words } from '../environment/parsers.ts'
import type { Environment, Read } from '../environment/reader.ts'
import { readTextUpstreams } from './upstreams.ts'

/** The configuration of text generation. Times are milliseconds. */
export interface TextConfig {
  /** Empty: text generation responds with 502. */
  readonly upstreams: readonly TextUpstream[]
  readonly timeoutMs: number
  /** Maximum output tokens for a request that sets no maximum. Undefined: the gateway adds none. */
  readonly defaultMaxTokens?: number
  /** Silence in a stream after which the gateway sends a heartbeat comment. Undefined: no heartbeats. */
  readonly heartbeatMs?: number
  /**
   * How long the upstream keeps responses and conversations, and the gateway their owners and the responses that it
   * keeps itself.
   */
  readonly objectTtlMs: number
  /** Request fields that may contain ids without an owner: objects that all users of the upstream account share. */
  readonly allowedFields: readonly string[]
  /** Ids of the vendor's preset assets, which every caller may use. */
  readonly presetAssets: readonly string[]
  /** Prices by model. Undefined: no model has a price. */
  readonly prices?: Prices
}

export const readTextConfig = (env: Environment, read: Read, addProblem: (problem: string) => void): TextConfig => {
  const upstreams = readTextUpstreams(env, read, addProblem)
  const maxTokens = read('TEXT_DEFAULT_MAX_TOKENS', 'must be an integer from 0', integer(0)) ?? 4_096
  const heartbeatMs = read('TEXT_HEARTBEAT_SECONDS', secondsFrom0, seconds(0)) ?? 0
  return {
    upstreams,
    timeoutMs: read('TEXT_TIMEOUT_SECONDS', secondsAbove0, seconds(1)) ?? 200_000,
    defaultMaxTokens: maxTokens === 0 ? undefined : maxTokens,
    heartbeatMs: heartbeatMs === 0 ? undefined : heartbeatMs,
    objectTtlMs: read('TEXT_OBJECT_DAYS', daysFrom1, days(1)) ?? 30 * dayMs,
    allowedFields: read('TEXT_ALLOWED_FIELDS', 'must be field names, separated by commas', words(/^[\w.]+$/)) ?? [],
    presetAssets: read('TEXT_PRESET_ASSETS', 'must be asset ids, separated by commas', words(/^[\w.-]+$/)) ?? [],
    prices: read('TEXT_PRICES', pricesForm, priceTable),
  }
}

/** A price table as JSON, or `@PATH`. */
const priceTable = (text: string): Prices | undefined => {
  const prices = jsonOrFile(text)
  return isPrices(prices) ? prices : undefined
}
const pricesForm =
  'must be JSON or @FILE: an object of models, each with input, cachedInput, output, request, numbers from 0 to 1000'
