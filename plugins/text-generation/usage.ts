import { numberOf } from '../shared/lossless-json.ts'
import type { Log } from '../shared/problem.ts'

/** Tokens of one call, as the upstream counted them. Whole numbers from 0. */
export interface Tokens {
  /** All of the input, `cachedInput` included. */
  readonly input: number
  /** What of the input the upstream remembered from earlier calls. */
  readonly cachedInput: number
  /** All of the output, `reasoning` included. */
  readonly output: number
  /** What of the output the model thought rather than said. */
  readonly reasoning: number
}

/** One call to be recorded. */
export interface UsageEntry {
  /** Id of the user who called. */
  readonly user: string
  /** Id of the token that was used. Undefined: the host app knows its users otherwise. */
  readonly token?: string
  /** As the caller named it: any text of any length. */
  readonly model: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** Undefined: the upstream reported none (the client left, the upstream broke off, or never reports). The call counts as unreported, and nothing is estimated. */
  readonly tokens: Tokens | undefined
}

/** The port: where calls are recorded. */
export interface UsageStore {
  /** Adds a call to what its user spent that day. The caller is not kept waiting for it; what it throws, or rejects with, is logged. */
  recordUsage(entry: UsageEntry): void | Promise<void>
}

/** Keeps what a call cost, and tells metrics of it. `taken`: the upstream has begun to answer, and not with an error; so the model exists. Never throws. */
export type RecordUsage = (entry: UsageEntry, taken?: boolean) => void

export interface RecordOptions {
  readonly usage: UsageStore | undefined
  readonly observe: ((entry: Pick<UsageEntry, 'model' | 'tokens'> & { readonly taken: boolean }) => void) | undefined
  readonly log: Log
}

export const createUsageRecorder =
  ({ usage, observe, log }: RecordOptions): RecordUsage =>
  (entry, taken = true) => {
    const { model, tokens } = entry
    const failed = (err: unknown) => log.warn({ err, model }, 'usage could not be recorded')
    observe?.({ model, tokens, taken })
    try {
      const recorded = usage?.recordUsage(entry)
      if (recorded instanceof Promise) recorded.catch(failed)
    } catch (err) {
      failed(err)
    }
  }

/** Tokens of one call beyond which a count is taken for nonsense: sums of a day then stay exact. */
const maxTokens = 1_000_000_000

/**
 * Reads the `usage` object of a chat completion (`prompt_tokens`, `completion_tokens`) or of a response (`input_tokens`, `output_tokens`), with its
 * details. A count that is no whole number from 0 to 1,000,000,000 is taken for 0. Undefined when neither input nor output is counted. Never throws.
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

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : none

const none = {}

/** The larger one, where both are counts: some upstreams fill in the names of both protocols, those of one with zeros. */
const countOf = (one: unknown, other: unknown): number | undefined => {
  const first = countIn(one)
  const second = countIn(other)
  return first === undefined || second === undefined ? (first ?? second) : Math.max(first, second)
}

const countIn = (value: unknown): number | undefined => {
  const count = numberOf(value)
  // Minus zero is zero.
  return Number.isInteger(count) && count >= 0 && count <= maxTokens ? count + 0 : undefined
}
