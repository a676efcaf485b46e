import type { Disconnection } from '../../shared/http/disconnection.ts'
import type { Problem } from '../../shared/problem.ts'
import { isConsumed } from '../limit.ts'
import { LimitProblem } from '../limit-problem.ts'
import type { UsageBlock, UsageCounter } from './counter.ts'

/** What a call needs of a counter. */
export interface Need {
  readonly counter: UsageCounter
  readonly amount: number
  /** What it can begin with. */
  readonly least: number
}

/** How a call waits. */
export interface Wait {
  readonly now: number
  /** Ends the wait. */
  readonly signal: Disconnection | undefined
  /** How long it waits for what others hold. Milliseconds, default 2,000. */
  readonly waitMs?: number | undefined
}

/** What the calls that wait need of a block. */
export interface Demand {
  needs: number
  /** What the call needs that can begin with the least. */
  atLeast: number
}

/** What a call was granted of its needs. */
export type Granted = ReadonlyMap<UsageCounter, number>

interface WaitingCall {
  readonly needs: readonly Need[]
  readonly since: number
  /** How long it waits for what others hold. */
  readonly maxWaitMs: number
  /** Whether an exchange has asked for it. */
  isTried: boolean
  /** Whether the store has answered such an exchange. */
  isAnswered: boolean
  readonly grant: (granted: Granted) => void
  readonly reject: (reason: unknown) => void
}

/** How long a call waits for what others hold, before it begins. */
const maxWaitMs = 2_000
/** How long it waits for all that it is expected to use, before less is enough. */
const fullWaitMs = 1_000
/** How long a limit that was full counts as full: something may be given back at any time. */
const knownMs = 50

/** Calls that wait until the blocks of this process have what they need. */
export class WaitingCalls {
  readonly #calls = new Set<WaitingCall>()

  get size(): number {
    return this.#calls.size
  }

  /** Whether there is a call for which no exchange has asked. */
  get hasNew(): boolean {
    for (const { isTried } of this.#calls) if (!isTried) return true
    return false
  }

  /**
   * Adds a call. Resolves when it was granted all that it needs, or at least the least of it. Rejects with LimitProblem
   * when there is no room for it, with the problem of `reject`, and with the reason of the signal.
   */
  add(needs: readonly Need[], { now, signal, waitMs = maxWaitMs }: Wait): Promise<Granted> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const refused = needs.find((need) => isKnownToBeFull(need, now))
      if (refused) return reject(problemOf(refused, now))
      const end = () => {
        this.#calls.delete(call)
        signal?.removeEventListener('abort', abort)
      }
      const abort = { handleEvent: () => call.reject(signal?.reason) }
      const call: WaitingCall = {
        ...{ needs, since: now, maxWaitMs: waitMs, isTried: false, isAnswered: false },
        grant: (granted) => {
          end()
          resolve(granted)
        },
        reject: (reason) => {
          end()
          reject(reason)
        },
      }
      signal?.addEventListener('abort', abort)
      this.#calls.add(call)
    })
  }

  /** The store has answered the exchange that has asked for them. */
  answered(): void {
    for (const call of this.#calls) call.isAnswered ||= call.isTried
  }

  /** Rejects all calls. */
  reject(problem: () => Problem): void {
    for (const call of this.#calls) call.reject(problem())
  }

  /** The counters of all calls. */
  *counters(): Generator<UsageCounter> {
    for (const { needs } of this.#calls) for (const { counter } of needs) yield counter
  }

  /** Grants what the blocks have, and refuses the calls for which there is no room. @param hasLease of the blocks */
  serve(now: number, hasLease: boolean): void {
    for (const call of this.#calls) {
      const { needs } = call
      if (hasLease && needs.every(({ counter, amount }) => counter.block.free >= amount)) {
        grant(call, now)
        continue
      }
      if (!call.isTried) continue
      const hasRoom = (need: Need) => hasLease && need.counter.block.free >= need.least
      const never = needs.find(({ counter, least }) => least > (counter.attainable ?? least))
      const missing = needs.filter((need) => !hasRoom(need))
      const known = never ?? missing.find(({ counter }) => counter.isShort)
      const short = known ?? missing[0]
      // A store that is slow has not said that there is no room. When it fails, all calls are rejected.
      const isOpen = known === undefined && !call.isAnswered
      const ends = never !== undefined || (now - call.since >= call.maxWaitMs && !isOpen)
      if (short && ends) call.reject(problemOf(short, now))
      else if (!short && acceptsLess(call, now)) grant(call, now)
    }
  }

  /**
   * The blocks whose free parts are for a call that waits for others of its counters. Not those of a call that waits
   * for a counter without room: what they have is there for others.
   */
  kept(): ReadonlySet<UsageBlock> {
    const kept = new Set<UsageBlock>()
    for (const { needs, isTried } of this.#calls) {
      if (isTried && needs.some(({ counter }) => counter.isShort)) continue
      for (const { counter } of needs) kept.add(counter.block)
    }
    return kept
  }

  /** What an exchange has to ask for. */
  demands(now: number): ReadonlyMap<UsageBlock, Demand> {
    const demands = new Map<UsageBlock, Demand>()
    for (const call of this.#calls) {
      const less = acceptsLess(call, now)
      const missing = call.needs.filter(({ counter, amount, least }) => counter.block.free < (less ? least : amount))
      // What others of its counters have would only lie here while it waits for one that has no room.
      const short = call.isTried ? missing.filter(({ counter }) => counter.isShort) : []
      for (const { counter, amount, least } of short.length > 0 ? short : missing) {
        const demand = demands.get(counter.block) ?? { needs: 0, atLeast: Number.POSITIVE_INFINITY }
        demand.needs += amount
        demand.atLeast = Math.min(demand.atLeast, less ? least : amount)
        demands.set(counter.block, demand)
      }
      call.isTried = true
    }
    return demands
  }
}

/** Grants the same part of a unit of all counters: what the one with the least has free. */
const grant = ({ needs, grant: granted }: WaitingCall, now: number): void => {
  const amounts = new Map<UsageCounter, number>()
  for (const { counter, amount } of needs) {
    const ofUnit = needs.filter((need) => need.counter.limit.unit === counter.limit.unit)
    amounts.set(counter, Math.min(amount, ...ofUnit.map((need) => need.counter.block.free)))
  }
  for (const [counter, amount] of amounts) if (amount > 0) counter.take(amount, now)
  granted(amounts)
}

/**
 * Whether what it can begin with is enough for a call that has waited, or that can never have more. A wait for a store
 * that is slow says nothing about the room.
 */
const acceptsLess = ({ needs, since, maxWaitMs: waitMs, isTried, isAnswered }: WaitingCall, now: number): boolean =>
  (isAnswered && now - since >= Math.min(fullWaitMs, waitMs / 2)) ||
  needs.some(({ counter, amount }) => amount > ((isTried ? counter.attainable : undefined) ?? counter.amount))

/** Without an exchange: so that calls above a limit cost the database nothing. */
const isKnownToBeFull = ({ counter, least }: Need, now: number): boolean => {
  if (least > counter.amount) return true
  const { counts, attainable, limit } = counter
  if (!counts || attainable === undefined || !isConsumed(limit.unit)) return false
  return now < Math.min(counts.at + knownMs, counts.freeAt ?? Number.POSITIVE_INFINITY) && least > attainable
}

/** They end soon, nobody knows when. */
const unitsOfCalls: readonly string[] = ['running_videos', 'streams']

const problemOf = ({ counter, least }: Need, now: number): LimitProblem => {
  const { limit, subject, block, counts, amount } = counter
  if (amount > 0 && least > amount) return new LimitProblem({ limit, subject, isTooLarge: true }, now)
  const { endsAt, slides } = block.counter
  const ofCalls = unitsOfCalls.includes(limit.unit) ? now + 1_000 : undefined
  const returnsAt = endsAt ?? (slides && (counts?.freeAt ?? now + slides.lengthMs)) ?? ofCalls
  return new LimitProblem({ limit, subject, returnsAt: limit.amount === 0 ? undefined : returnsAt }, now)
}
