import type { UsageTotal } from '../../../plugins/admin/usage-sums.ts'
import { compareTexts } from '../../../plugins/shared/text.ts'
import { clause, fragment, joinClauses, type Statement, type Steps, sql, withCommas } from '../database/database.ts'
import {
  columnsOf,
  isDaily,
  type RollupColumn,
  type RollupLevel,
  rollupColumns,
  rollupLevels,
} from './rollup-periods.ts'

/** Rows of usage that one transaction rolls up: SQLite answers nothing else meanwhile. */
export const stepRows = 100

/** As in the index of these rows. The order is that of the index: PostgreSQL would prefer the table otherwise. */
const isToRollUp = fragment`case when calls = rolled_calls then 0 else 1 end = 1`

/** A row with usage that is not rolled up. No row: there is none. */
export const rowToRollUp = sql`
  select 1 as waiting
  from text_usage
  where ${isToRollUp}
  order by user_id, token_id, day, model
  limit 1`

interface UsageRow extends Record<RollupColumn | 'day', string>, UsageSums {
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
interface Addition extends Record<RollupColumn, string> {
  readonly level: RollupLevel
  readonly period: string
  readonly kind: UsageKind
  readonly sums: UsageSums
}

/** Rolls up some rows, and returns their number. */
export function* rollUpStep(): Steps<number> {
  yield sql`update usage_rollup_turns set turn = turn + 1 where id = 1`
  const rows = (yield sql`
    select user_id as "user", token_id as token, day, model, coalesce(team_id, '') as team, calls, unreported,
      input_tokens as "inputTokens", cached_tokens as "cachedTokens", output_tokens as "outputTokens",
      reasoning_tokens as "reasoningTokens", video_seconds as "videoSeconds", cost,
      rolled_calls as "rolledCalls", rolled_unreported as "rolledUnreported",
      rolled_input_tokens as "rolledInputTokens", rolled_cached_tokens as "rolledCachedTokens",
      rolled_output_tokens as "rolledOutputTokens", rolled_reasoning_tokens as "rolledReasoningTokens",
      rolled_video_seconds as "rolledVideoSeconds", rolled_cost as "rolledCost"
    from text_usage
    where ${isToRollUp}
    order by user_id, token_id, day, model
    limit ${stepRows}`) as unknown as readonly UsageRow[]
  const additions = new Map<string, Addition>()
  for (const row of rows) collect(row, additions)
  yield [
    // In the order of batches of usage: they cannot deadlock.
    ...groupsOf(rows.toSorted((a, b) => compareTexts(rowKeyOf(a), rowKeyOf(b)))).map(markRolledUp),
    ...groupsOf([...additions.values()]).map(addToRollups),
  ]
  return rows.length
}

const rowKeyOf = ({ user, token, day, model }: UsageRow): string => [user, token, day, model].join(' ')

/** Rows of one statement: a database takes longer for many statements. Few sizes, because each is a statement. */
const groupSizes = [16, 4, 1] as const

const groupsOf = <Item>(items: readonly Item[]): readonly (readonly Item[])[] => {
  const groups: (readonly Item[])[] = []
  for (let at = 0; at < items.length; at += groups.at(-1)?.length ?? 1) {
    const size = groupSizes.find((each) => each <= items.length - at) ?? 1
    groups.push(items.slice(at, at + size))
  }
  return groups
}

/** What was read, and not what is there now: a concurrent call may have added to the rows. */
const markRolledUp = (rows: readonly UsageRow[]): Statement =>
  joinClauses(
    clause`
      with rolled (
        user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens, reasoning_tokens,
        video_seconds, cost
      ) as (values `,
    ...withCommas(rows.map(rolledRow)),
    clause`)
      update text_usage
      set rolled_calls = rolled.calls, rolled_unreported = rolled.unreported,
        rolled_input_tokens = rolled.input_tokens, rolled_cached_tokens = rolled.cached_tokens,
        rolled_output_tokens = rolled.output_tokens, rolled_reasoning_tokens = rolled.reasoning_tokens,
        rolled_video_seconds = rolled.video_seconds, rolled_cost = rolled.cost
      from rolled
      where text_usage.user_id = rolled.user_id
      and text_usage.token_id = rolled.token_id
      and text_usage.day = rolled.day
      and text_usage.model = rolled.model`,
  )

const rolledRow = (row: UsageRow): Statement => clause`
  (
    cast(${row.user} as text), cast(${row.token} as text), cast(${row.day} as text), cast(${row.model} as text),
    cast(${row.calls} as bigint), cast(${row.unreported} as bigint), cast(${row.inputTokens} as bigint),
    cast(${row.cachedTokens} as bigint), cast(${row.outputTokens} as bigint), cast(${row.reasoningTokens} as bigint),
    cast(${row.videoSeconds} as bigint), cast(${row.cost} as bigint)
  )`

/** Adds what is new in a row to all its roll-ups. */
const collect = (row: UsageRow, additions: Map<string, Addition>): void => {
  const rolled = rolledOf(row)
  const [kind, kindBefore] = [kindOf(row), kindOf(rolled)]
  for (const level of rollupLevels) {
    for (const period of isDaily(level) ? [row.day.slice(0, 7), row.day] : [row.day.slice(0, 7)]) {
      const add = (of: UsageKind, sums: UsageSums) => {
        const addition = { ...keyOf(row, level), level, period, kind: of, sums }
        // NUL as the separator: storable text does not contain it.
        const key = [level, period, of, ...rollupColumns.map((column) => addition[column])].join('\0')
        const known = additions.get(key)
        additions.set(key, known ? { ...known, sums: combine(known.sums, sums, 1) } : addition)
      }
      if (rolled.calls > 0 && kind !== kindBefore) {
        // The first video of a model that had text only: all of the row counts as video from now on.
        add(kindBefore, combine(noSums, rolled, -1))
        add(kind, row)
      } else add(kind, combine(row, rolled, -1))
    }
  }
}

const rolledOf = (row: UsageRow): UsageSums => ({
  calls: row.rolledCalls,
  unreported: row.rolledUnreported,
  inputTokens: row.rolledInputTokens,
  cachedTokens: row.rolledCachedTokens,
  outputTokens: row.rolledOutputTokens,
  reasoningTokens: row.rolledReasoningTokens,
  ...(row.rolledVideoSeconds !== undefined && { videoSeconds: row.rolledVideoSeconds }),
  ...(row.rolledCost !== undefined && { cost: row.rolledCost }),
})

const keyOf = (row: UsageRow, level: RollupLevel): Record<RollupColumn, string> => {
  const key = { user: '', token: '', model: '', team: '' }
  for (const column of columnsOf[level]) key[column] = row[column]
  return key
}

const addToRollups = (additions: readonly Addition[]): Statement =>
  joinClauses(
    clause`
      insert into usage_rollups (
        grain, level, user_id, token_id, model, team_id, period, kind, calls, unreported, input_tokens, cached_tokens,
        output_tokens, reasoning_tokens, video_seconds, cost
      )
      values `,
    ...withCommas(additions.map(addedRow)),
    clause`
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
        cost = coalesce(usage_rollups.cost + excluded.cost, usage_rollups.cost, excluded.cost)`,
  )

const addedRow = ({ level, user, token, model, team, period, kind, sums }: Addition): Statement => clause`
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
