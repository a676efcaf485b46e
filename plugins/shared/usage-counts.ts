/** What usage counts: calls, tokens, video seconds and their cost. */
export interface UsageCounts {
  readonly calls: number
  /** Calls for which the upstream has reported no tokens. */
  readonly unreported: number
  readonly inputTokens: number
  /** Part of `inputTokens`. */
  readonly cachedTokens: number
  readonly outputTokens: number
  /** Part of `outputTokens`. */
  readonly reasoningTokens: number
  /** Seconds of generated videos. Undefined: there was none. */
  readonly videoSeconds?: number
  /** In billionths of the currency unit, at the prices of the time of each call. Undefined: no call had a price. */
  readonly cost?: number
}

/** The same in a response. */
export interface UsageCountsView {
  readonly calls: number
  /** Calls for which the upstream has reported no tokens. */
  readonly unreported: number
  readonly input_tokens: number
  /** Part of `input_tokens`. */
  readonly cached_tokens: number
  readonly output_tokens: number
  /** Part of `output_tokens`. */
  readonly reasoning_tokens: number
  /** Seconds of generated videos. Null: there was none. */
  readonly video_seconds: number | null
  /** In the currency of the operator's price table. Null: no call had a price. */
  readonly cost: number | null
}

export const toUsageCountsView = (counts: UsageCounts): UsageCountsView => ({
  calls: counts.calls,
  unreported: counts.unreported,
  input_tokens: counts.inputTokens,
  cached_tokens: counts.cachedTokens,
  output_tokens: counts.outputTokens,
  reasoning_tokens: counts.reasoningTokens,
  video_seconds: counts.videoSeconds ?? null,
  cost: counts.cost === undefined ? null : counts.cost / 1_000_000_000,
})
