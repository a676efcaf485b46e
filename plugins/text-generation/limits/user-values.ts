import type { Clock } from '../../shared/clock.ts'

/** Users and models whose values are kept. The oldest go first. */
const maxEntries = 10_000
/** Users whose values say what is usual for a model: the latest ones. */
const maxUsers = 31
/** So many users count as if they had the value without history: one or two others decide nothing. */
const withoutHistoryUsers = 2
/** After that time without a call, a user's value says nothing any more. */
const keptMs = 3_600_000

/** Within it, another value of the same user and model replaces the last one in its place. */
const replacedMs = 1_000

interface Entry<Value> {
  value: Value
  /** When it took its place among the others. */
  readonly at: number
}

/** A user who calls a model. */
export interface ModelUser {
  readonly user: string
  readonly model: string
}

/** A value that calls of users and models teach, for estimates of later calls. */
export interface UserValues<Value> {
  /** The value of this user for the model. Undefined: the user has not called it lately. */
  own(of: ModelUser): Value | undefined
  /** What is usual for a model: the median of its users. Each counts once, however much a user calls. */
  usual(model: string): number
  /** Replaces the value of this user, see `next`. @param observed in a call */
  teach(of: ModelUser, observed: number): void
}

/** Options of `createUserValues`. */
export interface UserValuesOptions<Value> {
  readonly clock: Pick<Clock, 'now'>
  /** What is usual for a model that nobody has called. */
  readonly withoutHistory: number
  readonly numberOf: (value: Value) => number
  /** The value after a call. `known`: the one before; undefined: there is none. */
  readonly next: (known: Value | undefined, observed: number) => Value
}

/** Keeps values by user and model. No user decides alone what is usual for others. */
export const createUserValues = <Value>(options: UserValuesOptions<Value>): UserValues<Value> => {
  const { clock, withoutHistory, numberOf, next } = options
  const values = new Map<string, Entry<Value>>()
  const users = new Map<string, Map<string, Entry<Value>>>()
  const find = (of: ModelUser): Entry<Value> | undefined => {
    // A model without users has no values either. Most calls are of the latest users.
    const ofModel = users.get(of.model)
    return ofModel && (ofModel.get(of.user) ?? values.get(keyOf(of)))
  }
  const isLate = ({ at }: Entry<unknown>, now: number) => Math.abs(now - at) > keptMs
  return {
    own(of) {
      const entry = find(of)
      return entry && !isLate(entry, clock.now()) ? entry.value : undefined
    },
    usual(model) {
      const ofModel = users.get(model)
      if (!ofModel || ofModel.size <= withoutHistoryUsers) return withoutHistory
      const now = clock.now()
      const known = [...ofModel.values()].filter((entry) => !isLate(entry, now))
      if (known.length <= withoutHistoryUsers) return withoutHistory
      const numbers = known.map(({ value }) => numberOf(value))
      for (let user = 0; user < withoutHistoryUsers; user++) numbers.push(withoutHistory)
      return numbers.sort((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)] ?? withoutHistory
    },
    teach(of, observed) {
      const at = clock.now()
      const entry = find(of)
      const value = next(entry && !isLate(entry, at) ? entry.value : undefined, observed)
      if (entry && Math.abs(at - entry.at) < replacedMs) {
        entry.value = value
        return
      }
      const latest = { value, at }
      const { user, model } = of
      put(values, keyOf(of), latest, maxEntries)
      const ofModel = users.get(model) ?? new Map<string, Entry<Value>>()
      put(users, model, ofModel, maxEntries)
      put(ofModel, user, latest, maxUsers)
    },
  }
}

/** Adds an entry as the latest one. */
const put = <Value>(entries: Map<string, Value>, key: string, value: Value, max: number): void => {
  entries.delete(key)
  entries.set(key, value)
  if (entries.size <= max) return
  for (const oldest of entries.keys()) {
    entries.delete(oldest)
    return
  }
}

/** No user has a line feed. */
const keyOf = ({ user, model }: ModelUser): string => `${user}\n${model}`
