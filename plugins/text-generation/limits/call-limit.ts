import { type Awaitable, andThen } from '../../shared/awaitable.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Json } from '../../shared/json/json.ts'
import type { FrameReader } from '../../sse-relay/index.ts'
import type { Amounts, UsageLimits, UsageReservation } from '../../usage-limits/index.ts'
import { TextProblem } from '../protocol/problem.ts'
import type { CostOf } from '../usage/prices.ts'
import type { Tokens } from '../usage/tokens.ts'
import type { InputHistory } from './input-history.ts'
import type { OutputHistory } from './output-history.ts'
import { meteredReader } from './output-meter.ts'
import { choicesOf, maximumOf } from './requested-output.ts'

export interface CallLimitOptions {
  readonly limits: UsageLimits
  readonly history: OutputHistory
  readonly inputHistory: InputHistory
  /** Undefined: no model has a price. */
  readonly costOf: CostOf | undefined
  /** Tokens. The maximum of chat requests that set none. */
  readonly defaultMaxTokens: number | undefined
  readonly clock: Clock
}

/** A call that is about to be sent. */
export interface LimitedTextCall {
  readonly user: string
  readonly token: string | undefined
  readonly model: string
  /** The request of the caller, or its translation to chat completions. */
  readonly request: Json
  /** Estimated input, in tokens. */
  readonly input: () => number
  readonly stream: boolean
  /** Whether the call generates no text, such as an embedding. */
  readonly inputOnly: boolean
  /**
   * Whether the upstream's response arrives at once, so that it cannot be stopped when it uses more than was reserved:
   * then its maximum is reserved.
   */
  readonly unstoppable: boolean
  readonly signal: AbortSignal
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
  const { limits, history, inputHistory, costOf } = options
  const { user, token, model, request, stream, signal } = call
  let expected: Expected | undefined
  const expect = (): Expected => {
    const estimated = call.input()
    const input = Math.ceil(estimated * inputHistory.factor(user, model))
    const choices = choicesOf(request)
    const maximum = call.inputOnly ? 0 : maximumOf(request, choices, options.defaultMaxTokens)
    const usual = Math.min(maximum, history.estimate(user, model) * choices)
    const output = call.unstoppable && maximum < Number.POSITIVE_INFINITY ? maximum : usual
    // An estimate refuses nobody: a stream begins with little, and takes more while there is some.
    const least = call.unstoppable ? output : Math.min(output, leastOutput)
    return { input, estimated, output, least, maximum, choices }
  }
  const amounts = (output: (of: Expected) => number): Amounts => {
    expected ??= expect()
    return amountsOf({ input: expected.input, output: output(expected) }, model, costOf)
  }
  const uses = (): Amounts => ({ requests: 1, ...(stream && { streams: 1 }), ...amounts(({ output }) => output) })
  const atLeast = (): Amounts => amounts(({ least }) => least)
  const unpriced = costOf?.({ model, tokens: noTokens }) === undefined
  return andThen(limits.reserve({ user, token, model, uses, atLeast, unpriced, signal }), (reservation) => {
    if (!reservation) return undefined
    return new ReservedCall(call, reservation, expected ?? unlimited(call.input()), options)
  })
}

interface Expected {
  /** What is reserved for it: the estimate, and how far earlier ones were from the truth. */
  readonly input: number
  readonly estimated: number
  readonly output: number
  /** The output with which the call can begin. */
  readonly least: number
  /** The most output that the request allows. */
  readonly maximum: number
  readonly choices: number
}

/** Of a call whose limits do not count tokens. */
const unlimited = (input: number): Expected => ({
  ...{ input, estimated: input, output: 0, least: 0, maximum: Number.POSITIVE_INFINITY, choices: 1 },
})

const noTokens: Tokens = { input: 0, cachedInput: 0, output: 0, reasoning: 0 }

const amountsOf = (
  { input, output }: Pick<Expected, 'input' | 'output'>,
  model: string,
  costOf: CostOf | undefined,
): Amounts => {
  const cost = costOf?.({ model, tokens: { ...noTokens, input, output } })
  return { tokens: input + output, ...(cost !== undefined && { cost }) }
}

class ReservedCall implements CallLimit {
  exhausted: TextProblem | undefined
  readonly #call: Pick<LimitedTextCall, 'user' | 'model' | 'unstoppable'>
  readonly #reservation: UsageReservation
  readonly #options: Pick<CallLimitOptions, 'history' | 'inputHistory' | 'costOf' | 'clock'>
  readonly #expected: Expected
  readonly #reservedAt: number
  /** Output tokens that are covered by what was reserved. */
  #covered: number
  /** Estimate of the output so far. */
  #output = 0
  #metered = false
  #complete = false
  #accepted = false
  #ended = false

  constructor(
    { user, model, unstoppable }: Pick<LimitedTextCall, 'user' | 'model' | 'unstoppable'>,
    reservation: UsageReservation,
    expected: Expected,
    { history, inputHistory, costOf, clock }: Pick<CallLimitOptions, 'history' | 'inputHistory' | 'costOf' | 'clock'>,
  ) {
    this.#call = { user, model, unstoppable }
    this.#reservation = reservation
    this.#options = { history, inputHistory, costOf, clock }
    this.#expected = expected
    this.#reservedAt = clock.now()
    this.#covered = this.#outputIn(reservation.reserved)
  }

  onAccepted(): void {
    if (this.#accepted) return
    this.#accepted = true
    this.#reservation.settle({ requests: 1 })
  }

  meter(reader: FrameReader): FrameReader {
    this.#metered = true
    return meteredReader(reader, {
      cover: (tokens) => this.#cover(tokens),
      onCut: (tokens) => {
        this.#output = tokens
        this.exhausted = limitReached()
      },
      onComplete: () => {
        this.#complete = true
      },
    })
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
      if (extended) this.#covered = this.#outputIn(this.#reservation.reserved)
      return extended
    })
  }

  #amountsOf(output: number): Amounts {
    const cost = this.#costOf(0, output)
    return { tokens: output, ...(cost !== undefined && { cost: cost - (this.#costOf(0, 0) ?? 0) }) }
  }

  #costOf(input: number, output: number): number | undefined {
    return this.#options.costOf?.({ model: this.#call.model, tokens: { ...noTokens, input, output } })
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
    const { user, model } = this.#call
    const { history, inputHistory } = this.#options
    const { input, estimated, choices } = this.#expected
    if (tokens) {
      history.add(user, model, tokens.output / choices)
      inputHistory.add(user, model, estimated, tokens.input)
    }
    const used = tokens ?? { ...noTokens, input, output: this.#outputAtEnd() }
    const cost = this.#options.costOf?.({ model, tokens: used })
    // Also a call that nobody waits for any more has reached the upstream.
    this.onAccepted()
    this.#reservation.settle({ tokens: used.input + used.output, ...(cost !== undefined && { cost }) })
    this.#reservation.release()
  }

  /** Output that the upstream has not reported. */
  #outputAtEnd(): number {
    const covered = Math.floor(Math.min(this.#covered, this.#expected.maximum))
    // The upstream generates all of it, whoever has left; or nothing tells how much it has generated.
    if (this.#call.unstoppable || (this.#accepted && !this.#metered)) return Math.min(covered, this.#expected.output)
    const output = Math.ceil(this.#output)
    if (this.#complete) return output
    // What may have been generated since counts as far as it is reserved; before the first text, without a sign of it.
    const silentMs = output > 0 ? 0 : Math.max(0, this.#options.clock.now() - this.#reservedAt)
    const unseen = Math.ceil((silentMs / 1_000) * tokensPerSecond)
    return Math.max(output, Math.min(this.#withAhead(output + unseen), covered))
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

/**
 * Tokens that an upstream may have generated and that have not arrived yet: a third of a second of a fast model. They
 * stay reserved while a stream runs, and are booked when it ends before the upstream has said what it has used.
 */
const aheadTokens = 32
/** What a fast model generates before the first text, such as reasoning that nobody sees. */
const tokensPerSecond = 100
/** Tokens that a stream takes in addition: these, or a quarter of what it has. */
const usualExtension = 64
/** What it takes near the end of a limit. */
const minExtension = 16
/** With so much output a call begins, where there is not more: then it takes more, or is cut. */
const leastOutput = aheadTokens + minExtension

const limitReached = () =>
  new TextProblem(429, 'the limit of tokens or cost is used up: the response ends here', {
    code: 'insufficient_quota',
    type: 'insufficient_quota',
  })
