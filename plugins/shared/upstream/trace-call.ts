/**
 * Starts the trace of a call to an upstream. `createTracing` of `sluice/tracing` makes one. Other plugins know nothing
 * of OpenTelemetry.
 */
export type TraceCall = (call: TracedCall) => CallTrace

/** A call to an upstream. It has no content, no id and no user. */
export interface TracedCall {
  /** The operation, for example `GetAsset` or `CreateChatCompletion`. */
  readonly action: string
  /** Address of the upstream. Undefined: unknown. */
  readonly url?: string
  /** Seconds that the call has waited for a rate limit permit. Undefined: it needs no permit. */
  readonly queueSeconds?: number
  /** The model that the caller has requested. Undefined: the call generates nothing. */
  readonly model?: string
  readonly stream?: boolean
}

/** The trace of one call, until its response has been read. */
export interface CallTrace {
  /** Adds the token counts that the upstream has reported. */
  tokens(counts: TracedTokens): void
  /** Ends the trace. Only the first call has an effect. */
  end(outcome: CallOutcome): void
}

/** `cachedInput` is part of `input`, and `reasoning` is part of `output`. */
export interface TracedTokens {
  readonly input: number
  readonly cachedInput: number
  readonly output: number
  readonly reasoning: number
}

/** How a call has ended. */
export interface CallOutcome {
  /** Status of the response. 0 or undefined: there was none. */
  readonly status?: number
  /** Undefined: the call has succeeded, or its status says why it has not. */
  readonly error?: unknown
}
