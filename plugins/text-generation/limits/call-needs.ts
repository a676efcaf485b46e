import type { Disconnection } from '../../shared/http/disconnection.ts'
import type { Json } from '../../shared/json/json.ts'
import type { Amounts, LimitedCall } from '../../usage-limits/index.ts'
import type { CostOf } from '../usage/prices.ts'
import { noTokens } from '../usage/tokens.ts'
import { type CallExpectation, maxFactor, type TokenHistory } from './history.ts'
import { inputTokensOf } from './input-tokens.ts'

/** A call that is about to be sent. */
export interface LimitedTextCall {
  readonly user: string
  readonly token: string | undefined
  readonly model: string
  /** The request of the caller, or its translation to chat completions. */
  readonly request: Json
  /** Estimated input, in tokens. Undefined: the request is small, and is counted if a limit applies. */
  readonly input: number | undefined
  readonly stream: boolean
  /** Whether the call generates no text, such as an embedding. */
  readonly inputOnly: boolean
  /**
   * Whether the upstream's response arrives at once, so that it cannot be stopped when it uses more than was reserved:
   * then its maximum is reserved.
   */
  readonly unstoppable: boolean
  /** The maximum of the model's output: see `Capabilities.maxTokens`. */
  readonly maxTokens: number | undefined
  readonly signal: Disconnection
}

/** What is known of earlier calls and of prices. */
export interface CallNeedsOptions {
  readonly history: TokenHistory
  /** Undefined: no model has a price. */
  readonly costOf: CostOf | undefined
  /** Tokens. The maximum of chat requests that set none. */
  readonly defaultMaxTokens: number | undefined
}

/** What a call will probably use, in tokens. */
export interface Expected {
  /** What is reserved for it: the estimate, and how far earlier ones were from the truth. */
  readonly input: number
  readonly estimated: number
  readonly output: number
  /** The output with which the call can begin. */
  readonly least: number
  /** The most output that the request allows. */
  readonly maximum: number
  readonly choices: number
  /** By what the output that is counted while it passes has to be multiplied. */
  readonly countFactor: number
}

/** What a call needs of limits. Its request is looked at only if a limit applies to the caller. */
export class CallNeeds implements LimitedCall {
  readonly call: LimitedTextCall
  readonly user: string
  readonly token: string | undefined
  readonly model: string
  readonly signal: Disconnection
  readonly unpriced: boolean
  readonly #options: CallNeedsOptions
  #expected: Expected | undefined

  constructor(call: LimitedTextCall, options: CallNeedsOptions) {
    const { user, token, model, signal } = call
    this.call = call
    this.user = user
    this.token = token
    this.model = model
    this.signal = signal
    this.#options = options
    this.unpriced = this.#costOf(0, 0) === undefined
  }

  get expected(): Expected {
    this.#expected ??= this.#expect()
    return this.#expected
  }

  uses(): Amounts {
    const amounts: Writable = { requests: 1 }
    if (this.call.stream) amounts.streams = 1
    return this.#addTokens(amounts, this.expected.output)
  }

  atLeast(): Amounts {
    return this.#addTokens({}, this.expected.least)
  }

  #addTokens(amounts: Writable, output: number): Amounts {
    const { input } = this.expected
    amounts.tokens = input + output
    const cost = this.#costOf(input, output)
    if (cost !== undefined) amounts.cost = cost
    return amounts
  }

  #costOf(input: number, output: number): number | undefined {
    return this.#options.costOf?.({ model: this.model, tokens: { ...noTokens, input, output } })
  }

  #expect(): Expected {
    const { request, inputOnly, unstoppable, maxTokens } = this.call
    const { history, defaultMaxTokens } = this.#options
    const known = history.expect(this)
    const { countFactor } = known
    const estimated = this.call.input ?? inputTokensOf(request)
    const input = Math.ceil(estimated * known.inputFactor)
    const choices = choicesOf(request)
    const maximum = inputOnly ? 0 : maximumOf(request, { choices, defaultMaxTokens, maxTokens })
    const output = this.#outputOf(known, choices, maximum)
    // An estimate refuses nobody: a stream begins with little, and takes more while there is some.
    const least = unstoppable ? output : Math.min(output, leastOutput)
    return { input, estimated, output, least, maximum, choices, countFactor }
  }

  /** What is reserved for the output. */
  #outputOf(known: CallExpectation, choices: number, maximum: number): number {
    const { defaultMaxTokens = unnamedMaximum } = this.#options
    // Most of the output is generated where nobody sees it, so that it cannot be stopped in time.
    const isHidden = known.countFactor >= maxFactor
    const { unstoppable } = this.call
    if (!unstoppable && !isHidden) return Math.min(maximum, known.output * choices)
    const most = Math.max(known.output, known.most)
    if (!unstoppable) return Math.min(maximum, most * choices)
    return maximum < Number.POSITIVE_INFINITY ? maximum : Math.max(most, defaultMaxTokens) * choices
  }
}

type Writable = { -readonly [Unit in keyof Amounts]: Amounts[Unit] }

/**
 * Tokens that an upstream may have generated and that have not arrived yet: a third of a second of a fast model. They
 * stay reserved while a stream runs, and are booked when it ends before the upstream has said what it has used.
 */
export const aheadTokens = 32
/** What a stream takes in addition near the end of a limit. */
export const minExtension = 16
/** Tokens that a call reserves that cannot be stopped, and whose maximum nobody says. */
const unnamedMaximum = 4_096
/** With so much output a call begins, where there is not more: then it takes more, or is cut. */
const leastOutput = aheadTokens + minExtension

/** What is known of a request without a look at it. */
interface OutputMaximumOptions {
  /** Of the request: see `choicesOf`. */
  readonly choices: number
  /** The maximum of chat requests that set none. */
  readonly defaultMaxTokens: number | undefined
  /** The maximum of the model: see `Capabilities.maxTokens`. */
  readonly maxTokens: number | undefined
}

/** The most output that a request allows, in tokens. Infinity: nothing says it. */
const maximumOf = (
  request: Json,
  { choices, defaultMaxTokens, maxTokens = Number.POSITIVE_INFINITY }: OutputMaximumOptions,
): number => {
  let maximum = 0
  // Upstreams differ in which one decides.
  for (const field of maximumFields) maximum = Math.max(maximum, countIn(request.get(field)))
  if (maximum === 0 && defaultMaxTokens !== undefined && request.get('messages')) maximum = defaultMaxTokens
  // A larger one is lowered to that of the model before it is sent.
  const sent = Math.min(maximum || Number.POSITIVE_INFINITY, maxTokens)
  return Math.max(sent, ownMaximumOf(request)) * choices
}

const maximumFields = ['max_completion_tokens', 'max_tokens', 'max_output_tokens']

/** llama.cpp prefers its own field, whose -1 means no maximum. Other upstreams ignore it. */
const ownMaximumOf = (request: Json): number => {
  const maximum = numberIn(request.get('n_predict'))
  return maximum < 0 ? Number.POSITIVE_INFINITY : maximum || 0
}

/**
 * Responses that a request asks for at once: each counts as output. A request for completions may have several prompts,
 * and may have more generated than it receives (`best_of`).
 */
const choicesOf = (request: Json): number => {
  const choices = Math.max(1, countIn(request.get('n')), countIn(request.get('best_of')))
  return choices * promptsOf(request)
}

const promptsOf = (request: Json): number => {
  const prompt = request.get('prompt')
  if (!prompt?.isArray) return 1
  // A list of numbers is one prompt, as tokens.
  const prompts = prompt.elements().reduce((sum, { isNumber }) => sum + Number(!isNumber), 0)
  return Math.max(1, prompts)
}

/** A number, or a text that an upstream may read as one. NaN for any other value. */
const numberIn = (json: Json | undefined): number => {
  if (json?.isNumber) return json.value() as number
  const text = json && json.byteLength <= maxNumberBytes ? json.string() : undefined
  return text?.trim() ? Number(text) : Number.NaN
}

const maxNumberBytes = 64

/** A number from 1. 0 for any other value. */
const countIn = (json: Json | undefined): number => {
  const count = json ? numberIn(json) : 0
  return count >= 1 ? count : 0
}
