import { compareTexts } from '../../../plugins/shared/text.ts'
import type { Steps } from '../database/database.ts'
import { clause, type Statement, sql, withCommas } from '../database/statement.ts'
import {
  addToRollups,
  groupsOf,
  type RolledUpRow,
  type RollupAddition,
  rowKeyOf,
  takeBack,
  usageRow,
} from './rollup-additions.ts'

/**
 * Deletes the oldest rows of usage from before a day, at most `max`, and returns their number.
 *
 * The same transaction takes them away from their roll-ups, so that reports from rows and from roll-ups agree at any
 * moment. Roll-ups of which nothing is left are deleted.
 */
export function* sweepUsage(before: string, max: number): Steps<number> {
  // The lock of the roll-up: what is rolled up of a row stays as it is read.
  yield sql`update usage_rollup_turns set turn = turn + 1 where id = 1`
  const rows = (yield sql`
    select ${usageRow}
    from text_usage
    where day < ${before}
    order by day, user_id, token_id, model
    limit ${max}`) as unknown as readonly RolledUpRow[]
  const additions = new Map<string, RollupAddition>()
  for (const row of rows) takeBack(row, additions)
  const changed = groupsOf([...additions.values()])
  yield [
    ...groupsOf(rows.toSorted((a, b) => compareTexts(rowKeyOf(a), rowKeyOf(b)))).map(deleteRows),
    ...changed.map(addToRollups),
    ...changed.map(deleteEmpty),
  ]
  return rows.length
}

const deleteRows = (rows: readonly RolledUpRow[]): Statement => clause`
  delete from text_usage
  where (user_id, token_id, day, model) in (values ${withCommas(rows.map(keyOfRow))})`

const keyOfRow = ({ user, token, day, model }: RolledUpRow): Statement =>
  clause`(cast(${user} as text), cast(${token} as text), cast(${day} as text), cast(${model} as text))`

const deleteEmpty = (additions: readonly RollupAddition[]): Statement => clause`
  delete from usage_rollups
  where calls = 0
  and (grain, level, user_id, token_id, model, team_id, period, kind) in (
    values ${withCommas(additions.map(keyOfAddition))}
  )`

const keyOfAddition = ({ level, user, token, model, team, period, kind }: RollupAddition): Statement => clause`
  (
    cast(${period.length === 7 ? 'month' : 'day'} as text), cast(${level} as text), cast(${user} as text),
    cast(${token} as text), cast(${model} as text), cast(${team} as text), cast(${period} as text),
    cast(${kind} as text)
  )`
