import { inNextTurn } from '../../shared/background/next-turn.ts'
import type { Clock } from '../../shared/clock.ts'
import { type Log, Problem } from '../../shared/problem.ts'
import type { LimitChange, LimitStore } from '../store.ts'
import type { PendingMove, UsageBlock, UsageCounter } from './counter.ts'
import { type BlockChange, Exchanges } from './exchanges.ts'
import { type Demand, type Granted, type Need, type Wait, WaitingCalls } from './waiting-calls.ts'

/** Time between two exchanges for calls that wait. */
const pollMs = 100
/** Time from a change to the exchange that writes it. */
const flushMs = 250
/** After that time without a call, the free part of a block is given back. */
const idleMs = 500
/** Time between two attempts after a failure. */
const retryMs = 1_000
/** Time between two searches for leases of others that have ended. */
const sweepMs = 5_000
/** Counters of one exchange: SQLite lets nothing else run meanwhile. */
const maxChanges = 64

/** Options of `Ledger`. */
export interface LedgerOptions {
  readonly store: Pick<LimitStore, 'exchange' | 'sweepLimits'>
  readonly clock: Clock
  readonly log: Log
}

/**
 * What one process holds of all limits: it takes blocks from the store, lets calls reserve parts of them, and settles
 * them there. Calls use only what the process has whatever the outcome of the present exchange will be.
 */
export class Ledger {
  readonly #options: LedgerOptions
  readonly #clock: Clock
  readonly #waiting = new WaitingCalls()
  readonly #exchanges: Exchanges
  /** Blocks with something to write or to give back. */
  readonly #changed = new Set<UsageBlock>()
  #running: Promise<void> | undefined
  #again = false
  #isStopped = false
  #timer: { readonly at: number; readonly cancel: () => void } | undefined
  #sweptAt = Number.NEGATIVE_INFINITY
  #sweeping: Promise<void> = Promise.resolve()

  constructor(options: LedgerOptions) {
    const { store, clock, log } = options
    this.#options = options
    this.#clock = clock
    this.#exchanges = new Exchanges({ store, log, onChanged: (block) => this.#changed.add(block) })
  }

  /** Takes all that is needed of the blocks of this process, if they have it. */
  takeNow(needs: readonly Pick<Need, 'counter' | 'amount'>[]): boolean {
    const now = this.#clock.now()
    const hasLease = this.#exchanges.hasLease(now)
    for (const { counter, amount } of needs) {
      this.roll(counter, now)
      if (amount > (hasLease ? counter.block.free : 0)) return false
    }
    for (const { counter, amount } of needs) if (amount > 0) this.#take(counter, amount, now)
    return true
  }

  /**
   * Waits until the blocks of this process have what is needed, or at least the least of it. Rejects with LimitProblem
   * when there is no room, with Problem when the store fails, and with the reason of the signal.
   */
  take(needs: readonly Need[], wait: Omit<Wait, 'now'>): Promise<Granted> {
    const now = this.#clock.now()
    for (const { counter } of needs) this.roll(counter, now)
    const granted = this.#waiting.add(needs, { ...wait, now })
    if (this.#waiting.hasNew) this.#wakeAt(now)
    return granted
  }

  /** Makes the block of a counter that of its present window. */
  roll(counter: UsageCounter, now: number): void {
    const ended = counter.roll(now)
    if (ended) this.change(ended)
  }

  /** A block has something to write, or more that is free. */
  change(block: UsageBlock): void {
    if (this.#waiting.size > 0) inNextTurn(this.#serve)
    // An exchange for it is due, or follows the present one.
    else if (this.#changed.has(block) && (this.#timer || this.#running)) return
    this.#changed.add(block)
    this.#wakeAt(this.#clock.now() + flushMs)
  }

  /** Moves a part of what is reserved of a block to another holder, with the next exchange. */
  move(block: UsageBlock, move: PendingMove): void {
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
    if (Math.abs(now - this.#sweptAt) < sweepMs) return this.#sweeping
    this.#sweptAt = now
    this.#sweeping = this.#options.store.sweepLimits(now).catch((err: unknown) => {
      this.#options.log.warn({ err }, 'ended leases on limits could not be settled')
    })
    return this.#sweeping
  }

  /** Writes what has changed, and gives back all that is free. Never rejects. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
    for (const block of this.#exchanges.held) this.#changed.add(block)
    await this.#run()
    await this.#sweeping
    this.#timer?.cancel()
    this.#timer = undefined
    this.#waiting.reject(() => new Problem(503, 'the server is stopping'))
  }

  #take(counter: UsageCounter, amount: number, now: number): void {
    counter.take(amount, now)
    const { block, counts } = counter
    // Asks for more before the block is empty, so that the next calls need not wait. While calls come evenly, the
    // exchange that writes what they have used is early enough.
    if (!counts || block.free * 4 >= counter.recent(now)) return
    if (counter.amount - counts.used - counts.allHeld < 100 * amount) return
    this.#changed.add(block)
    this.#wakeAt(now)
  }

  readonly #serve = (): void => {
    const now = this.#clock.now()
    for (const counter of this.#waiting.counters()) this.roll(counter, now)
    this.#waiting.serve(now, this.#exchanges.hasLease(now))
  }

  #wakeAt(at: number): void {
    if (this.#timer && this.#timer.at <= at) return
    this.#timer?.cancel()
    const run = () => {
      if (this.#timer === timer) void this.#run()
    }
    const timer = { at, cancel: () => {} }
    this.#timer = timer
    if (at <= this.#clock.now()) inNextTurn(run)
    else timer.cancel = this.#clock.at(at, run)
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
      if (!this.#isStopped) this.#wakeLater()
    })
    return this.#running
  }

  async #exchangeAll(): Promise<void> {
    do {
      this.#again = false
      this.#serve()
      if (this.#exchanges.isPending) this.#again = true
      else if (!this.#prepare(this.#clock.now())) continue
      const outcome = await this.#exchanges.send()
      if (typeof outcome === 'object') {
        this.#fail(outcome.cause)
        return
      }
      if (outcome === 'applied') this.#waiting.answered()
      this.#serve()
      void this.sweep()
    } while (this.#again)
  }

  #wakeLater(): void {
    const now = this.#clock.now()
    if (this.#exchanges.isFailing) {
      this.#wakeAt(now + retryMs)
      return
    }
    if (this.#waiting.size > 0) this.#wakeAt(this.#waiting.hasNew ? now : now + pollMs)
    else if (this.#changed.size > 0) this.#wakeAt(now + flushMs)
    const { renewsAt } = this.#exchanges
    if (renewsAt !== undefined) this.#wakeAt(renewsAt)
  }

  /** False: there is nothing to exchange. */
  #prepare(now: number): boolean {
    const kept = this.#waiting.kept()
    const demands = this.#waiting.demands(now)
    const changes: BlockChange[] = []
    for (const block of new Set([...demands.keys(), ...this.#changed])) {
      if (changes.length === maxChanges) {
        this.#again = true
        break
      }
      const change = this.#changeOf(block, { demand: demands.get(block), isKept: kept.has(block), now })
      if (change) changes.push({ block, change })
    }
    const { renewsAt = Number.POSITIVE_INFINITY } = this.#exchanges
    if (changes.length === 0 && now < renewsAt) return false
    this.#exchanges.prepare(changes, now)
    return true
  }

  /** The change of a block. Undefined: there is none yet. */
  #changeOf(
    block: UsageBlock,
    { demand, isKept, now }: { readonly demand: Demand | undefined; readonly isKept: boolean; readonly now: number },
  ): LimitChange | undefined {
    const { owner, counter, held, used, moves } = block
    const isPresent = owner.block === block && !this.#isStopped
    const recent = isPresent && now - block.touchedAt < idleMs ? owner.recent(now) : 0
    // Near the end of an amount, all that is free is given back and asked for again: parts that are too small for any
    // call of this process are enough for others.
    if ((recent === 0 && !(isKept && isPresent)) || (demand && owner.isShort)) block.free = 0
    if (block.free === 0) this.#changed.delete(block)
    const keeps = block.reserved + block.free
    const spare = Math.max(0, recent - block.free)
    if (used === 0 && keeps === held && !demand && spare === 0 && moves.length === 0) return undefined
    return {
      ...{ counter, amount: owner.amount, held, used, keeps, spare },
      ...(demand ? { ...demand, needs: Math.min(demand.needs, owner.amount) } : { needs: 0, atLeast: 0 }),
      moves: moves.map(({ holder, amount, leaseUntil }) => ({ holder, amount, leaseUntil })),
    }
  }

  /** Nobody waits for a store that fails. What was sent is sent again. */
  #fail(cause: unknown): void {
    const problem = () => new Problem(500, 'the limits could not be checked', { cause })
    this.#waiting.reject(problem)
    for (const block of this.#changed) {
      for (const { amount, failed } of block.moves) {
        block.free += amount
        failed(problem())
      }
      block.moves = []
    }
  }
}
