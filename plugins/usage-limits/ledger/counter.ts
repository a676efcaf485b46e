import { createHash } from 'node:crypto'
import type { Calendar } from '../calendar.ts'
import { isConsumed, type Limit, type LimitWindow } from '../limit.ts'
import type { HeldMove, LimitCounter, LimitCounts, SlidingWindow } from '../store.ts'
import type { LimitSubject } from '../usage-limits.ts'

/** Whose limit it is. */
export interface CounterSubject extends LimitSubject {
  /** Of a token: its user. */
  readonly user?: string
}

/** Minutes and hours slide in 60 steps. */
const sliding: Readonly<Partial<Record<LimitWindow, SlidingWindow>>> = {
  minute: { lengthMs: 60_000, stepMs: 1_000 },
  hour: { lengthMs: 3_600_000, stepMs: 60_000 },
}

/** Characters of an id. A longer one is replaced by its hash: it would not fit into the index of a database. */
const maxIdLength = 300

/** The counts of one limit of one subject: the same limit has the same id in all processes, whatever its amount. */
export const counterId = ({ type, id }: Pick<LimitSubject, 'type' | 'id'>, { unit, window, model }: Limit): string => {
  const text = JSON.stringify([type, id, unit, window ?? '', model ?? ''])
  return text.length <= maxIdLength ? text : createHash('sha256').update(text).digest('hex')
}

/** The amount of a limit, as it is counted: `cost` in billionths. */
export const amountOf = ({ unit, amount }: Limit): number => (unit === 'cost' ? Math.round(amount * 1e9) : amount)

/** How long the time is for which `UsageCounter.recent` adds up. */
const recentMs = 500
/** After that time of it, what calls have taken says how fast they take. */
const rateMs = 25

/** A limit of one subject, as this process knows it. */
export class UsageCounter {
  readonly id: string
  readonly subject: CounterSubject
  readonly #calendar: Calendar
  limit: Limit
  /** The amount of the limit, an integer. */
  amount: number
  /** The block of the present window. */
  block: UsageBlock
  /** Blocks of windows that have ended, until they are settled. */
  readonly past = new Map<number, UsageBlock>()
  /** What the last exchange for the present window has shown, and when it was sent. */
  counts: (LimitCounts & { readonly at: number }) | undefined
  /** The last exchange had less than it was asked for. */
  isShort = false
  /** Another counter may have taken the place of this one: it was not used for long. */
  isDropped = false
  #recent = { amount: 0, calls: 0, since: 0 }
  #before = { amount: 0, calls: 0 }
  // Texts of many responses.
  #amountText: string | undefined
  #reset = { seconds: 0, text: '' }

  constructor(subject: CounterSubject, limit: Limit, calendar: Calendar, now: number) {
    this.id = counterId(subject, limit)
    this.subject = subject
    this.limit = limit
    this.amount = amountOf(limit)
    this.#calendar = calendar
    this.block = this.#open(now)
    this.block.touchedAt = now
  }

  /** Changes the amount. Below the earlier one, what the block has free is given back. */
  setLimit(limit: Limit): void {
    const amount = amountOf(limit)
    if (amount < this.amount) this.block.free = 0
    this.limit = limit
    this.amount = amount
    this.#amountText = undefined
  }

  /** Makes `block` that of the window at this time. Returns the block before, if it still has something. */
  roll(now: number): UsageBlock | undefined {
    const { block } = this
    const { bucket, endsAt } = block.counter
    if (endsAt === undefined || (now >= bucket && now < endsAt)) return undefined
    const next = this.#open(now)
    this.past.delete(next.counter.bucket)
    this.block = next
    this.counts = undefined
    this.isShort = false
    if (block.isEmpty) return undefined
    this.past.set(bucket, block)
    return block
  }

  /** Notes that a call has taken an amount of the block. */
  take(amount: number, now: number): void {
    this.block.free -= amount
    this.block.reserved += amount
    this.block.touchedAt = now
    this.#shift(now)
    this.#recent.amount += amount
    this.#recent.calls++
  }

  /**
   * What calls take in half a second: what they have taken in the last one, or as fast as they take in the present one
   * if that is more. 0 for a single call: a block for further ones would only be given back.
   */
  recent(now: number): number {
    this.#shift(now)
    const { amount, calls, since } = this.#recent
    if (calls + this.#before.calls < 2) return 0
    const present = Math.ceil((amount * recentMs) / Math.max(rateMs, now - since))
    return Math.max(present, this.#before.amount)
  }

  /** The most that there can be for new calls when all calls in progress have ended. Undefined: not known. */
  get attainable(): number | undefined {
    return this.counts && this.amount - this.counts.used - this.block.used - this.block.sentUsed
  }

  /** What is left for new calls, as far as this process knows. Undefined: not known. */
  get remaining(): number | undefined {
    return this.counts && Math.max(0, this.amount - this.counts.used - this.counts.allHeld + this.block.free)
  }

  /** `amount`, for a header. */
  get amountText(): string {
    this.#amountText ??= String(this.amount)
    return this.#amountText
  }

  /** The time until all of the amount is available again, for a header. Undefined: never by itself. */
  resetText(now: number): string | undefined {
    const { endsAt, slides } = this.block.counter
    const ms = endsAt === undefined ? slides?.lengthMs : endsAt - now
    if (ms === undefined || ms < 1_000) return ms === undefined ? undefined : `${Math.max(0, Math.ceil(ms))}ms`
    const seconds = Math.ceil(ms / 1_000)
    if (this.#reset.seconds !== seconds) this.#reset = { seconds, text: durationText(seconds) }
    return this.#reset.text
  }

  #shift(now: number): void {
    const age = now - this.#recent.since
    if (age >= 0 && age < recentMs) return
    this.#before = age >= 0 && age < 2 * recentMs ? this.#recent : { amount: 0, calls: 0 }
    this.#recent = { amount: 0, calls: 0, since: now }
  }

  #open(now: number): UsageBlock {
    const { unit, window } = this.limit
    const { type, id, user } = this.subject
    const subject = { type, id, ...(user !== undefined && { user }) }
    const slides = window && sliding[window]
    if (slides || !window || window === 'minute' || window === 'hour') {
      return new UsageBlock(this, { id: this.id, unit, subject, bucket: 0, ...(slides && { slides }) })
    }
    const { start, end } = this.#calendar.periodAt(window, now)
    return this.past.get(start) ?? new UsageBlock(this, { id: this.id, unit, subject, bucket: start, endsAt: end })
  }
}

/** Such as `1h30m0s`, as other gateways write these headers. */
const durationText = (seconds: number): string => {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds % 60}s`
}

/** What moves to another holder, and who waits for that. */
export interface PendingMove extends HeldMove {
  readonly moved: () => void
  readonly failed: (cause: unknown) => void
}

/**
 * The part of a counter's amount that this process holds, in one window. `held` is what the database has; the others
 * add up to no more than that, unless a call has used more than it had reserved.
 */
export class UsageBlock {
  readonly owner: UsageCounter
  readonly counter: LimitCounter
  held = 0
  /** Calls may reserve it. */
  free = 0
  reserved = 0
  /** Settled, and not sent to the database yet. */
  used = 0
  /** Sent to the database in an exchange whose outcome is not known yet. */
  sentUsed = 0
  moves: PendingMove[] = []
  touchedAt = Number.NEGATIVE_INFINITY
  /** Has taken its place, because another process has settled it: all that it held counts as used. */
  successor: UsageBlock | undefined

  constructor(owner: UsageCounter, counter: LimitCounter) {
    this.owner = owner
    this.counter = counter
  }

  get isEmpty(): boolean {
    return this.held === 0 && this.reserved === 0 && this.used === 0 && this.sentUsed === 0 && this.moves.length === 0
  }

  /** Ends a part of what is reserved: `used` is booked, the rest is free. Returns the block that has changed. */
  settle(reserved: number, used: number): UsageBlock {
    // What was reserved of a block that is lost is booked already.
    if (this.successor) return this.successor.settle(0, Math.max(0, used - reserved))
    this.reserved -= reserved
    this.free = Math.max(0, this.free + reserved - used)
    this.used += used
    return this
  }

  /** Another process may have settled the block. Returns the one that takes its place. */
  lose(): UsageBlock {
    if (!isConsumed(this.counter.unit)) {
      // What exists was given back, and is held again with the next exchange.
      this.held = 0
      this.free = 0
      this.used = 0
      this.sentUsed = 0
      return this
    }
    const next = new UsageBlock(this.owner, this.counter)
    next.used = Math.max(0, this.used + this.sentUsed + this.reserved - this.held)
    this.successor = next
    const { past, block } = this.owner
    if (block === this) this.owner.block = next
    else past.set(this.counter.bucket, next)
    return next
  }
}
