import type { UsageTotal } from '../../../plugins/admin/usage-sums.ts'
import type { RollupColumn } from './rollup-levels.ts'

/** Usage that has a length is that of videos. */
export type UsageKind = 'text' | 'video'

/** What is added up. */
export type UsageSums = Omit<UsageTotal, RollupColumn | 'day' | `${string}Name` | 'tokenStart'>

export const noSums: UsageSums = {
  ...{ calls: 0, unreported: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
}

export const kindOf = ({ videoSeconds }: UsageSums): UsageKind => (videoSeconds === undefined ? 'text' : 'video')

/** Adds `b` to `a`, or takes it away. What is undefined in both stays so. */
export const combine = (a: UsageSums, b: UsageSums, sign: 1 | -1): UsageSums => {
  const videoSeconds = combineOptional(a.videoSeconds, b.videoSeconds, sign)
  const cost = combineOptional(a.cost, b.cost, sign)
  return {
    calls: a.calls + sign * b.calls,
    unreported: a.unreported + sign * b.unreported,
    inputTokens: a.inputTokens + sign * b.inputTokens,
    cachedTokens: a.cachedTokens + sign * b.cachedTokens,
    outputTokens: a.outputTokens + sign * b.outputTokens,
    reasoningTokens: a.reasoningTokens + sign * b.reasoningTokens,
    ...(videoSeconds !== undefined && { videoSeconds }),
    ...(cost !== undefined && { cost }),
  }
}

const combineOptional = (a: number | undefined, b: number | undefined, sign: 1 | -1): number | undefined =>
  b === undefined ? a : (a ?? 0) + sign * b
