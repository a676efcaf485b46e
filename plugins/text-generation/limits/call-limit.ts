import { type Awaitable, andThen } from '../../shared/awaitable.ts'
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
   * The response has ended. Books what was used. `tokens`: as the upstream reported it; undefined: what was counted.
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
  const amountsWith = (output: number): Amounts => amountsOf({ input: expected?.input ?? 0, output }, model, costOf)
  const uses = (): Amounts => {
    const estimated = call.input()
    const input = Math.ceil(estimated * inputHistory.factor(model))
    const maximum = call.inputOnly ? 0 : maximumOf(request, options.defaultMaxTokens)
    const output =
      call.unstoppable && maximum < Number.POSITIVE_INFINITY
        ? maximum
        : Math.min(maximum, history.estimate(user, model) * choicesOf(request))
    expected = { input, estimated, output, maximum }
    return { requests: 1, ...(stream && { streams: 1 }), ...amountsWith(output) }
  }
  // The estimate may be more than a whole limit, and a call can end when nothing is left.
  const atLeast = call.unstoppable
    ? undefined
    : () => amountsWith(Math.min(expected?.output ?? 0, aheadTokens + minExtension))
  const unpriced = costOf?.({ model, tokens: noTokens }) === undefined
  return andThen(limits.reserve({ user, token, model, uses, atLeast, unpriced, signal }), (reservation) => {
    if (!reservation) return undefined
    if (!expected) return new ReservedCall(call, reservation, unlimited(call.input()), options)
    const output = coveredBy(reservation.reserved, expected.output, amountsWith)
    return new ReservedCall(call, reservation, { ...expected, output }, options)
  })
}

/** How much of an output what is reserved is enough for. Both units are linear in it. */
const coveredBy = (reserved: Amounts, output: number, amountsWith: (output: number) => Amounts): number => {
  const [none, all] = [amountsWith(0), amountsWith(output)]
  let covered = output
  for (const unit of ['tokens', 'cost'] as const) {
    const [held, least = 0, most = 0] = [reserved[unit], none[unit], all[unit]]
    if (held === undefined || held >= most) continue
    covered = Math.min(covered, Math.max(0, Math.floor((output * (held - least)) / (most - least))))
  }
  return covered
}

interface Expected {
  /** What is reserved for it: the estimate, and how far earlier ones were from the truth. */
  readonly input: number
  readonly estimated: number
  readonly output: number
  /** The most output that the request allows. */
  readonly maximum: number
}

/** Of a call whose limits do not count tokens. */
const unlimited = (input: number): Expected => ({
  ...{ input, estimated: input, output: 0, maximum: Number.POSITIVE_INFINITY },
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
  readonly #user: string
  readonly #model: string
  readonly #reservation: UsageReservation
  readonly #options: Pick<CallLimitOptions, 'history' | 'inputHistory' | 'costOf'>
  readonly #input: number
  readonly #estimated: number
  readonly #maximum: number
  /** Output tokens that are covered by what was reserved. */
  #covered: number
  /** Estimate of the output so far. */
  #output = 0
  #metered = false
  #complete = false
  #accepted = false
  #ended = false

  constructor(
    { user, model }: Pick<LimitedTextCall, 'user' | 'model'>,
    reservation: UsageReservation,
    { input, estimated, output, maximum }: Expected,
    { history, inputHistory, costOf }: Pick<CallLimitOptions, 'history' | 'inputHistory' | 'costOf'>,
  ) {
    this.#maximum = maximum
    this.#user = user
    this.#model = model
    this.#reservation = reservation
    this.#options = { history, inputHistory, costOf }
    this.#estimated = estimated
    this.#input = input
    this.#covered = output
  }

  onAccepted(): void {
    if (this.#accepted) return
    this.#accepted = true
    this.#reservation.settle({ requests: 1 })
  }

  meter(reader: FrameReader): FrameReader {
    this.#metered = true
    return meteredReader(
      reader,
      (tokens) => this.#cover(tokens),
      () => {
        this.#complete = true
      },
    )
  }

  #cover(output: number): Awaitable<boolean> {
    this.#output = output
    const ahead = this.#withAhead(output)
    if (ahead <= this.#covered) return true
    const needed = Math.max(ahead - this.#covered, minExtension)
    return andThen(this.#extend(Math.max(needed, usualExtension, Math.ceil(output / 4))), (extended) =>
      andThen(extended || this.#extend(needed), (covered) => {
        if (!covered) this.exhausted = limitReached()
        return covered
      }),
    )
  }

  /** What the upstream may have generated when this much of it has arrived. */
  #withAhead(output: number): number {
    return Math.ceil(Math.max(output, Math.min(output + aheadTokens, this.#maximum)))
  }

  #extend(output: number): Awaitable<boolean> {
    const uses = amountsOf({ input: 0, output }, this.#model, this.#options.costOf)
    return andThen(this.#reservation.extend(uses), (extended) => {
      if (extended) this.#covered += output
      return extended
    })
  }

  onEnd(tokens: Tokens | undefined): void {
    if (this.#ended) return
    this.#ended = true
    const { history, inputHistory, costOf } = this.#options
    if (tokens) {
      history.add(this.#user, this.#model, tokens.output)
      inputHistory.add(this.#model, this.#estimated, tokens.input)
    }
    const used = tokens ?? {
      ...noTokens,
      input: this.#input,
      output: this.#outputAtEnd(),
    }
    const cost = costOf?.({ model: this.#model, tokens: used })
    this.#reservation.settle({ tokens: used.input + used.output, ...(cost !== undefined && { cost }) })
    this.#reservation.release()
  }

  /** Output that the upstream has not reported. */
  #outputAtEnd(): number {
    // Without a stream nothing tells how much was generated.
    if (!this.#metered) return Math.ceil(this.#covered)
    const output = Math.ceil(this.#output)
    // What may have been generated since counts as far as it is reserved.
    return this.#complete ? output : Math.max(output, Math.min(this.#withAhead(output), Math.floor(this.#covered)))
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
/** Tokens that a stream takes in addition: these, or a quarter of what it has. */
const usualExtension = 64
/** What it takes near the end of a limit. */
const minExtension = 16

const limitReached = () =>
  new TextProblem(429, 'the limit of tokens or cost is used up: the response ends here', {
    code: 'insufficient_quota',
    type: 'insufficient_quota',
  })
