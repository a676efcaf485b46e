import type { UsageTotal } from '../../../plugins/admin/usage-sums.ts'
import { clause, fragment, type Statement, withCommas } from '../database/statement.ts'
import {
  columnsOf,
  isDaily,
  type RollupColumn,
  type RollupLevel,
  rollupColumns,
  rollupLevels,
} from './rollup-periods.ts'

/** A row of usage, and what of it is in the roll-ups. */
export interface RolledUpRow extends Record<RollupColumn | 'day', string>, UsageSums {
  readonly rolledCalls: number
  readonly rolledUnreported: number
  readonly rolledInputTokens: number
  readonly rolledCachedTokens: number
  readonly rolledOutputTokens: number
  readonly rolledReasoningTokens: number
  readonly rolledVideoSeconds?: number
  readonly rolledCost?: number
}

/** A sum to be added to a roll-up. */
export interface RollupAddition extends Record<RollupColumn, string> {
  readonly level: RollupLevel
  readonly period: string
  readonly kind: UsageKind
  readonly sums: UsageSums
}

/** The columns of `RolledUpRow`. */
export const usageRow = fragment`
  user_id as "user", token_id as token, day, model, coalesce(team_id, '') as team, calls, unreported,
  input_tokens as "inputTokens", cached_tokens as "cachedTokens", output_tokens as "outputTokens",
  reasoning_tokens as "reasoningTokens", video_seconds as "videoSeconds", cost,
  rolled_calls as "rolledCalls", rolled_unreported as "rolledUnreported",
  rolled_input_tokens as "rolledInputTokens", rolled_cached_tokens as "rolledCachedTokens",
  rolled_output_tokens as "rolledOutputTokens", rolled_reasoning_tokens as "rolledReasoningTokens",
  rolled_video_seconds as "rolledVideoSeconds", rolled_cost as "rolledCost"`

/** Rows are written in the order of it, as batches of usage are: so they cannot deadlock. */
export const rowKeyOf = ({ user, token, day, model }: RolledUpRow): string => [user, token, day, model].join(' ')

/** Rows of one statement: a database takes longer for many statements. Few sizes, because each is a statement. */
const groupSizes = [16, 4, 1] as const

/** Divides what several statements write. */
export const groupsOf = <Item>(items: readonly Item[]): readonly (readonly Item[])[] => {
  const groups: (readonly Item[])[] = []
  for (let at = 0; at < items.length; at += groups.at(-1)?.length ?? 1) {
    const size = groupSizes.find((each) => each <= items.length - at) ?? 1
    groups.push(items.slice(at, at + size))
  }
  return groups
}

/** Adds what is new in a row to all its roll-ups. */
export const collect = (row: RolledUpRow, additions: Map<string, RollupAddition>): void => {
  const rolled = rolledOf(row)
  const [kind, kindBefore] = [kindOf(row), kindOf(rolled)]
  if (rolled.calls > 0 && kind !== kindBefore) {
    // The first video of a model that had text only: all of the row counts as video from now on.
    addOf(row, kindBefore, combine(noSums, rolled, -1), additions)
    addOf(row, kind, row, additions)
  } else addOf(row, kind, combine(row, rolled, -1), additions)
}

/** Takes what is in the roll-ups of a row away from them. */
export const takeBack = (row: RolledUpRow, additions: Map<string, RollupAddition>): void => {
  const rolled = rolledOf(row)
  if (rolled.calls === 0) return
  const kind = kindOf(rolled)
  addOf(row, kind, combine(noSums, rolled, -1), additions)
  // What a row of text leaves when it becomes one of videos: sums of nothing.
  if (kind === 'video') addOf(row, 'text', noSums, additions)
}

const addOf = (row: RolledUpRow, kind: UsageKind, sums: UsageSums, additions: Map<string, RollupAddition>): void => {
  for (const level of rollupLevels) {
    for (const period of isDaily(level) ? [row.day.slice(0, 7), row.day] : [row.day.slice(0, 7)]) {
      const addition = { ...keyOf(row, level), level, period, kind, sums }
      // NUL as the separator: storable text does not contain it.
      const key = [level, period, kind, ...rollupColumns.map((column) => addition[column])].join('\0')
      const known = additions.get(key)
      additions.set(key, known ? { ...known, sums: combine(known.sums, sums, 1) } : addition)
    }
  }
}

const rolledOf = (row: RolledUpRow): UsageSums => ({
  calls: row.rolledCalls,
  unreported: row.rolledUnreported,
  inputTokens: row.rolledInputTokens,
  cachedTokens: row.rolledCachedTokens,
  outputTokens: row.rolledOutputTokens,
  reasoningTokens: row.rolledReasoningTokens,
  ...(row.rolledVideoSeconds !== undefined && { videoSeconds: row.rolledVideoSeconds }),
  ...(row.rolledCost !== undefined && { cost: row.rolledCost }),
})

const keyOf = (row: RolledUpRow, level: RollupLevel): Record<RollupColumn, string> => {
  const key = { user: '', token: '', model: '', team: '' }
  for (const column of columnsOf[level]) key[column] = row[column]
  return key
}

/** Adds to roll-ups. Those that do not exist begin with it. */
export const addToRollups = (additions: readonly RollupAddition[]): Statement => clause`
  insert into usage_rollups (
    grain, level, user_id, token_id, model, team_id, period, kind, calls, unreported, input_tokens, cached_tokens,
    output_tokens, reasoning_tokens, video_seconds, cost
  )
  values ${withCommas(additions.map(addedRow))}
  on conflict (grain, level, user_id, token_id, model, team_id, period, kind) do update
  set calls = usage_rollups.calls + excluded.calls,
    unreported = usage_rollups.unreported + excluded.unreported,
    input_tokens = usage_rollups.input_tokens + excluded.input_tokens,
    cached_tokens = usage_rollups.cached_tokens + excluded.cached_tokens,
    output_tokens = usage_rollups.output_tokens + excluded.output_tokens,
    reasoning_tokens = usage_rollups.reasoning_tokens + excluded.reasoning_tokens,
    video_seconds = coalesce(
      usage_rollups.video_seconds + excluded.video_seconds, usage_rollups.video_seconds, excluded.video_seconds
    ),
    cost = coalesce(usage_rollups.cost + excluded.cost, usage_rollups.cost, excluded.cost)`

const addedRow = ({ level, user, token, model, team, period, kind, sums }: RollupAddition): Statement => clause`
  (
    ${period.length === 7 ? 'month' : 'day'}, ${level}, ${user}, ${token}, ${model}, ${team}, ${period}, ${kind},
    ${sums.calls}, ${sums.unreported}, ${sums.inputTokens}, ${sums.cachedTokens}, ${sums.outputTokens},
    ${sums.reasoningTokens}, ${sums.videoSeconds}, ${sums.cost}
  )`

/** Usage that has a length is that of videos. */
type UsageKind = 'text' | 'video'

/** What is added up. */
type UsageSums = Omit<UsageTotal, RollupColumn | 'day' | `${string}Name` | 'tokenStart'>

const noSums: UsageSums = {
  ...{ calls: 0, unreported: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
}

const kindOf = ({ videoSeconds }: UsageSums): UsageKind => (videoSeconds === undefined ? 'text' : 'video')

/** Adds `b` to `a`, or takes it away. What is undefined in both stays so. */
const combine = (a: UsageSums, b: UsageSums, sign: 1 | -1): UsageSums => {
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
