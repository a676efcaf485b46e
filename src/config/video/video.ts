import { asJsonObject, parsedObject } from '../../../plugins/shared/json/parsed.ts'
import { isPrice } from '../../../plugins/text-generation/usage/prices.ts'
import type { PoolLimits, VideoServiceOptions, VideoUpstream } from '../../../plugins/video-generation/index.ts'
import {
  address,
  dayMs,
  days,
  daysFrom1,
  decimalHours,
  hourMs,
  hoursAbove0,
  integer,
  key,
  printableForm,
  seconds,
  secondsAbove0,
  webAddress,
  words,
} from '../environment/parsers.ts'
import type { Environment, Read } from '../environment/reader.ts'

/** The configuration of video generation. Times are milliseconds. */
export interface VideoConfig {
  /** Undefined: video generation responds with 502. */
  readonly upstream?: VideoUpstream
  /** Slots by model or endpoint. Undefined: no queue. */
  readonly slots?: Readonly<Record<string, PoolLimits>>
  readonly maxPriority: number
  /** Names of models in `/v1/videos`, and the upstream's names of them. */
  readonly modelAliases: Readonly<Record<string, string>>
  /** Ids of the vendor's preset assets, which every caller may use. */
  readonly presetAssets: readonly string[]
  /** Undefined: no task has a cost. */
  readonly costOf?: VideoCostOf
  readonly pollMs: number
  /** After this time a running task frees its slot, and needs a decision. */
  readonly maxRunningMs: number
  /** When a task counts as not created whose create call got no answer. */
  readonly settleMs: number
  /** How long tasks are kept after their end. */
  readonly keepMs: number
  readonly createTimeoutMs: number
}

/** Reads the configuration of video generation. */
export const readVideoConfig = (
  env: Environment,
  read: Read,
  addProblem: (problem: string) => void,
  textPresetAssets: readonly string[],
): VideoConfig => {
  const url = read('VIDEO_UPSTREAM_URL', webAddress, address)
  const upstreamKey = read('VIDEO_UPSTREAM_KEY', printableForm, key)
  if (env.VIDEO_UPSTREAM_URL && !env.VIDEO_UPSTREAM_KEY)
    addProblem('VIDEO_UPSTREAM_KEY is required for a VIDEO_UPSTREAM_URL')
  const running = read('VIDEO_SLOTS', slotsForm, slotsOf)
  const integerFrom1 = integer(1)
  const runningPerUser = read('VIDEO_USER_MAX_RUNNING', countForm, integerFrom1)
  const waitingPerUser = read('VIDEO_USER_MAX_WAITING', countForm, integerFrom1) ?? 1_000
  const waitingBytesPerUser = read('VIDEO_USER_MAX_WAITING_BYTES', countForm, integerFrom1) ?? 268_435_456
  const weights = read('VIDEO_USER_WEIGHTS', weightsForm, weightsOf)
  const limits = {
    ...{ waitingPerUser, waitingBytesPerUser },
    ...(runningPerUser !== undefined && { runningPerUser }),
    ...(weights && { weightOf: (user: string) => weights.get(user) ?? 1 }),
  }
  const slots =
    running && Object.entries(running).map(([name, count]) => [name, { running: count, ...limits }] as const)
  const costOf = read('VIDEO_PRICES', videoPricesForm, (text) => videoCostOf(parsedObject(text)))
  const presetAssets = read('VIDEO_PRESET_ASSETS', 'must be asset ids, separated by commas', words(/^[\w.-]+$/))
  return {
    ...(url !== undefined && { upstream: { url, key: upstreamKey ?? '' } }),
    ...(slots && { slots: Object.fromEntries(slots) }),
    ...(costOf && { costOf }),
    maxPriority: read('VIDEO_MAX_PRIORITY', 'must be an integer from 0 to 9', integer(0, 9)) ?? 0,
    modelAliases: read('VIDEO_MODEL_ALIASES', aliasesForm, aliasesOf) ?? {},
    presetAssets: presetAssets ?? textPresetAssets,
    pollMs: read('VIDEO_POLL_SECONDS', secondsAbove0, seconds(1)) ?? 3_000,
    maxRunningMs: read('VIDEO_RUNNING_HOURS', hoursAbove0, decimalHours) ?? 3 * hourMs,
    keepMs: read('VIDEO_TASK_DAYS', daysFrom1, days(1)) ?? 90 * dayMs,
    settleMs: read('VIDEO_SETTLE_SECONDS', secondsAbove0, seconds(1)) ?? 60_000,
    createTimeoutMs: read('VIDEO_CREATE_TIMEOUT_SECONDS', secondsAbove0, seconds(1)) ?? 60_000,
  }
}

const countForm = 'must be an integer from 1'
const slotsForm = 'must be a JSON object of models or endpoints, each with its slots: an integer from 0'
const weightsForm = 'must be a JSON object of user ids, each with a weight above 0, up to 1000'

const aliasesForm = 'must be a JSON object of names, each with the name of a model or endpoint'

const aliasesOf = (text: string): Readonly<Record<string, string>> | undefined => {
  const aliases = parsedObject(text)
  const valid = aliases && Object.values(aliases).every((name) => typeof name === 'string' && name !== '')
  return valid ? (aliases as Record<string, string>) : undefined
}

const slotsOf = (text: string): Readonly<Record<string, number>> | undefined =>
  numbersOf(text, (slots) => Number.isSafeInteger(slots) && slots >= 0)

const weightsOf = (text: string): ReadonlyMap<string, number> | undefined => {
  const weights = numbersOf(text, (weight) => weight > 0 && weight <= 1_000)
  return weights && new Map(Object.entries(weights))
}

const numbersOf = (text: string, isValid: (value: number) => boolean): Readonly<Record<string, number>> | undefined => {
  const parsed = parsedObject(text)
  if (!parsed) return undefined
  const entries = Object.entries(parsed)
  const valid = entries.length > 0 && entries.every(([, value]) => typeof value === 'number' && isValid(value))
  return valid ? (parsed as Record<string, number>) : undefined
}

/** Cost of a task in billionths of the currency unit. Undefined: its model has no price. */
type VideoCostOf = NonNullable<VideoServiceOptions['costOf']>

/** Prices of one model, in the currency of the operator. */
interface VideoPrice {
  /** For a million completion tokens. */
  readonly tokens?: number
  /** For a second of video. */
  readonly second?: number
}

const videoPricesForm =
  'must be a JSON object of models or endpoints, each with tokens or second, numbers from 0 to 1000'

/** Compiles prices by model, as callers name it; `*` has those of all other models. Undefined for anything else. */
const videoCostOf = (prices: Readonly<Record<string, unknown>> | undefined): VideoCostOf | undefined => {
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
