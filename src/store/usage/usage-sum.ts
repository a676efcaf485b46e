import type { UsageDimension, UsageTotal } from '../../../plugins/admin/usage-sums.ts'

/** A sum, as a statement returns it: what it is not summed by is empty. */
export type Sum = Readonly<Record<UsageDimension, string>> & Omit<UsageTotal, UsageDimension>

/** The sum of two, with the key of the first. */
export const addSums = (a: Sum, b: Sum): Sum => ({
  ...a,
  calls: a.calls + b.calls,
  unreported: a.unreported + b.unreported,
  inputTokens: a.inputTokens + b.inputTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  videoSeconds: addOptional(a.videoSeconds, b.videoSeconds),
  cost: addOptional(a.cost, b.cost),
})

const addOptional = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : a + (b ?? 0)
