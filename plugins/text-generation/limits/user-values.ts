/** Users and models whose values are kept. The oldest go first. */
const maxEntries = 10_000
/** Users whose values say what is usual for a model: the latest ones. */
const maxUsers = 31
/** So many users count as if they had the value without history: one or two others decide nothing. */
const withoutHistoryUsers = 2
/** After that time without a call, a user's value says nothing any more. */
const keptMs = 3_600_000
/** Within it, the value of a user and model keeps its place among the others. */
const placedMs = 1_000

/** A user who calls a model. */
export interface ModelUser {
  readonly user: string
  readonly model: string
}

/** A value, which later calls change in place: each call with limits has one. */
export class UserValue {
  /** When it took its place among the others. */
  placedAt = Number.NEGATIVE_INFINITY
}

/** A number of a value, such as the usual output. */
export interface UserNumber<Value> {
  /** Undefined: this value does not say it. */
  readonly numberOf: (value: Value) => number | undefined
  /** What is usual for a model that nobody has called. */
  readonly withoutHistory: number
}

/**
 * Keeps what calls of users and models teach, for estimates of later calls. No user decides alone what is usual for
 * others.
 */
export class UserValues<Value extends UserValue> {
  readonly #values = new Map<string, Value>()
  readonly #users = new Map<string, Map<string, Value>>()

  /** The value of this user for the model. Undefined: the user has not called it lately. */
  own(of: ModelUser, now: number): Value | undefined {
    // A model without users has no values either. Most calls are of the latest users.
    const ofModel = this.#users.get(of.model)
    const value = ofModel && (ofModel.get(of.user) ?? this.#values.get(keyOf(of)))
    return value && !isLate(value, now) ? value : undefined
  }

  /** What is usual for a model: the median of its users. Each counts once, however much a user calls. */
  usual(model: string, now: number, { numberOf, withoutHistory }: UserNumber<Value>): number {
    const ofModel = this.#users.get(model)
    if (!ofModel || ofModel.size <= withoutHistoryUsers) return withoutHistory
    const numbers: number[] = []
    for (const value of ofModel.values()) {
      const known = isLate(value, now) ? undefined : numberOf(value)
      if (known !== undefined) numbers.push(known)
    }
    if (numbers.length <= withoutHistoryUsers) return withoutHistory
    for (let user = 0; user < withoutHistoryUsers; user++) numbers.push(withoutHistory)
    return numbers.sort((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)] ?? withoutHistory
  }

  /** Places the value of this user, which `own` has returned or which is new, as the latest one. */
  place(of: ModelUser, value: Value, now: number): void {
    if (Math.abs(now - value.placedAt) < placedMs) return
    value.placedAt = now
    const { user, model } = of
    put(this.#values, keyOf(of), value, maxEntries)
    const ofModel = this.#users.get(model) ?? new Map<string, Value>()
    put(this.#users, model, ofModel, maxEntries)
    put(ofModel, user, value, maxUsers)
  }
}

const isLate = ({ placedAt }: UserValue, now: number): boolean => Math.abs(now - placedAt) > keptMs

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
