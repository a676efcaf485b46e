import type { Awaitable } from '../../shared/awaitable.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Disconnection } from '../../shared/http/disconnection.ts'
import { Problem } from '../../shared/problem.ts'
import type { LimitUnit } from '../limit.ts'
import { LimitProblem } from '../limit-problem.ts'
import type { Amounts, UsageReservation } from '../usage-limits.ts'
import type { UsageBlock, UsageCounter } from './counter.ts'
import type { Ledger } from './ledger.ts'
import type { Need } from './waiting-calls.ts'

/** More than a call uses. The sum of many such amounts is still one that a database stores. */
const maxAmount = 2 ** 46

/** An amount as it is counted: an integer, and not below 0. */
export const countable = (amount: number | undefined): number =>
  amount !== undefined && amount > 0 ? Math.min(Math.ceil(amount), maxAmount) : 0

/** What a reservation holds of one limit. */
export class ReservedPart {
  readonly counter: UsageCounter
  /** Where it was taken. */
  block: UsageBlock
  amount: number

  constructor(counter: UsageCounter, amount: number) {
    this.counter = counter
    this.block = counter.block
    this.amount = amount
  }
}

const holdLeaseMs = 60_000
/** How long a stream waits for more. Its upstream goes on meanwhile, and generates what nobody has reserved. */
const extensionWaitMs = 200

/** What one call holds of the blocks of this process. */
export class BlockReservation implements UsageReservation {
  readonly #ledger: Ledger
  readonly #parts: ReservedPart[]
  readonly #signal: Disconnection | undefined
  readonly #clock: Pick<Clock, 'now'>
  #released = false
  /** Whether a counter has several parts: the call has run from one window into the next. */
  #isRepeated = false

  /** @param parts which the ledger has taken just now, of different counters */
  constructor(ledger: Ledger, parts: ReservedPart[], signal: Disconnection | undefined, clock: Pick<Clock, 'now'>) {
    this.#ledger = ledger
    this.#parts = parts
    this.#signal = signal
    this.#clock = clock
    for (const part of parts) part.block = part.counter.block
  }

  get reserved(): Amounts {
    const reserved: Partial<Record<LimitUnit, number>> = {}
    for (const part of this.#parts) {
      const { counter } = part
      // A call that has run from one window into the next may have a part in each.
      const amount = this.#isRepeated ? this.#sumOf(counter) : part.amount
      const { unit } = counter.limit
      reserved[unit] = Math.min(reserved[unit] ?? amount, amount)
    }
    return reserved
  }

  #sumOf(counter: UsageCounter): number {
    return this.#parts.reduce((sum, part) => sum + (part.counter === counter ? part.amount : 0), 0)
  }

  extend(uses: Amounts, atLeast = uses): Awaitable<boolean> {
    if (this.#released) return false
    const needs: Need[] = []
    for (const counter of new Set(this.#parts.map((part) => part.counter))) {
      const amount = countable(uses[counter.limit.unit])
      const least = Math.min(amount, countable(atLeast[counter.limit.unit]))
      if (amount > 0) needs.push({ counter, amount, least })
    }
    if (this.#ledger.takeNow(needs)) {
      for (const { counter, amount } of needs) this.#add(counter, amount)
      return true
    }
    return this.#ledger.take(needs, { signal: this.#signal, waitMs: extensionWaitMs }).then(
      (granted) => {
        for (const [counter, amount] of granted) this.#add(counter, amount)
        if (this.#released) this.#giveBack()
        return !this.#released
      },
      (error: unknown) => {
        if (error instanceof LimitProblem) return false
        throw error
      },
    )
  }

  settle(used: Amounts): void {
    if (this.#released) return
    for (const part of this.#parts) {
      const amount = used[part.counter.limit.unit]
      if (amount === undefined) continue
      if (this.#isRepeated) this.#settleAll(part, countable(amount))
      else this.#end(part, countable(amount))
    }
  }

  /** Settles all parts of a counter at its first one: each as far as it goes, and the last one with the rest. */
  #settleAll(first: ReservedPart, used: number): void {
    const parts = this.#parts.filter(({ counter }) => counter === first.counter)
    if (parts[0] !== first) return
    let rest = used
    for (const [index, part] of parts.entries()) {
      const share = index === parts.length - 1 ? rest : Math.min(rest, part.amount)
      rest -= share
      this.#end(part, share)
    }
  }

  release(): void {
    if (this.#released) return
    this.#released = true
    this.#giveBack()
  }

  async hold(holder: string): Promise<void> {
    const leaseUntil = this.#clock.now() + holdLeaseMs
    const moves = this.#parts.map((part) => {
      const { block, amount } = part
      if (amount === 0) return undefined
      part.amount = 0
      return new Promise<void>((moved, failed) =>
        this.#ledger.move(block, { holder, amount, leaseUntil, moved, failed }),
      )
    })
    await Promise.all(moves).catch((cause: unknown) => {
      throw cause instanceof Problem ? cause : new Problem(500, 'the limits could not be checked', { cause })
    })
  }

  headers(): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {}
    const now = this.#clock.now()
    // Names that are written out: to compose them would take longer than all the rest.
    const requests = this.#tightest('requests')
    if (requests) {
      headers['x-ratelimit-limit-requests'] = requests.amountText
      headers['x-ratelimit-remaining-requests'] = String(requests.remaining)
      const reset = requests.resetText(now)
      if (reset !== undefined) headers['x-ratelimit-reset-requests'] = reset
    }
    const tokens = this.#tightest('tokens')
    if (tokens) {
      headers['x-ratelimit-limit-tokens'] = tokens.amountText
      headers['x-ratelimit-remaining-tokens'] = String(tokens.remaining)
      const reset = tokens.resetText(now)
      if (reset !== undefined) headers['x-ratelimit-reset-tokens'] = reset
    }
    return headers
  }

  /** The counter of a unit with the least that remains. */
  #tightest(unit: LimitUnit): UsageCounter | undefined {
    let tightest: UsageCounter | undefined
    let least = Number.POSITIVE_INFINITY
    for (const { counter } of this.#parts) {
      if (counter.limit.unit !== unit) continue
      const { remaining = Number.POSITIVE_INFINITY } = counter
      if (remaining >= least) continue
      tightest = counter
      least = remaining
    }
    return tightest
  }

  /** A window may have ended since the first part of a counter was taken: the blocks differ. */
  #add(counter: UsageCounter, amount: number): void {
    const part = this.#parts.find((known) => known.counter === counter && known.block === counter.block)
    if (part) part.amount += amount
    else {
      this.#isRepeated ||= this.#parts.some((known) => known.counter === counter)
      this.#parts.push(new ReservedPart(counter, amount))
    }
  }

  #giveBack(): void {
    for (const part of this.#parts) if (part.amount > 0) this.#end(part, 0)
  }

  #end(part: ReservedPart, used: number): void {
    const { block, amount } = part
    part.amount = 0
    if (amount === 0 && used === 0) return
    this.#ledger.change(block.settle(amount, used))
  }
}
