import type { Clock } from '../../shared/clock.ts'
import { type ModelUser, type UserNumber, UserValue, UserValues } from './user-values.ts'

/** Without history: tokens that a response usually has. */
const usualTokens = 1_000
/** Weight of the latest call. */
const weight = 0.2
/** How much of the distance to it each lower call takes away from the most. */
const mostDecay = 0.01
/** An estimate that is further from the truth says nothing about the next one. */
export const maxFactor = 4
/** How much of a high factor each lower one takes away. */
const factorDecay = 0.05

/**
 * By what the estimates of a user and model have to be multiplied to be enough for most calls: the highest ratio of
 * what upstreams have reported, from 1. It falls slowly: many calls that run at the end of a limit must not each have
 * reserved too little.
 */
class EstimateFactor extends UserValue {
  /** Undefined: not known yet. */
  factor: number | undefined

  addEstimate(estimated: number, reported: number): void {
    if (estimated <= 0) return
    const latest = Math.min(Math.max(1, reported / estimated), maxFactor)
    const known = this.factor ?? 1
    this.factor = latest > known ? latest : known - factorDecay * (known - latest)
  }
}

/** What calls of a user and model have used. Its factor is that of the estimates of the input. */
class CallValues extends EstimateFactor {
  /** Moving average of the output, in tokens. */
  #mean: number
  /** Moving average of the distance from it. */
  #deviation: number
  /** The most output, which falls slowly. */
  most: number

  constructor(output: number) {
    super()
    this.#mean = output
    this.#deviation = output / 4
    this.most = output
  }

  /** The average and its usual deviation: most calls fit, and it is far from the maximum that they allow. */
  get output(): number {
    return Math.max(1, Math.ceil(this.#mean + this.#deviation))
  }

  addOutput(tokens: number): void {
    const distance = tokens - this.#mean
    this.#mean += weight * distance
    this.#deviation += weight * (Math.abs(distance) - this.#deviation)
    this.most = Math.max(tokens, this.most - mostDecay * (this.most - tokens))
  }
}

/** What the next call of a user and model will probably use. */
export interface CallExpectation {
  /** Tokens that it will probably generate. Above 0. */
  readonly output: number
  /** The most that such calls have generated lately. 0: nobody knows. */
  readonly most: number
  /** By what the estimate of its input has to be multiplied. From 1. */
  readonly inputFactor: number
  /** The same of the output that is counted while it passes. */
  readonly countFactor: number
}

/** What calls used lately, by user and model. A user without history has that of most users of the model. */
export class TokenHistory {
  readonly #clock: Pick<Clock, 'now'>
  readonly #output: UserNumber<CallValues>
  readonly #calls = new UserValues<CallValues>()
  /** Apart from the calls: most have a short output, which teaches nothing about the count. */
  readonly #counts = new UserValues<EstimateFactor>()

  /** @param usualOutput tokens of a response without history */
  constructor(clock: Pick<Clock, 'now'>, usualOutput = usualTokens) {
    this.#clock = clock
    this.#output = { numberOf: ({ output }) => output, withoutHistory: usualOutput }
  }

  expect(of: ModelUser): CallExpectation {
    const now = this.#clock.now()
    const known = this.#calls.own(of, now)
    return {
      output: known?.output ?? this.#calls.usual(of.model, now, this.#output),
      most: Math.ceil(known?.most ?? 0),
      inputFactor: known?.factor ?? this.#calls.usual(of.model, now, factor),
      countFactor: this.#counts.own(of, now)?.factor ?? this.#counts.usual(of.model, now, factor),
    }
  }

  /** Adds the output of a call, in tokens. With `input`, also what was estimated of it, and what it was. */
  add(of: ModelUser, output: number, input?: { readonly estimated: number; readonly reported: number }): void {
    const now = this.#clock.now()
    const known = this.#calls.own(of, now)
    known?.addOutput(output)
    const values = known ?? new CallValues(output)
    if (input) values.addEstimate(input.estimated, input.reported)
    this.#calls.place(of, values, now)
  }

  /** Adds how much of an output was counted while it passed, and how much it was. */
  addCount(of: ModelUser, counted: number, reported: number): void {
    if (counted <= 0) return
    const now = this.#clock.now()
    const count = this.#counts.own(of, now) ?? new EstimateFactor()
    count.addEstimate(counted, reported)
    this.#counts.place(of, count, now)
  }
}

const factor: UserNumber<EstimateFactor> = { numberOf: ({ factor }) => factor, withoutHistory: 1 }
