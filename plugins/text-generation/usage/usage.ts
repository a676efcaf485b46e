import { numberOf } from '../../shared/json/lossless.ts'
import { membersOf } from '../../shared/json/parsed.ts'
import type { Log } from '../../shared/problem.ts'
import type { CostOf } from './prices.ts'
import type { Tokens } from './tokens.ts'

/** The usage of one call. */
export interface UsageEntry {
  readonly user: string
  /** Id of the API token. Undefined: the host app identifies its users in another way. */
  readonly token?: string
  /**
   * The model name in the request, of at most 256 characters; `other` for a model that no upstream is known to have, if
   * the call was not accepted.
   */
  readonly model: string
  /** Milliseconds since 1970. */
  readonly at: number
  /**
   * Undefined: the upstream reported no usage (the client disconnected, the stream broke, or the upstream never reports
   * it). Nothing is estimated.
   */
  readonly tokens: Tokens | undefined
  /**
   * Cost in billionths of the currency unit. Undefined: the model has no price, or the upstream did not accept the
   * call.
   */
  readonly cost?: number | undefined
}

/** Store port: records the usage of calls. */
export interface UsageStore {
  /**
   * Adds a call to its user's usage of the day. The caller does not wait for it. The gateway logs an exception or a
   * rejection.
   */
  recordUsage(entry: UsageEntry): void | Promise<void>
}

/**
 * Records the usage of a call, and reports it to metrics. `accepted`: the upstream accepted the request, so the model
 * exists. Never throws.
 */
export type RecordUsage = (entry: Omit<UsageEntry, 'cost'>, accepted?: boolean) => void

/** Receives the usage of a call, for metrics. */
export type ObserveUsage = (
  call: Pick<UsageEntry, 'model' | 'tokens' | 'cost'> & { readonly accepted: boolean },
) => void

export interface UsageRecorderOptions {
  readonly usage: UsageStore | undefined
  readonly observe: ObserveUsage | undefined
  /** Undefined: no model has a price. */
  readonly costOf: CostOf | undefined
  /** Names of models that exist, besides those of accepted calls. Default: none. */
  readonly models?: Iterable<string>
  readonly log: Log
}

/** Accepted models whose names are kept in memory. */
const maxKnownModels = 1_000

export const createUsageRecorder = ({
  usage,
  observe,
  costOf,
  log,
  models = [],
}: UsageRecorderOptions): RecordUsage => {
  const known = new Set(models)
  const maxKnown = known.size + maxKnownModels
  return (call, accepted = true) => {
    const { tokens } = call
    if (accepted && known.size < maxKnown) known.add(call.model)
    // A caller may invent any number of names, and each would have a row of its own.
    const model = accepted || known.has(call.model) ? call.model : 'other'
    const cost = accepted ? costOf?.(call) : undefined
    const failed = (err: unknown) => log.warn({ err, model }, 'usage could not be recorded')
    observe?.({ model, tokens, cost, accepted })
    try {
      const recorded = usage?.recordUsage({ ...call, model, cost })
      if (recorded instanceof Promise) recorded.catch(failed)
    } catch (err) {
      failed(err)
    }
  }
}

/** Maximum plausible count of one call. It keeps the sums of a day exact in a double. */
const maxTokens = 1_000_000_000

/**
 * Reads the `usage` object of a chat completion (`prompt_tokens`, `completion_tokens`) or a response (`input_tokens`,
 * `output_tokens`).
 *
 * A count that is no integer from 0 to 1,000,000,000 is read as 0. Undefined when the object counts neither input nor
 * output. Never throws.
 */
export const readTokens = (usage: unknown): Tokens | undefined => {
  const counts = membersOf(usage)
  const input = countOf(counts.prompt_tokens, counts.input_tokens)
  const output = countOf(counts.completion_tokens, counts.output_tokens)
  if (input === undefined && output === undefined) return undefined
  const inputs = [membersOf(counts.prompt_tokens_details), membersOf(counts.input_tokens_details)] as const
  const outputs = [membersOf(counts.completion_tokens_details), membersOf(counts.output_tokens_details)] as const
  return {
    input: input ?? 0,
    cachedInput: countOf(inputs[0].cached_tokens, inputs[1].cached_tokens) ?? 0,
    output: output ?? 0,
    reasoning: countOf(outputs[0].reasoning_tokens, outputs[1].reasoning_tokens) ?? 0,
  }
}

/** The larger of two counts. Some upstreams fill in the fields of both protocols, those of one with zeros. */
const countOf = (one: unknown, other: unknown): number | undefined => {
  const first = countIn(one)
  const second = countIn(other)
  return first === undefined || second === undefined ? (first ?? second) : Math.max(first, second)
}

const countIn = (value: unknown): number | undefined => {
  const count = numberOf(value)
  // Turns -0 into 0.
  return Number.isInteger(count) && count >= 0 && count <= maxTokens ? count + 0 : undefined
}
