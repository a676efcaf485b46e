import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../../plugins/shared/clock.ts'
import { type Log, silent } from '../../plugins/shared/problem.ts'
import type { Tokens, UsageEntry } from '../../plugins/text-generation/usage.ts'

/** What a user spent with a token on a model in a day, as far as it has not been written yet. */
export interface UsageSum {
  readonly user: string
  /** Empty for calls without one. */
  readonly token: string
  /** In UTC, `YYYY-MM-DD`. */
  readonly day: string
  readonly model: string
  calls: number
  unreported: number
  input: number
  cachedInput: number
  output: number
  reasoning: number
}

/** Sums that are added to those in the database together. */
export interface UsageBatch {
  readonly id: string
  /** The batch that was written before it, by the same buffer. */
  readonly previous: string | undefined
  readonly at: number
  readonly sums: readonly UsageSum[]
}

export interface UsageBufferOptions {
  /** Adds a batch, all of it or nothing. Of several calls with one batch, one takes effect: whether one that was rejected did, nobody knows. */
  readonly write: (batch: UsageBatch) => Promise<void>
  readonly clock?: Clock
  /** Told when usage cannot be written, and when some of it is lost. */
  readonly log?: Log
}

/** Calls wait so long for company: a transaction costs more than its rows. With the time that writing takes, it is also what a kill loses. */
const gatherMs = 50
const retryMs = 1_000
/** SQLite works within the call: everybody else waits for a batch. */
const mostInABatch = 200
/** While the store does not answer. Calls for which there is no sum yet are lost then, and counted. */
const mostSums = 10_000

/** Usage on its way into the store. Adding costs no question to the database, and nobody waits for one. */
export class UsageBuffer {
  readonly #write: UsageBufferOptions['write']
  readonly #clock: Clock
  readonly #log: Log
  readonly #sums = new Map<string, UsageSum>()
  /** Is being written, or may have been written by an attempt that failed: so it stays as it is. */
  #batch: UsageBatch | undefined
  #previous: string | undefined
  #writing: Promise<void> | undefined
  #next: Promise<void> | undefined
  #callOff: (() => void) | undefined
  #lost = 0
  #closed = false

  constructor({ write, clock = systemClock, log = silent }: UsageBufferOptions) {
    this.#write = write
    this.#clock = clock
    this.#log = log
  }

  /** Counts a call, whose texts are such as databases keep. Throws TypeError for tokens that are no whole numbers, or too many. */
  add({ user, token = '', model, at, tokens = none }: UsageEntry): void {
    const day = new Date(at).toISOString().slice(0, 10)
    // No part of it has a NUL.
    const key = `${user}\0${token}\0${day}\0${model}`
    const known = this.#sums.get(key)
    const { input, cachedInput, output, reasoning } = added(known ?? none, tokens)
    const sum = known ?? this.#begin(key, { user, token, day, model })
    if (!sum) return
    sum.calls++
    if (tokens === none) sum.unreported++
    sum.input = input
    sum.cachedInput = cachedInput
    sum.output = output
    sum.reasoning = reasoning
    this.#callOff ??= this.#clock.at(this.#clock.now() + gatherMs, this.#flushSoon)
  }

  /** Writes what has been added so far. Rejects when the store cannot be asked: what is not known to be written stays, and is tried again. */
  flush(): Promise<void> {
    if (this.#next) return this.#next
    if (!this.#writing) return this.#flushNow()
    // What came since that one began needs another one, which all who wait share.
    this.#next = this.#writing
      .catch(() => {})
      .then(() => {
        this.#next = undefined
        return this.#flushNow()
      })
    return this.#next
  }

  /** Writes what has been added, as far as the store takes it. What is added afterwards is lost. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true
    await this.flush().catch(() => {})
    this.#callOff?.()
    this.#lost += callsIn(this.#sums.values()) + callsIn(this.#batch?.sums ?? [])
    this.#sums.clear()
    this.#batch = undefined
    this.#reportLost()
  }

  #begin(key: string, of: Pick<UsageSum, 'user' | 'token' | 'day' | 'model'>): UsageSum | undefined {
    if (this.#closed || this.#sums.size >= mostSums) {
      if (this.#lost++ === 0) this.#log.error({ sums: this.#sums.size }, 'usage is being lost')
      return undefined
    }
    const sum = { ...of, calls: 0, unreported: 0, ...none }
    this.#sums.set(key, sum)
    return sum
  }

  readonly #flushSoon = (): void => {
    this.flush().catch(() => {})
  }

  #flushNow(): Promise<void> {
    this.#callOff?.()
    this.#callOff = undefined
    this.#writing = this.#drain().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  /** As much as there is now: what is added meanwhile has a time of its own. */
  async #drain(): Promise<void> {
    let left = this.#sums.size
    while (this.#batch || left > 0) {
      if (!this.#batch) {
        this.#batch = this.#take()
        left -= this.#batch.sums.length
      }
      try {
        await this.#write(this.#batch)
      } catch (err) {
        this.#log.error({ err, sums: this.#sums.size + this.#batch.sums.length }, 'usage could not be written')
        this.#callOff?.()
        this.#callOff = this.#clock.at(this.#clock.now() + retryMs, this.#flushSoon)
        throw err
      }
      this.#previous = this.#batch.id
      this.#batch = undefined
    }
    if (!this.#closed) this.#reportLost()
  }

  #take(): UsageBatch {
    const sums: UsageSum[] = []
    for (const [key, sum] of this.#sums) {
      if (sums.length === mostInABatch) break
      sums.push(sum)
      this.#sums.delete(key)
    }
    return { id: randomUUID(), previous: this.#previous, at: this.#clock.now(), sums }
  }

  #reportLost(): void {
    if (this.#lost > 0) this.#log.error({ calls: this.#lost }, 'usage of calls has been lost')
    this.#lost = 0
  }
}

const none: Tokens = { input: 0, cachedInput: 0, output: 0, reasoning: 0 }

const added = (sum: Tokens, more: Tokens): Tokens => {
  const total = {
    input: sum.input + more.input,
    cachedInput: sum.cachedInput + more.cachedInput,
    output: sum.output + more.output,
    reasoning: sum.reasoning + more.reasoning,
  }
  if (Object.values(total).every(Number.isSafeInteger)) return total
  throw new TypeError('tokens must be whole numbers, and their sum a safe one')
}

const callsIn = (sums: Iterable<UsageSum>): number => {
  let calls = 0
  for (const sum of sums) calls += sum.calls
  return calls
}
