import { randomUUID } from 'node:crypto'
import { type Log, Problem } from '../../shared/problem.ts'
import type { LimitChange, LimitCounts, LimitExchange, LimitStore } from '../store.ts'
import type { PendingMove, UsageBlock } from './counter.ts'

/** The change of a block. */
export interface BlockChange {
  readonly block: UsageBlock
  readonly change: LimitChange
}

/** An exchange whose outcome is not known yet. */
interface PendingExchange {
  readonly exchange: LimitExchange
  readonly blocks: readonly UsageBlock[]
  readonly moves: readonly PendingMove[]
}

interface Holder {
  readonly id: string
  readonly seq: number
  readonly leaseUntil: number
}

/** How long a holder keeps its blocks after its last exchange. */
const leaseMs = 30_000
const renewMs = 10_000
/** Before the end of the lease, nothing is taken of a block any more: the database may see the end a little earlier. */
const leaseMarginMs = 2_000

/** Options of `Exchanges`. */
export interface ExchangesOptions {
  readonly store: Pick<LimitStore, 'exchange'>
  readonly log: Log
  /** A block has something to write, or something that is free. */
  readonly onChanged: (block: UsageBlock) => void
}

/**
 * The exchanges of one process with the store, as a holder with a lease: one at a time. While the outcome of one is not
 * known, the same one is sent again.
 */
export class Exchanges {
  readonly #options: ExchangesOptions
  /** Blocks that the database has. */
  readonly held = new Set<UsageBlock>()
  #holder: Holder | undefined
  #pending: PendingExchange | undefined
  /** Whether the last exchange has failed. */
  isFailing = false

  constructor(options: ExchangesOptions) {
    this.#options = options
  }

  /** Whether the blocks of this process are its own. */
  hasLease(now: number): boolean {
    return this.#holder !== undefined && now < this.#holder.leaseUntil - leaseMarginMs
  }

  /** When the lease has to be extended. Undefined: there is nothing to keep. */
  get renewsAt(): number | undefined {
    return this.#holder && this.held.size > 0 ? this.#holder.leaseUntil - leaseMs + renewMs : undefined
  }

  /** Whether an exchange was sent whose outcome is not known. */
  get isPending(): boolean {
    return this.#pending !== undefined
  }

  /** Makes an exchange of changes. The changes have left their blocks. */
  prepare(changes: readonly BlockChange[], now: number): void {
    // A holder whose lease has ended without blocks has nothing to lose.
    if (this.held.size === 0 && !this.hasLease(now)) this.#holder = undefined
    const { id, seq } = this.#holder ?? { id: `process:${randomUUID()}`, seq: 0 }
    const moves: PendingMove[] = []
    for (const { block } of changes) {
      moves.push(...block.moves)
      block.moves = []
      block.sentUsed = block.used
      block.used = 0
    }
    this.#pending = {
      exchange: {
        ...{ holder: id, seq: seq + 1, now, leaseUntil: now + leaseMs },
        changes: changes.map(({ change }) => change),
      },
      blocks: changes.map(({ block }) => block),
      moves,
    }
  }

  /**
   * Sends the prepared exchange. Resolves with the reason when it has failed, and with `lost` when the lease has ended
   * before it. Never rejects.
   */
  async send(): Promise<'applied' | 'lost' | { readonly cause: unknown }> {
    const pending = this.#pending
    if (!pending) return 'applied'
    const { exchange, blocks, moves } = pending
    let counts: readonly LimitCounts[] | undefined
    try {
      counts = await this.#options.store.exchange(exchange)
    } catch (cause) {
      if (!this.isFailing) this.#options.log.error({ err: cause }, 'the use of limits could not be written')
      this.isFailing = true
      for (const { failed } of moves) failed(cause)
      return { cause }
    }
    if (this.isFailing) this.#options.log.info({}, 'the use of limits is written again')
    this.isFailing = false
    this.#pending = undefined
    if (!counts) {
      this.#lose(pending)
      return 'lost'
    }
    this.#holder = { id: exchange.holder, seq: exchange.seq, leaseUntil: exchange.leaseUntil }
    for (const [index, block] of blocks.entries()) {
      const [change, count] = [exchange.changes[index], counts[index]]
      if (change && count) this.#apply(block, change, { ...count, at: exchange.now })
    }
    for (const { moved } of moves) moved()
    return 'applied'
  }

  #apply(block: UsageBlock, change: LimitChange, counts: LimitCounts & { readonly at: number }): void {
    const { owner } = block
    block.held = counts.held
    block.sentUsed = 0
    block.free += counts.held - change.keeps
    if (counts.held > 0) this.held.add(block)
    else this.held.delete(block)
    if (block.free > 0 || block.used > 0) this.#options.onChanged(block)
    if (owner.block === block) {
      owner.counts = counts
      owner.isShort = change.needs > 0 && counts.held < change.keeps + change.atLeast
    } else if (block.isEmpty) owner.past.delete(block.counter.bucket)
  }

  /** The lease has ended before it was extended: what the process held counts as used. */
  #lose({ blocks, moves }: PendingExchange): void {
    if (this.held.size > 0) this.#options.log.warn({ blocks: this.held.size }, 'the lease on limits has ended')
    this.#holder = undefined
    const lost = new Set([...this.held, ...blocks])
    this.held.clear()
    for (const block of lost) {
      const next = block.successor ? undefined : block.lose()
      if (next && !next.isEmpty) this.#options.onChanged(next)
    }
    for (const { failed } of moves) failed(new Problem(503, 'the limits could not be checked'))
  }
}
