import { type Awaitable, isPromise } from '../shared/awaitable.ts'
import { RevisionCache } from '../shared/identity/revision-cache.ts'
import type { RevisionClock } from '../shared/identity/revision-clock.ts'
import { Problem } from '../shared/problem.ts'
import { copyText } from '../shared/text.ts'
import type { CounterSubject, UsageCounter } from './ledger/counter.ts'
import { coversModel, type Limit } from './limit.ts'
import type { LimitStore } from './store.ts'
import type { LimitedCall } from './usage-limits.ts'

/** Options of `createSubjectLimits`. */
export interface SubjectLimitsOptions {
  readonly store: Pick<LimitStore, 'limitSubjects'>
  readonly revisionClock: RevisionClock
  readonly accountLimits: readonly Limit[]
  /** Of users without a list. */
  readonly userLimits: readonly Limit[]
  readonly counterOf: (subject: CounterSubject, limit: Limit) => UsageCounter
}

/** The limits of one user and token. */
export interface CallerLimits {
  /** All of them. */
  readonly counters: () => readonly UsageCounter[]
  /** Those that apply to calls for a model. */
  readonly countersFor: (model: LimitedCall['model']) => readonly UsageCounter[]
}

/** Models whose limits a caller's entry remembers. */
const maxModels = 100
/** Tokens of a user whose limits are cached. Callers may ask with ids that no token has. */
const maxTokens = 10_000

/**
 * By token; undefined: without one. Limits are added in place when they are read, so not before the map was cached: a
 * change that they do not have drops them with the map.
 */
type UserLimits = Map<string | undefined, CallerLimits>

/**
 * Finds the limits of callers: synchronous if they are cached. A change in the store takes effect within a second.
 * Rejects with Problem 500 when the store fails.
 */
export const createSubjectLimits = (
  options: SubjectLimitsOptions,
): ((user: string, token: string | undefined) => Awaitable<CallerLimits>) => {
  const { store, revisionClock, accountLimits, userLimits, counterOf } = options
  // Not by other changes, such as new groups: they are frequent.
  const cache = new RevisionCache<UserLimits>(revisionClock, { clearedBy: ['user', 'team', 'token', 'limits'] })
  const noTokens = async (): Promise<UserLimits> => new Map()

  const load = async (user: string, token: string | undefined): Promise<CallerLimits> => {
    const found = await store.limitSubjects(user, token)
    const entries: (readonly [CounterSubject, Limit])[] = []
    const add = (subject: CounterSubject, limits: readonly Limit[]) => {
      for (const limit of limits) entries.push([subject, limit])
    }
    add({ type: 'account', id: 'account', name: 'account' }, accountLimits)
    if (found?.team) add({ type: 'team', id: found.team.id, name: found.team.name }, found.team.limits)
    add({ type: 'user', id: user, name: found?.user.name ?? user }, found?.user.limits ?? userLimits)
    if (found?.token) add({ type: 'token', id: found.token.id, name: found.token.name, user }, found.token.limits)
    return callerLimits(entries, counterOf)
  }

  const fail = (cause: unknown): never => {
    throw cause instanceof Problem ? cause : new Problem(500, 'the limits could not be read', { cause })
  }

  const find = (known: UserLimits | undefined, user: string, token: string | undefined): Awaitable<CallerLimits> =>
    known?.get(token) ??
    load(user, token).then((limits) => {
      if (known && known.size < maxTokens) known.set(token === undefined ? token : copyText(token), limits)
      return limits
    }, fail)

  // No closure and no composed key where all is cached: each call comes here, with limits or without.
  return (user, token) => {
    const known = cache.get(user, noTokens)
    return isPromise(known) ? known.then((loaded) => find(loaded, user, token), fail) : find(known, user, token)
  }
}

const callerLimits = (
  entries: readonly (readonly [CounterSubject, Limit])[],
  counterOf: SubjectLimitsOptions['counterOf'],
): CallerLimits => {
  let all = entries.map(([subject, limit]) => counterOf(subject, limit))
  const byModel = new Map<string, readonly UsageCounter[]>()
  const isOfModel = entries.some(([, { model }]) => model !== undefined)
  /** Another entry may have made a counter again that was dropped. */
  const counters = (): readonly UsageCounter[] => {
    for (const { isDropped } of all) {
      if (!isDropped) continue
      all = entries.map(([subject, limit]) => counterOf(subject, limit))
      byModel.clear()
      break
    }
    return all
  }
  return {
    counters,
    countersFor(model) {
      const found = counters()
      if (!isOfModel) return found
      const names = typeof model === 'string' ? [model] : (model ?? [undefined])
      const key = names.join('\n')
      const known = byModel.get(key)
      if (known) return known
      const covered = found.filter(({ limit }) => names.some((name) => coversModel(limit, name)))
      if (byModel.size < maxModels) byModel.set(key, covered)
      return covered
    },
  }
}
