import { compareTexts } from '../../../plugins/shared/text.ts'
import type { Steps } from '../database/database.ts'
import { clause, fragment, type Statement, sql, withCommas } from '../database/statement.ts'
import {
  addToRollups,
  collect,
  groupsOf,
  type RolledUpRow,
  type RollupAddition,
  rowKeyOf,
  usageRow,
} from './rollup-additions.ts'

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

/** Rolls up some rows, and returns their number. */
export function* rollUpStep(): Steps<number> {
  yield sql`update usage_rollup_turns set turn = turn + 1 where id = 1`
  const rows = (yield sql`
    select ${usageRow}
    from text_usage
    where ${isToRollUp}
    order by user_id, token_id, day, model
    limit ${stepRows}`) as unknown as readonly RolledUpRow[]
  const additions = new Map<string, RollupAddition>()
  for (const row of rows) collect(row, additions)
  yield [
    // In the order of batches of usage: they cannot deadlock.
    ...groupsOf(rows.toSorted((a, b) => compareTexts(rowKeyOf(a), rowKeyOf(b)))).map(markRolledUp),
    ...groupsOf([...additions.values()]).map(addToRollups),
  ]
  return rows.length
}

/** What was read, and not what is there now: a concurrent call may have added to the rows. */
const markRolledUp = (rows: readonly RolledUpRow[]): Statement => clause`
  with rolled (
    user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens, reasoning_tokens,
    video_seconds, cost
  ) as (values ${withCommas(rows.map(rolledRow))})
  update text_usage
  set rolled_calls = rolled.calls, rolled_unreported = rolled.unreported,
    rolled_input_tokens = rolled.input_tokens, rolled_cached_tokens = rolled.cached_tokens,
    rolled_output_tokens = rolled.output_tokens, rolled_reasoning_tokens = rolled.reasoning_tokens,
    rolled_video_seconds = rolled.video_seconds, rolled_cost = rolled.cost
  from rolled
  where text_usage.user_id = rolled.user_id
  and text_usage.token_id = rolled.token_id
  and text_usage.day = rolled.day
  and text_usage.model = rolled.model`

const rolledRow = (row: RolledUpRow): Statement => clause`
  (
    cast(${row.user} as text), cast(${row.token} as text), cast(${row.day} as text), cast(${row.model} as text),
    cast(${row.calls} as bigint), cast(${row.unreported} as bigint), cast(${row.inputTokens} as bigint),
    cast(${row.cachedTokens} as bigint), cast(${row.outputTokens} as bigint), cast(${row.reasoningTokens} as bigint),
    cast(${row.videoSeconds} as bigint), cast(${row.cost} as bigint)
  )`
