import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../../../plugins/shared/clock.ts'
import { runOutsideRequests } from '../../../plugins/shared/http/current-request.ts'
import { type Log, noLog } from '../../../plugins/shared/problem.ts'
import type { Tokens } from '../../../plugins/text-generation/usage/tokens.ts'
import type { UsageEntry } from '../../../plugins/text-generation/usage/usage.ts'
import { isOfOneRow } from '../database/error.ts'

/** Buffered usage of one user, token, model and day, which has not been written yet. */
export interface UsageSum {
  readonly user: string
  /** Id of the token. Empty for calls without a token. */
  readonly token: string
  /** Day in UTC, `YYYY-MM-DD`. */
  readonly day: string
  readonly model: string
  calls: number
  unreported: number
  input: number
  cachedInput: number
  output: number
  reasoning: number
  /** In billionths of the currency unit. Undefined: no call had a price. */
  cost?: number
}

/** Sums that one transaction adds to those in the database. */
export interface UsageBatch {
  readonly id: string
  /** Id of the batch that the same buffer wrote before this one. */
  readonly previous: string | undefined
  /** Time of the first attempt. Milliseconds since 1970. */
  readonly at: number
  readonly sums: readonly UsageSum[]
}

/** Options of `UsageBuffer`. */
export interface UsageBufferOptions {
  /**
   * Writes a batch, all of it or nothing. Must be idempotent: the outcome of a rejected call is unknown, so the buffer
   * retries the same batch.
   */
  readonly write: (batch: UsageBatch) => Promise<void>
  readonly clock?: Clock
  /** Receives an error when usage cannot be written or is lost. */
  readonly log?: Log
}

const dayMs = 86_400_000
/**
 * How long calls are collected into one batch: a transaction costs more than its rows. A kill loses what is buffered in
 * this time, and the batch being written.
 */
const batchMs = 50
const retryMs = 1_000
/** SQLite runs synchronously: all requests wait while a batch is written. */
const maxBatchSums = 200
/**
 * Bound of the buffer while the database is unreachable. Beyond it, calls that need a new sum are lost, and counted.
 */
const maxSums = 10_000

/** A write buffer for usage. Adding needs no query, so no request waits for the database. */
export class UsageBuffer {
  readonly #write: UsageBufferOptions['write']
  readonly #clock: Clock
  readonly #log: Log
  readonly #sums = new Map<string, UsageSum>()
  /**
   * The batch that is being written, or whose last attempt failed. It stays unchanged, because that attempt may have
   * taken effect.
   */
  #batch: UsageBatch | undefined
  /** Parts of a batch that the database has rejected for one of its sums. They are written before further sums. */
  #parts: (readonly UsageSum[])[] = []
  #previous: string | undefined
  #writing: Promise<void> | undefined
  #queuedFlush: Promise<void> | undefined
  #cancelTimer: (() => void) | undefined
  #lost = 0
  #closed = false
  /** The day of the last call: its number since 1970, and its date in UTC. */
  #day = { number: Number.NaN, text: '' }

  constructor({ write, clock = systemClock, log = noLog }: UsageBufferOptions) {
    this.#write = write
    this.#clock = clock
    this.#log = log
  }

  /** Counts a call. Its texts must be storable. Throws TypeError for token counts that are not safe integers. */
  add({ user, token = '', model, at, tokens = noTokens, cost }: UsageEntry): void {
    const day = this.#dayOf(at)
    // NUL as the separator: storable text does not contain it.
    const key = `${user}\0${token}\0${day}\0${model}`
    const known = this.#sums.get(key)
    const { input, cachedInput, output, reasoning } = addTokens(known ?? noTokens, tokens)
    const sum = known ?? this.#startSum(key, { user, token, day, model })
    if (!sum) return
    sum.calls++
    if (tokens === noTokens) sum.unreported++
    sum.input = input
    sum.cachedInput = cachedInput
    sum.output = output
    sum.reasoning = reasoning
    if (cost !== undefined) sum.cost = (sum.cost ?? 0) + cost
    this.#cancelTimer ??= this.#clock.at(this.#clock.now() + batchMs, this.#flushSoon)
  }

  /**
   * Writes all calls that were added so far. Rejects when a write fails; the buffer keeps that batch and retries it.
   */
  flush(): Promise<void> {
    if (this.#queuedFlush) return this.#queuedFlush
    if (!this.#writing) return this.#flushNow()
    // Calls that were added since the running flush began need a second one. All callers share it.
    this.#queuedFlush = this.#writing
      .catch(() => {})
      .then(() => {
        this.#queuedFlush = undefined
        return this.#flushNow()
      })
    return this.#queuedFlush
  }

  /**
   * Writes the buffered calls if the database is reachable. Calls that are added afterwards are lost. Never rejects.
   */
  async close(): Promise<void> {
    this.#closed = true
    await this.flush().catch(() => {})
    this.#cancelTimer?.()
    this.#lost += callsIn([...this.#sums.values(), ...this.#parts.flat(), ...(this.#batch?.sums ?? [])])
    this.#sums.clear()
    this.#batch = undefined
    this.#parts = []
    this.#reportLost()
  }

  /** The day of a time, in UTC. Cached, because most calls are on the same day as the call before. */
  #dayOf(at: number): string {
    const number = Math.floor(at / dayMs)
    if (number !== this.#day.number) this.#day = { number, text: new Date(at).toISOString().slice(0, 10) }
    return this.#day.text
  }

  #startSum(key: string, of: Pick<UsageSum, 'user' | 'token' | 'day' | 'model'>): UsageSum | undefined {
    if (this.#closed || this.#sums.size >= maxSums) {
      if (this.#lost++ === 0) this.#log.error({ sums: this.#sums.size }, 'usage is being lost')
      return undefined
    }
    const sum = { ...of, calls: 0, unreported: 0, ...noTokens }
    this.#sums.set(key, sum)
    return sum
  }

  readonly #flushSoon = (): void => {
    runOutsideRequests(() => this.flush()).catch(() => {})
  }

  #flushNow(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#writing = this.#writeAll().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  /** Writes the sums that exist now. Calls that are added meanwhile have set a timer of their own. */
  async #writeAll(): Promise<void> {
    let left = this.#sums.size
    while (this.#batch || this.#parts.length > 0 || left > 0) {
      if (!this.#batch) {
        const part = this.#parts.shift()
        this.#batch = this.#batchOf(part ?? this.#takeSums())
        if (!part) left -= this.#batch.sums.length
      }
      try {
        await this.#write(this.#batch)
      } catch (err) {
        if (isOfOneRow(err)) {
          this.#divide(this.#batch, err)
          continue
        }
        this.#log.error({ err, sums: this.#sums.size + this.#batch.sums.length }, 'usage could not be written')
        this.#cancelTimer?.()
        this.#cancelTimer = this.#clock.at(this.#clock.now() + retryMs, this.#flushSoon)
        throw err
      }
      this.#previous = this.#batch.id
      this.#batch = undefined
    }
    if (!this.#closed) this.#reportLost()
  }

  /**
   * Nothing of the batch was written, and without one of its sums it would be. The others must not wait for that one
   * for ever.
   */
  #divide({ sums }: UsageBatch, err: unknown): void {
    this.#batch = undefined
    const [first, ...others] = sums
    if (first && others.length === 0) {
      this.#log.error({ err, user: first.user, model: first.model }, 'usage cannot be written')
      this.#lost += first.calls
      return
    }
    const middle = Math.ceil(sums.length / 2)
    this.#parts.unshift(sums.slice(0, middle), sums.slice(middle))
  }

  #batchOf(sums: readonly UsageSum[]): UsageBatch {
    return { id: randomUUID(), previous: this.#previous, at: this.#clock.now(), sums }
  }

  #takeSums(): readonly UsageSum[] {
    const sums: UsageSum[] = []
    for (const [key, sum] of this.#sums) {
      if (sums.length === maxBatchSums) break
      sums.push(sum)
      this.#sums.delete(key)
    }
    return sums
  }

  #reportLost(): void {
    if (this.#lost > 0) this.#log.error({ calls: this.#lost }, 'usage of calls has been lost')
    this.#lost = 0
  }
}

const noTokens: Tokens = { input: 0, cachedInput: 0, output: 0, reasoning: 0 }

const addTokens = (sum: Tokens, other: Tokens): Tokens => {
  const total = {
    input: sum.input + other.input,
    cachedInput: sum.cachedInput + other.cachedInput,
    output: sum.output + other.output,
    reasoning: sum.reasoning + other.reasoning,
  }
  const { input, cachedInput, output, reasoning } = total
  const safe = Number.isSafeInteger
  if (safe(input) && safe(cachedInput) && safe(output) && safe(reasoning)) return total
  throw new TypeError('tokens must be whole numbers, and their sum a safe one')
}

const callsIn = (sums: Iterable<UsageSum>): number => {
  let calls = 0
  for (const sum of sums) calls += sum.calls
  return calls
}
