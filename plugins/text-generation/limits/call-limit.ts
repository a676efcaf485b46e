import { type Awaitable, andThen, isPromise } from '../../shared/awaitable.ts'
import type { Clock } from '../../shared/clock.ts'
import type { FrameReader } from '../../sse-relay/index.ts'
import type { Amounts, UsageLimits, UsageReservation } from '../../usage-limits/index.ts'
import { TextProblem } from '../protocol/problem.ts'
import { noTokens, type Tokens } from '../usage/tokens.ts'
import {
  aheadTokens,
  CallNeeds,
  type CallNeedsOptions,
  type Expected,
  type LimitedTextCall,
  minExtension,
} from './call-needs.ts'
import { meteredReader } from './output-meter.ts'
import type { ModelUser } from './user-values.ts'

export interface CallLimitOptions extends CallNeedsOptions {
  readonly limits: UsageLimits
  readonly clock: Clock
}

/** What one call holds of the limits of its user, from before the upstream is asked to the end of the response. */
export interface CallLimit {
  /** The upstream has accepted the call. */
  onAccepted(): void
  /**
   * The response has ended, or its caller has left after the upstream was asked. Books what was used. `tokens`: as the
   * upstream reported it; undefined: what was counted.
   */
  onEnd(tokens: Tokens | undefined): void
  /**
   * The upstream continues in the background: what is reserved moves to a holder, and is settled with its usage. Never
   * rejects.
   */
  hold(holder: string): Promise<void>
  /** The call has ended: gives back what was not booked. Without effect after `onEnd` and `hold`. */
  release(): void
  /** Wraps the reader of the upstream's stream: it ends when nothing is left of a limit. */
  meter(reader: FrameReader): FrameReader
  /** The last event of the upstream's stream has arrived: nothing is generated beyond what was counted. */
  onComplete(): void
  /** Set when the stream was ended for that. */
  readonly exhausted: TextProblem | undefined
  /** `x-ratelimit-…`. */
  headers(): Readonly<Record<string, string>>
}

/**
 * Reserves what a call will probably use. Undefined: no limit applies.
 *
 * Throws or rejects as `UsageLimits.reserve` does.
 */
export const reserveCall = (call: LimitedTextCall, options: CallLimitOptions): Awaitable<CallLimit | undefined> => {
  const needs = new CallNeeds(call, options)
  const reserving = options.limits.reserve(needs)
  const hold = (reservation: UsageReservation | undefined) =>
    reservation && new ReservedCall(needs, reservation, options)
  return isPromise(reserving) ? reserving.then(hold) : hold(reserving)
}

class ReservedCall implements CallLimit, ModelUser {
  exhausted: TextProblem | undefined
  readonly user: string
  readonly model: string
  readonly #unstoppable: boolean
  readonly #reservation: UsageReservation
  readonly #options: CallLimitOptions
  readonly #expected: Expected
  readonly #reservedAt: number
  /** Output tokens that are covered by what was reserved. Undefined: not asked for yet. */
  #coveredOutput: number | undefined
  /** Estimate of the output so far. */
  #output = 0
  /** The same of a stream that was cut, with what was not passed on. */
  #arrived = 0
  #metered = false
  #complete = false
  #accepted = false
  #ended = false

  /** Keeps nothing of the request: a stream may last for long. */
  constructor({ user, model, call, expected }: CallNeeds, reservation: UsageReservation, options: CallLimitOptions) {
    this.user = user
    this.model = model
    this.#unstoppable = call.unstoppable
    this.#reservation = reservation
    this.#options = options
    this.#expected = expected
    this.#reservedAt = options.clock.now()
  }

  onAccepted(): void {
    if (this.#accepted) return
    this.#accepted = true
    this.#reservation.settle({ requests: 1 })
  }

  meter(reader: FrameReader): FrameReader {
    this.#metered = true
    return meteredReader(reader, this.#expected.countFactor, {
      cover: (tokens) => this.#cover(tokens),
      onCut: (passed, arrived) => {
        this.#output = passed
        this.#arrived = arrived
        this.exhausted = limitReached()
      },
      onComplete: () => this.onComplete(),
    })
  }

  onComplete(): void {
    this.#complete = true
  }

  get #covered(): number {
    this.#coveredOutput ??= this.#outputIn(this.#reservation.reserved)
    return this.#coveredOutput
  }

  #cover(output: number): Awaitable<number> {
    this.#output = output
    const ahead = this.#withAhead(output)
    if (ahead <= this.#covered) return output
    const needed = Math.max(ahead - this.#covered, minExtension)
    return andThen(this.#extend(Math.max(needed, usualExtension, Math.ceil(output / 4)), minExtension), () =>
      // Near the end of a limit, what may have been generated since has no room.
      ahead <= this.#covered ? output : this.#covered - (ahead - output),
    )
  }

  /** What the upstream may have generated when this much of it has arrived. */
  #withAhead(output: number): number {
    return Math.ceil(Math.max(output, Math.min(output + aheadTokens, this.#expected.maximum)))
  }

  #extend(output: number, least: number): Awaitable<boolean> {
    return andThen(this.#reservation.extend(this.#amountsOf(output), this.#amountsOf(least)), (extended) => {
      if (extended) this.#coveredOutput = undefined
      return extended
    })
  }

  #amountsOf(output: number): Amounts {
    const cost = this.#costOf(0, output)
    return usedAmounts(output, cost && cost - (this.#costOf(0, 0) ?? 0))
  }

  #costOf(input: number, output: number): number | undefined {
    return this.#options.costOf?.({ model: this.model, tokens: { ...noTokens, input, output } })
  }

  /** The output that an amount pays beside the input. Infinity: no limit counts it. */
  #outputIn({ tokens, cost }: Amounts): number {
    const { input } = this.#expected
    const ofTokens = tokens === undefined ? Number.POSITIVE_INFINITY : tokens - input
    const price = ((this.#costOf(0, 1e6) ?? 0) - (this.#costOf(0, 0) ?? 0)) / 1e6
    if (cost === undefined || price === 0) return ofTokens
    // Of costs that are rounded, one is not enough for the last token.
    return Math.min(ofTokens, (cost + 1 - (this.#costOf(input, 0) ?? 0)) / price)
  }

  onEnd(tokens: Tokens | undefined): void {
    if (this.#ended) return
    this.#ended = true
    const { history, costOf } = this.#options
    const { input, estimated, choices, countFactor } = this.#expected
    if (tokens) {
      history.add(this, tokens.output / choices, { estimated, reported: tokens.input })
      // Of short outputs, what the last events have beside text is a large part.
      if (tokens.output >= minTaught) history.addCount(this, this.#output / countFactor, tokens.output)
    }
    const used = tokens ?? { ...noTokens, input, output: this.#outputAtEnd() }
    // Also a call that nobody waits for any more has reached the upstream.
    this.onAccepted()
    this.#reservation.settle(usedAmounts(used.input + used.output, costOf?.({ model: this.model, tokens: used })))
    this.#reservation.release()
  }

  /** Output that the upstream has not reported. */
  #outputAtEnd(): number {
    const covered = Math.floor(Math.min(this.#covered, this.#expected.maximum))
    // The upstream generates all of it, whoever has left; or nothing tells how much it has generated.
    if (this.#unstoppable || (this.#accepted && !this.#metered)) return Math.min(covered, this.#expected.output)
    const output = Math.ceil(this.#output)
    if (this.#complete) return output
    // What may have been generated since counts as far as it is reserved; before the first text, without a sign of it.
    const silentMs = output > 0 ? 0 : Math.max(0, this.#options.clock.now() - this.#reservedAt)
    const unseen = Math.ceil((silentMs / 1_000) * tokensPerSecond)
    const generated = Math.max(this.#withAhead(output + unseen), Math.ceil(this.#arrived))
    return Math.max(output, Math.min(generated, covered))
  }

  async hold(holder: string): Promise<void> {
    this.#ended = true
    // The stream of the caller ends here, whatever the upstream still generates.
    this.#reservation.settle({ streams: 0 })
    // If that fails, what was held comes back by itself.
    await this.#reservation.hold(holder).catch(() => {})
    this.#reservation.release()
  }

  release(): void {
    this.#ended = true
    this.#reservation.release()
  }

  headers(): Readonly<Record<string, string>> {
    return this.#reservation.headers()
  }
}

/** What a fast model generates before the first text, such as reasoning that nobody sees. */
const tokensPerSecond = 100
/** Tokens of an output that says how far the count of such outputs is from the truth. */
const minTaught = 8 * aheadTokens
/** Tokens that a stream takes in addition: these, or a quarter of what it has. */
const usualExtension = 64

const usedAmounts = (tokens: number, cost: number | undefined): Amounts =>
  cost === undefined ? { tokens } : { tokens, cost }

const limitReached = () =>
  new TextProblem(429, 'the limit of tokens or cost is used up: the response ends here', {
    code: 'insufficient_quota',
    type: 'insufficient_quota',
  })

/**
 * What a call holds of limits. The end of the call gives back what was not booked, whatever the end is: a response, an
 * error of any step, or a deadline that has passed before the upstream was asked. A stream ends it later by itself.
 */
export class HeldLimit implements Disposable {
  limit: CallLimit | undefined
  #continues = false

  continueWithStream(): void {
    this.#continues = true
  }

  [Symbol.dispose](): void {
    if (!this.#continues) this.limit?.release()
  }
}
