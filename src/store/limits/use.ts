import { isConsumed } from '../../../plugins/usage-limits/limit.ts'
import { firstStep, type LimitCounter, type LimitUse } from '../../../plugins/usage-limits/store.ts'
import type { Row, Steps } from '../database/database.ts'
import { type Statement, sql } from '../database/statement.ts'
import { countExisting } from './existing.ts'

/** The rows of several statements that each return one. */
export type Rows = Iterator<Row>

/** The next row. Throws without one: a statement has returned another number of rows than one. */
export const takeRow = (rows: Rows): Row => {
  const next = rows.next()
  if (next.done) throw new Error('a statement has returned no row')
  return next.value
}

/** Whether the use of a counter is not in the row of its blocks. */
export const isCountedApart = ({ unit, slides }: LimitCounter): boolean => slides !== undefined || !isConsumed(unit)

/** Reads the use of a counter that is counted apart, as `counted`. */
export const readCounted = (counter: LimitCounter, amount: number, now: number): Statement => {
  const { id, slides } = counter
  if (!slides) return countExisting(counter, amount, now)
  return sql`
    select cast(coalesce(sum(used), 0) as bigint) as counted, max(bucket) as "lastStep"
    from limit_use
    where counter = ${id}
    and bucket >= ${firstStep(slides, now)}
    and bucket > 0
    and used > 0`
}

/** Reads the use of counters, without a lock. */
export function* readUse(counters: readonly LimitCounter[], now: number): Steps<readonly LimitUse[]> {
  if (counters.length === 0) return []
  const rows: Rows = (yield counters.flatMap((counter) => [
    sql`
      select cast(coalesce(sum(used), 0) as bigint) as used, cast(coalesce(sum(held), 0) as bigint) as held
      from limit_use
      where counter = ${counter.id}
      and bucket = ${counter.bucket}`,
    ...(isCountedApart(counter) ? [readCounted(counter, Number.MAX_SAFE_INTEGER, now)] : []),
  ])).values()
  return counters.map((counter) => {
    const { used, held } = takeRow(rows)
    if (!isCountedApart(counter)) return { used: Number(used), allHeld: Number(held) }
    const { counted, lastStep } = takeRow(rows)
    return {
      used: Number(counted),
      allHeld: Number(held),
      ...(lastStep !== undefined && { lastStep: Number(lastStep) }),
    }
  })
}
