import { type Awaitable, isPromise } from '../shared/awaitable.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { RevisionClock } from '../shared/identity/revision-clock.ts'
import { checkCollaborator } from '../shared/plugin/options.ts'
import { type Log, noLog } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import { createCalendar } from './calendar.ts'
import { type CounterSubject, counterId, UsageCounter } from './ledger/counter.ts'
import { Ledger } from './ledger/ledger.ts'
import { BlockReservation, countable, ReservedPart } from './ledger/reservation.ts'
import type { Need } from './ledger/waiting-calls.ts'
import { type Limit, parseLimits } from './limit.ts'
import { modelWithoutPrice } from './limit-problem.ts'
import { reportOf, usedRatiosOf } from './reports.ts'
import type { LimitStore } from './store.ts'
import { type CallerLimits, createSubjectLimits } from './subject-limits.ts'
import type { Amounts, LimitedCall, UsageLimits, UsageReservation } from './usage-limits.ts'

/** Options of `usageLimits`. */
export interface UsageLimitsOptions {
  /** `limits` of the store of `openStore`, one for all processes; or your own. */
  readonly store: LimitStore
  /** Limits of everybody together. Default: none. */
  readonly accountLimits?: readonly Limit[]
  /** Limits of each user for whom the store has no list. Default: none. */
  readonly userLimits?: readonly Limit[]
  /** IANA name of the time zone in which days, weeks and months begin. Default `UTC`. */
  readonly timeZone?: string
  /**
   * Says when changed limits of users, teams and tokens have to be read again. Default: the limits of a caller are read
   * once a second at most.
   */
  readonly revisionClock?: RevisionClock
  readonly clock?: Clock
  /** Default: no log. */
  readonly log?: Log
}

/** Counters that a process keeps although no call has used them for long. */
const maxCounters = 10_000
const unusedMs = 60_000

/**
 * Creates the limits of this process. Give the same object to all plugins, and call `stop` at the end.
 *
 * Throws TypeError for a list of limits that is not valid, and RangeError for an unknown time zone.
 *
 * @example
 * const limits = usageLimits({ store: store.limits, userLimits: [{ unit: 'requests', amount: 100, window: 'day' }] })
 */
export const usageLimits = (options: UsageLimitsOptions): UsageLimits => {
  const { store, accountLimits = [], userLimits = [], timeZone = 'UTC', clock = systemClock, log = noLog } = options
  checkCollaborator('store', store)
  for (const [name, list] of Object.entries({ accountLimits, userLimits })) {
    const checked = parseLimits(list)
    if ('problem' in checked) throw new TypeError(`${name}: ${checked.problem}`)
  }
  const calendar = createCalendar(timeZone)
  const ledger = new Ledger({ store, clock, log })
  const counters = new Map<string, UsageCounter>()

  const counterOf = (subject: CounterSubject, limit: Limit): UsageCounter => {
    const id = counterId(subject, limit)
    const known = counters.get(id)
    if (known) {
      known.setLimit(limit)
      return known
    }
    const now = clock.now()
    if (counters.size >= maxCounters && Math.abs(now - droppedAt) > unusedMs) dropUnused(now)
    const counter = new UsageCounter(subject, limit, calendar, now)
    counters.set(id, counter)
    return counter
  }

  let droppedAt = 0
  const dropUnused = (now: number): void => {
    droppedAt = now
    for (const [id, counter] of counters) {
      const { block, past } = counter
      if (!block.isEmpty || past.size > 0 || now - block.touchedAt < unusedMs) continue
      counter.isDropped = true
      counters.delete(id)
    }
  }

  let revision = 0
  const revisionClock =
    options.revisionClock ?? new RevisionClock(async () => ++revision, { refreshAfterMs: 1_000, staleAfterMs: 1_000 })
  const limitsOf = createSubjectLimits({ store, revisionClock, accountLimits, userLimits, counterOf })

  const reserveFor = (limits: CallerLimits, call: LimitedCall): Awaitable<UsageReservation | undefined> => {
    const applicable = limits.countersFor(call.model)
    if (applicable.length === 0) return undefined
    const amounts = typeof call.uses === 'function' ? call.uses() : call.uses
    const parts: ReservedPart[] = []
    for (const counter of applicable) {
      const { unit } = counter.limit
      if (unit === 'cost' && call.unpriced) throw modelWithoutPrice()
      const use = amounts[unit]
      if (use !== undefined) parts.push(new ReservedPart(counter, countable(use)))
    }
    if (parts.length === 0) return undefined
    const { signal } = call
    if (ledger.takeNow(parts)) return new BlockReservation(ledger, parts, signal, clock)
    const atLeast = (typeof call.atLeast === 'function' ? call.atLeast() : call.atLeast) ?? amounts
    const needs = parts.map(({ counter, amount }) => needOf(counter, amount, atLeast))
    return ledger.take(needs, { signal }).then((granted) => {
      const taken = Array.from(granted, ([counter, amount]) => new ReservedPart(counter, amount))
      return new BlockReservation(ledger, taken, signal, clock)
    })
  }

  return {
    reserve(call) {
      const limits = limitsOf(call.user, call.token)
      return isPromise(limits) ? limits.then((found) => reserveFor(found, call)) : reserveFor(limits, call)
    },

    async report({ user, token }) {
      const limits = await limitsOf(user, token)
      await ledger.flush()
      await ledger.sweep()
      const now = clock.now()
      const reported = limits.counters()
      for (const counter of reported) ledger.roll(counter, now)
      const uses = await storeCall(
        store.limitUse(
          reported.map(({ block }) => block.counter),
          now,
        ),
        'the limits could not be read',
      )
      return reported.map((counter, index) => reportOf(counter, uses[index] ?? { used: 0, allHeld: 0 }, now))
    },

    usedRatios: () => usedRatiosOf(counters.values()),

    stop: () => ledger.stop(),
  }
}

/** A need of which less may be enough. */
const needOf = (counter: UsageCounter, amount: number, atLeast: Amounts): Need => {
  const least = atLeast[counter.limit.unit]
  return { counter, amount, least: least === undefined ? amount : Math.min(amount, countable(least)) }
}
