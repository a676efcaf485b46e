import { type Awaitable, andThen } from '../../shared/awaitable.ts'
import type { Json } from '../../shared/json/json.ts'
import type { FrameReader } from '../../sse-relay/index.ts'
import type { Amounts, UsageLimits, UsageReservation } from '../../usage-limits/index.ts'
import { TextProblem } from '../protocol/problem.ts'
import type { CostOf } from '../usage/prices.ts'
import type { Tokens } from '../usage/tokens.ts'
import type { OutputHistory } from './output-history.ts'
import { meteredReader } from './output-meter.ts'

export interface CallLimitOptions {
  readonly limits: UsageLimits
  readonly history: OutputHistory
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
  /** The call has failed, and nothing was generated. Without effect after `onEnd`. */
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
  const { limits, history, costOf } = options
  const { user, token, model, request, stream, signal } = call
  let expected: Expected | undefined
  const uses = (): Amounts => {
    const input = call.input()
    const maximum = call.inputOnly ? 0 : maximumOf(request, options.defaultMaxTokens)
    const output =
      call.unstoppable && maximum < Number.POSITIVE_INFINITY
        ? maximum
        : Math.min(maximum, history.estimate(user, model) * choicesOf(request))
    expected = { input, output }
    return { requests: 1, ...(stream && { streams: 1 }), ...amountsOf(expected, model, costOf) }
  }
  const unpriced = costOf?.({ model, tokens: noTokens }) === undefined
  return andThen(limits.reserve({ user, token, model, uses, unpriced, signal }), (reservation) => {
    if (!reservation) return undefined
    return new ReservedCall(call, reservation, expected ?? { input: call.input(), output: 0 }, options)
  })
}

interface Expected {
  readonly input: number
  readonly output: number
}

const noTokens: Tokens = { input: 0, cachedInput: 0, output: 0, reasoning: 0 }

const amountsOf = ({ input, output }: Expected, model: string, costOf: CostOf | undefined): Amounts => {
  const cost = costOf?.({ model, tokens: { ...noTokens, input, output } })
  return { tokens: input + output, ...(cost !== undefined && { cost }) }
}

class ReservedCall implements CallLimit {
  exhausted: TextProblem | undefined
  readonly #user: string
  readonly #model: string
  readonly #reservation: UsageReservation
  readonly #options: Pick<CallLimitOptions, 'history' | 'costOf'>
  readonly #input: number
  /** Output tokens that are covered by what was reserved. */
  #covered: number
  /** Estimate of the output so far. */
  #output = 0
  #metered = false
  #accepted = false
  #ended = false

  constructor(
    { user, model }: Pick<LimitedTextCall, 'user' | 'model'>,
    reservation: UsageReservation,
    { input, output }: Expected,
    { history, costOf }: Pick<CallLimitOptions, 'history' | 'costOf'>,
  ) {
    this.#user = user
    this.#model = model
    this.#reservation = reservation
    this.#options = { history, costOf }
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
    return meteredReader(reader, (tokens) => this.#cover(tokens))
  }

  #cover(output: number): Awaitable<boolean> {
    this.#output = output
    if (output <= this.#covered) return true
    const needed = Math.max(Math.ceil(output - this.#covered), minExtension)
    return andThen(this.#extend(Math.max(needed, usualExtension, Math.ceil(output / 4))), (extended) =>
      andThen(extended || this.#extend(needed), (covered) => {
        if (!covered) this.exhausted = limitReached()
        return covered
      }),
    )
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
    const { history, costOf } = this.#options
    if (tokens) history.add(this.#user, this.#model, tokens.output)
    const used = tokens ?? {
      ...noTokens,
      input: this.#input,
      // Without a stream nothing tells how much was generated.
      output: Math.ceil(this.#metered ? this.#output : this.#covered),
    }
    const cost = costOf?.({ model: this.#model, tokens: used })
    this.#reservation.settle({ tokens: used.input + used.output, ...(cost !== undefined && { cost }) })
    this.#reservation.release()
  }

  async hold(holder: string): Promise<void> {
    this.#ended = true
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

/** Tokens that a stream takes in addition: these, or a quarter of what it has. */
const usualExtension = 64
/** What it takes near the end of a limit. */
const minExtension = 16

const limitReached = () =>
  new TextProblem(429, 'the limit of tokens or cost is used up: the response ends here', {
    code: 'insufficient_quota',
    type: 'insufficient_quota',
  })

/** The most output that a request allows, in tokens. */
const maximumOf = (request: Json, defaultMaxTokens: number | undefined): number => {
  for (const field of maximumFields) {
    const value = request.get(field)
    if (!value?.isNumber) continue
    const maximum = value.value() as number
    if (maximum > 0) return maximum * choicesOf(request)
  }
  return defaultMaxTokens !== undefined && request.get('messages')
    ? defaultMaxTokens * choicesOf(request)
    : Number.POSITIVE_INFINITY
}

const maximumFields = ['max_completion_tokens', 'max_tokens', 'max_output_tokens']

/** A request may ask for several responses at once. */
const choicesOf = (request: Json): number => {
  const choices = request.get('n')
  return choices?.isNumber ? Math.max(1, choices.value() as number) : 1
}
