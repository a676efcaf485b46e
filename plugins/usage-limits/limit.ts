import { asJsonObject } from '../shared/json/parsed.ts'

/** What a limit counts. */
export type LimitUnit =
  | 'requests'
  | 'tokens'
  | 'cost'
  | 'videos'
  | 'video_seconds'
  | 'running_videos'
  | 'streams'
  | 'groups'
  | 'assets'
  | 'storage_bytes'

/** The time after which an amount is available again. */
export type LimitWindow = 'minute' | 'hour' | 'day' | 'week' | 'month'

/** One entry of a list of limits. */
export interface Limit {
  /**
   * `requests`, `tokens`, `cost`, `videos` and `video_seconds` are used up. The others count what exists at once:
   * `running_videos`, `streams`, `groups`, `assets`, `storage_bytes`.
   */
  readonly unit: LimitUnit
  /**
   * The most that may be used in the window, or exist at once; 0: nothing. An integer, but for `cost`: a number of
   * currency units.
   */
  readonly amount: number
  /**
   * Only for a unit that is used up. Minutes and hours slide. Days, weeks (from Monday) and months are those of the
   * calendar. Default: the amount is for ever.
   */
  readonly window?: LimitWindow
  /**
   * Only for a unit that is used up: the model, as callers name it, or the start of its name with `*` at the end.
   * Default: all models.
   */
  readonly model?: string
}

/** Why a list of limits is not valid. */
export interface InvalidLimits {
  /** One sentence with the place of the fault, such as `limits[1].window must be …`. */
  readonly problem: string
}

/** Units that calls use up. Their limits may have a window and a model. */
export const consumedUnits = ['requests', 'tokens', 'cost', 'videos', 'video_seconds'] as const
/** Units of what exists at once. */
export const existingUnits = ['running_videos', 'streams', 'groups', 'assets', 'storage_bytes'] as const
const units: readonly string[] = [...consumedUnits, ...existingUnits]
/** All windows. */
export const limitWindows: readonly LimitWindow[] = ['minute', 'hour', 'day', 'week', 'month']
const windows: readonly string[] = limitWindows
const members: readonly string[] = ['unit', 'amount', 'window', 'model'] satisfies (keyof Limit)[]

/** Whether calls use up a unit. */
export const isConsumed = (unit: LimitUnit): boolean => (consumedUnits as readonly string[]).includes(unit)

/** Entries of one list. */
const maxLimits = 50
/** Characters of a model's name. */
const maxModelLength = 256
/** In billionths of the currency unit, this is a safe integer. */
const maxCost = 9_000_000

/**
 * Reads a list of limits that somebody has written as JSON. A member that is null counts as absent. The order stays.
 *
 * @param value the parsed JSON
 *
 * @example
 * const limits = parseLimits([{ unit: 'tokens', amount: 1_000_000, window: 'day' }])
 * if ('problem' in limits) throw new TypeError(limits.problem)
 */
export const parseLimits = (value: unknown): readonly Limit[] | InvalidLimits => {
  if (!Array.isArray(value)) return { problem: 'limits must be a list' }
  if (value.length > maxLimits) return { problem: `limits must have at most ${maxLimits} entries` }
  const limits: Limit[] = []
  const places = new Map<string, number>()
  for (const [index, entry] of value.entries()) {
    const problem = faultOf(entry)
    if (problem !== undefined) return { problem: `limits[${index}]${problem}` }
    const { unit, amount, window, model } = entry as Limit
    const limit = { unit, amount, ...(window && { window }), ...(model && { model }) }
    const key = JSON.stringify([unit, window ?? '', model ?? ''])
    const earlier = places.get(key)
    if (earlier !== undefined) {
      return { problem: `limits[${index}] must not have the unit, window and model of limits[${earlier}]` }
    }
    places.set(key, index)
    limits.push(limit)
  }
  return limits
}

/** What is wrong with an entry: the rest of a sentence that begins with its place. Undefined: nothing. */
const faultOf = (value: unknown): string | undefined => {
  const entry = asJsonObject(value)
  if (!entry) return ' must be an object'
  const unknown = Object.keys(entry).find((member) => !members.includes(member))
  // Not the name itself: it may be long, and anybody may have written it.
  if (unknown !== undefined) return ` must have no members but ${members.join(', ')}`
  const { unit, amount, window = null, model = null } = entry
  if (!isUnit(unit)) return `.unit must be one of ${units.join(', ')}`
  if (unit === 'cost') {
    if (typeof amount !== 'number' || !(amount >= 0 && amount <= maxCost))
      return `.amount must be a number from 0 to ${maxCost}`
  } else if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 0) {
    return `.amount must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}`
  }
  if (window !== null) {
    if (!isConsumed(unit)) return `.window must be absent: ${unit} are counted as they exist`
    if (typeof window !== 'string' || !windows.includes(window))
      return `.window must be one of ${windows.join(', ')}, or absent`
  }
  if (model === null) return undefined
  if (!isConsumed(unit)) return `.model must be absent: ${unit} are counted for all models together`
  return isModelPattern(model)
    ? undefined
    : `.model must be a model of 1 to ${maxModelLength} characters, with * at the end only`
}

const isUnit = (value: unknown): value is LimitUnit => typeof value === 'string' && units.includes(value)

const isModelPattern = (value: unknown): boolean =>
  typeof value === 'string' &&
  value.length <= maxModelLength &&
  value.isWellFormed() &&
  !/\p{Cc}/u.test(value) &&
  /^[^*]+\*?$|^\*$/.test(value)

/** Whether a limit covers a model. A limit without a model covers all calls. */
export const coversModel = ({ model: pattern }: Pick<Limit, 'model'>, model: string | undefined): boolean => {
  if (pattern === undefined) return true
  if (model === undefined) return false
  return pattern.endsWith('*') ? model.startsWith(pattern.slice(0, -1)) : model === pattern
}
