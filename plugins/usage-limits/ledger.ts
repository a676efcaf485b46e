import { randomUUID } from 'node:crypto'
import { inNextTurn } from '../shared/background/next-turn.ts'
import type { Clock } from '../shared/clock.ts'
import { type Log, Problem } from '../shared/problem.ts'
import type { Block, Counter, PendingMove } from './counter.ts'
import { isConsumed } from './limit.ts'
import { LimitProblem } from './limit-problem.ts'
import type { LimitChange, LimitCounts, LimitExchange, LimitStore } from './store.ts'

/** What a call needs of a counter. */
export interface Need {
  readonly counter: Counter
  readonly amount: number
  /** What it can begin with. */
  readonly least: number
}

/** Receives what a call was granted of its needs, by counter. */
type Granted = (amounts: ReadonlyMap<Counter, number>) => void

interface Waiter {
  readonly needs: readonly Need[]
  readonly since: number
  /** Whether an exchange has asked for it. */
  tried: boolean
  readonly grant: Granted
  readonly reject: (reason: unknown) => void
}

interface Holder {
  readonly id: string
  seq: number
  leaseUntil: number
}

/** An exchange whose outcome is not known yet. */
interface PendingExchange {
  readonly exchange: LimitExchange
  readonly blocks: readonly Block[]
  readonly moves: readonly PendingMove[]
}

/** How long a holder keeps its blocks after its last exchange. */
const leaseMs = 30_000
const renewMs = 10_000
/** Before the end of the lease, nothing is taken of a block any more: the database may see the end a little earlier. */
const leaseMarginMs = 2_000
/** How long a call waits for what others hold. */
const maxWaitMs = 2_000
/** How long it waits for all that it is expected to use, before less is enough. */
const fullWaitMs = 1_000
/** Time between two exchanges for calls that wait. */
const pollMs = 100
/** Time from a change to the exchange that writes it. */
const flushMs = 250
/** After that time without a call, the free part of a block is given back. */
const idleMs = 500
/** Time between two attempts after a failure. */
const retryMs = 1_000
const sweepMs = 5_000
/** How long a limit that was full counts as full: something may be given back at any time. */
const knownMs = 50
/** Counters of one exchange: SQLite lets nothing else run meanwhile. */
const maxChanges = 64

/** Options of `Ledger`. */
export interface LedgerOptions {
  readonly store: Pick<LimitStore, 'exchange' | 'sweepLimits'>
  readonly clock: Clock
  readonly log: Log
}

/**
 * The blocks of one process: takes them from the store, lets calls reserve parts of them, and settles them there.
 *
 * One exchange at a time is in progress. While its outcome is not known, the same one is sent again, and calls use only
 * what the process has whatever the outcome was.
 */
export class Ledger {
  readonly #options: LedgerOptions
  readonly #clock: Clock
  readonly #waiting = new Set<Waiter>()
  /** Blocks with something to write or to give back. */
  readonly #changed = new Set<Block>()
  /** Blocks that the database has. */
  readonly #held = new Set<Block>()
  #holder: Holder | undefined
  #pending: PendingExchange | undefined
  #running: Promise<void> | undefined
  #again = false
  #failed = false
  #stopped = false
  #timer: { readonly at: number; readonly cancel: () => void } | undefined
  #sweptAt = Number.NEGATIVE_INFINITY
  #sweeping: Promise<void> | undefined

  constructor(options: LedgerOptions) {
    this.#options = options
    this.#clock = options.clock
  }

  /** Takes all that is needed of the blocks of this process, if they have it. */
  takeNow(needs: readonly Need[]): boolean {
    const now = this.#clock.now()
    if (!this.#hasLease(now)) return false
    for (const { counter, amount } of needs) {
      const ended = counter.roll(now)
      if (ended) this.change(ended)
      if (counter.block.free < amount) return false
    }
    for (const { counter, amount } of needs) if (amount > 0) this.#take(counter, amount, now)
    return true
  }

  /**
   * Waits until the blocks of this process have what is needed, or at least the least of it. Rejects with LimitProblem
   * when there is no room, with Problem when the store fails, and with the reason of the signal.
   */
  take(needs: readonly Need[], signal: AbortSignal | undefined): Promise<ReadonlyMap<Counter, number>> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const now = this.#clock.now()
      const refused = needs.find((need) => this.#isKnownToBeFull(need, now))
      if (refused) return reject(this.#problemOf(refused.counter, now))
      const end = () => {
        this.#waiting.delete(waiter)
        signal?.removeEventListener('abort', abort)
      }
      const abort = () => {
        end()
        reject(signal?.reason)
      }
      const waiter: Waiter = {
        ...{ needs, since: now, tried: false },
        grant: (amounts) => {
          end()
          resolve(amounts)
        },
        reject: (reason) => {
          end()
          reject(reason)
        },
      }
      signal?.addEventListener('abort', abort)
      this.#waiting.add(waiter)
      this.#wakeAt(now)
    })
  }

  /** A block has something to write, or more that is free. */
  change(block: Block): void {
    const now = this.#clock.now()
    this.#changed.add(block)
    if (this.#waiting.size > 0) inNextTurn(this.#serve)
    this.#wakeAt(now + flushMs)
  }

  /** Moves a part of a block to another holder, with the next exchange. */
  move(block: Block, move: PendingMove): void {
    if (block.successor) {
      move.failed(new Problem(503, 'the limits could not be checked'))
      return
    }
    block.reserved -= move.amount
    block.moves.push(move)
    this.#changed.add(block)
    this.#wakeAt(this.#clock.now())
  }

  /** Writes what has changed. Never rejects. */
  async flush(): Promise<void> {
    await this.#running
    await this.#run()
  }

  /** Settles what others held whose lease has ended, at most every few seconds. Never rejects. */
  sweep(): Promise<void> {
    const now = this.#clock.now()
    if (now - this.#sweptAt < sweepMs && now >= this.#sweptAt) return this.#sweeping ?? Promise.resolve()
    this.#sweptAt = now
    this.#sweeping = this.#options.store.sweepLimits(now).then(
      () => {
        this.#sweeping = undefined
      },
      (err: unknown) => {
        this.#sweeping = undefined
        this.#options.log.warn({ err }, 'ended leases of limits could not be settled')
      },
    )
    return this.#sweeping
  }

  /** Writes what has changed, gives back all that is free, and ends. Never rejects. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
    for (const block of this.#held) this.#changed.add(block)
    await this.#run()
    await this.#sweeping
    this.#timer?.cancel()
    this.#timer = undefined
    for (const { reject } of this.#waiting) reject(new Problem(503, 'the server is stopping'))
  }

  #hasLease(now: number): boolean {
    return this.#holder !== undefined && now < this.#holder.leaseUntil - leaseMarginMs
  }

  #take(counter: Counter, amount: number, now: number): void {
    counter.take(amount, now)
    const { block, counts } = counter
    // Asks for more before the block is empty, so that the next calls need not wait.
    if (!counts || block.free * 2 >= counter.recent(now)) return
    if (counter.amount - counts.used - counts.allHeld < 100 * amount) return
    this.#changed.add(block)
    this.#wakeAt(now)
  }

  /** Without an exchange: so that calls above a limit cost the database nothing. */
  #isKnownToBeFull({ counter, least }: Need, now: number): boolean {
    const ended = counter.roll(now)
    if (ended) this.change(ended)
    if (least > counter.amount) return true
    const { counts, attainable, limit } = counter
    if (!counts || attainable === undefined || !isConsumed(limit.unit)) return false
    return now - counts.at < knownMs && least > attainable
  }

  readonly #serve = (): void => {
    const now = this.#clock.now()
    const hasLease = this.#hasLease(now)
    for (const waiter of this.#waiting) {
      for (const { counter } of waiter.needs) {
        const ended = counter.roll(now)
        if (ended) this.change(ended)
      }
      if (hasLease && waiter.needs.every(({ counter, amount }) => counter.block.free >= amount)) {
        this.#grant(waiter, now)
      } else if (waiter.tried) this.#serveLess(waiter, now, hasLease)
    }
  }

  #serveLess(waiter: Waiter, now: number, hasLease: boolean): void {
    const { needs, since } = waiter
    const hasRoom = (need: Need) => hasLease && need.counter.block.free >= need.least
    const never = needs.find(({ counter, least }) => least > (counter.attainable ?? least))
    const short = never ?? needs.find((need) => !hasRoom(need))
    const ends = never !== undefined || now - since >= maxWaitMs
    if (short && ends) waiter.reject(this.#problemOf(short.counter, now))
    else if (!short && acceptsLess(waiter, now)) this.#grant(waiter, now)
  }

  /** Grants the same part of a unit of all counters: what the one with the least has free. */
  #grant({ needs, grant }: Waiter, now: number): void {
    const granted = new Map<Counter, number>()
    for (const { counter, amount } of needs) {
      const { unit } = counter.limit
      const same = needs.filter((need) => need.counter.limit.unit === unit)
      granted.set(counter, Math.min(amount, ...same.map((need) => need.counter.block.free)))
    }
    for (const [counter, amount] of granted) if (amount > 0) counter.take(amount, now)
    grant(granted)
  }

  #problemOf(counter: Counter, now: number): LimitProblem {
    const { limit, subject, block, counts } = counter
    const { endsAt, slides } = block.counter
    const availableAt =
      limit.amount === 0 ? undefined : (endsAt ?? (slides && (counts?.freeAt ?? now + slides.lengthMs)))
    return new LimitProblem({ limit, subject, availableAt, now })
  }

  #wakeAt(at: number): void {
    if (this.#timer && this.#timer.at <= at) return
    this.#timer?.cancel()
    if (at <= this.#clock.now()) {
      this.#timer = { at, cancel: () => {} }
      const timer = this.#timer
      inNextTurn(() => {
        if (this.#timer === timer) void this.#run()
      })
      return
    }
    this.#timer = { at, cancel: this.#clock.at(at, () => void this.#run()) }
  }

  /** Serves, and exchanges while there is something to exchange. Never rejects. */
  #run(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    if (this.#running) {
      this.#again = true
      return this.#running
    }
    this.#running = this.#exchangeAll().finally(() => {
      this.#running = undefined
      this.#wakeLater()
    })
    return this.#running
  }

  async #exchangeAll(): Promise<void> {
    do {
      this.#again = false
      this.#serve()
      this.#pending ??= this.#prepare(this.#clock.now())
      if (this.#pending) await this.#exchange(this.#pending)
    } while (this.#again && !this.#failed)
  }

  #wakeLater(): void {
    if (this.#stopped) return
    const now = this.#clock.now()
    if (this.#failed) this.#wakeAt(now + retryMs)
    else if (this.#waiting.size > 0) {
      const isNew = [...this.#waiting].some(({ tried }) => !tried)
      this.#wakeAt(isNew ? now : now + pollMs)
    } else if (this.#changed.size > 0) this.#wakeAt(now + flushMs)
    if (this.#holder && this.#held.size > 0) this.#wakeAt(this.#holder.leaseUntil - leaseMs + renewMs)
  }

  /** Undefined: there is nothing to exchange. */
  #prepare(now: number): PendingExchange | undefined {
    const demands = this.#demands(now)
    const changes: LimitChange[] = []
    const blocks: Block[] = []
    const moves: PendingMove[] = []
    const chosen = new Set([...demands.keys(), ...this.#changed])
    for (const block of chosen) {
      if (changes.length === maxChanges) {
        this.#again = true
        break
      }
      const change = this.#changeOf(block, demands.get(block), now)
      if (!change) continue
      changes.push(change)
      blocks.push(block)
      moves.push(...block.moves)
      block.moves = []
      block.sentUsed = block.used
      block.used = 0
    }
    for (const waiter of this.#waiting) waiter.tried = true
    const renews = this.#held.size > 0 && this.#holder && now >= this.#holder.leaseUntil - leaseMs + renewMs
    if (changes.length === 0 && !renews) return undefined
    // A holder whose lease has ended without blocks has nothing to lose.
    if (this.#held.size === 0 && !this.#hasLease(now)) this.#holder = undefined
    this.#holder ??= { id: `process:${randomUUID()}`, seq: 0, leaseUntil: 0 }
    const { id, seq } = this.#holder
    return { exchange: { holder: id, seq: seq + 1, now, leaseUntil: now + leaseMs, changes }, blocks, moves }
  }

  /** What the calls that wait need of each block. */
  #demands(now: number): ReadonlyMap<Block, { needs: number; atLeast: number }> {
    const demands = new Map<Block, { needs: number; atLeast: number }>()
    for (const waiter of this.#waiting) {
      const less = acceptsLess(waiter, now)
      const missing = waiter.needs.filter(({ counter, amount, least }) => counter.block.free < (less ? least : amount))
      // What others of its counters have would only lie here while it waits for one that has no room.
      const short = waiter.tried ? missing.filter(({ counter }) => counter.isShort) : []
      for (const { counter, amount, least } of short.length > 0 ? short : missing) {
        const demand = demands.get(counter.block) ?? { needs: 0, atLeast: Number.POSITIVE_INFINITY }
        demand.needs += amount
        demand.atLeast = Math.min(demand.atLeast, less ? least : amount)
        demands.set(counter.block, demand)
      }
    }
    return demands
  }

  /** The change of a block. Undefined: there is none yet. */
  #changeOf(
    block: Block,
    demand: { readonly needs: number; readonly atLeast: number } | undefined,
    now: number,
  ): LimitChange | undefined {
    const { owner, counter, held, used, moves } = block
    const recent = owner.block === block && now - block.touchedAt < idleMs && !this.#stopped ? owner.recent(now) : 0
    const isBusy = recent > 0
    // With a demand, all that is free is given back and asked for again: parts that are too small help only others.
    if (!isBusy || demand) block.free = 0
    const keeps = block.reserved + block.free
    const spare = block.free * 2 < recent ? recent - block.free : 0
    if (!isBusy && !demand) this.#changed.delete(block)
    if (used === 0 && keeps === held && !demand && spare === 0 && moves.length === 0) return undefined
    return {
      ...{ counter, amount: owner.amount, held, used, keeps, spare, moves: moves.map(heldMove) },
      ...(demand ? { ...demand, needs: Math.min(demand.needs, owner.amount) } : { needs: 0, atLeast: 0 }),
    }
  }

  async #exchange(pending: PendingExchange): Promise<void> {
    const { exchange, blocks, moves } = pending
    let counts: readonly LimitCounts[] | undefined
    try {
      counts = await this.#options.store.exchange(exchange)
    } catch (cause) {
      this.#fail(cause)
      return
    }
    if (this.#failed) {
      this.#options.log.info({}, 'limits are counted again')
      this.#again = true
    }
    this.#failed = false
    this.#pending = undefined
    if (!counts) {
      this.#lose(pending)
      return
    }
    this.#holder = { id: exchange.holder, seq: exchange.seq, leaseUntil: exchange.leaseUntil }
    for (const [index, block] of blocks.entries()) {
      const [change, count] = [exchange.changes[index], counts[index]]
      if (change && count) this.#apply(block, change, count, exchange.now)
    }
    for (const { moved } of moves) moved()
    this.#serve()
    void this.sweep()
  }

  #apply(block: Block, change: LimitChange, counts: LimitCounts, at: number): void {
    const { owner } = block
    block.held = counts.held
    block.sentUsed = 0
    block.free += counts.held - change.keeps
    if (counts.held > 0) this.#held.add(block)
    else this.#held.delete(block)
    if (block.free > 0 || block.used > 0) this.#changed.add(block)
    if (owner.block === block) {
      owner.counts = { ...counts, at }
      owner.isShort = change.needs > 0 && counts.held < change.keeps + change.atLeast
    } else if (block.isEmpty) owner.past.delete(block.counter.bucket)
  }

  /** The outcome is not known: the same exchange is sent again. Nobody waits for that. */
  #fail(cause: unknown): void {
    if (!this.#failed) this.#options.log.error({ err: cause }, 'the use of limits could not be written')
    this.#failed = true
    const problem = () => new Problem(500, 'the limits could not be checked', { cause })
    for (const { reject } of this.#waiting) reject(problem())
    for (const { failed } of this.#pending?.moves ?? []) failed(problem())
    for (const block of this.#changed) {
      for (const { amount, failed } of block.moves) {
        block.free += amount
        failed(problem())
      }
      block.moves = []
    }
  }

  /** The lease has ended before it could be extended: what the process held counts as used. */
  #lose({ blocks, moves }: PendingExchange): void {
    if (this.#held.size > 0) this.#options.log.warn({ blocks: this.#held.size }, 'the lease on limits was lost')
    this.#holder = undefined
    for (const block of [...this.#held, ...this.#changed, ...blocks]) {
      if (block.successor) continue
      const next = block.lose()
      this.#changed.delete(block)
      if (!next.isEmpty) this.#changed.add(next)
    }
    this.#held.clear()
    for (const { failed } of moves) failed(new Problem(503, 'the limits could not be checked'))
    this.#again = true
  }
}

/** Whether what it can begin with is enough for a call that has waited, or that can never have more. */
const acceptsLess = ({ needs, since, tried }: Waiter, now: number): boolean =>
  now - since >= fullWaitMs || (tried && needs.some(({ counter, amount }) => amount > (counter.attainable ?? amount)))

const heldMove = ({ holder, amount, leaseUntil }: PendingMove) => ({ holder, amount, leaseUntil })
