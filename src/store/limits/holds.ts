import { isConsumed, type LimitUnit } from '../../../plugins/usage-limits/limit.ts'
import type { Amounts } from '../../../plugins/usage-limits/usage-limits.ts'
import type { Row, Steps } from '../database/database.ts'
import { deleteOldest } from '../database/oldest-rows.ts'
import { clause, type Statement, sql } from '../database/statement.ts'
import { bookStep } from './exchange.ts'

/**
 * Keeps what a holder such as `task:ID` holds until `settleHold`: for the transaction that records the task. Returns
 * the holder; no row: the task has no limits, or its lease has ended.
 */
export const confirmHold = (holder: string): Statement => sql`
  update limit_holders
  set lease_until = null
  where holder = ${holder}
  returning holder`

/**
 * Books what a task has used, and gives back the rest of what it held: for the transaction that records the end of the
 * task. A unit that is absent is booked as it was held. Nothing changes for a holder that is not known.
 *
 * @param used empty: the task has failed with an unknown use; `nothingUsed`: it has used nothing
 */
export const settleHold = (holder: string, used: Amounts): readonly Statement[] => [
  lockCounters(holder),
  sql`
    update limit_use
    set held = limit_use.held - limit_blocks.held,
      used = limit_use.used - limit_blocks.booked + case limit_blocks.unit
        when 'requests' then cast(coalesce(${used.requests}, limit_blocks.held + limit_blocks.booked) as bigint)
        when 'tokens' then cast(coalesce(${used.tokens}, limit_blocks.held + limit_blocks.booked) as bigint)
        when 'cost' then cast(coalesce(${used.cost}, limit_blocks.held + limit_blocks.booked) as bigint)
        when 'videos' then cast(coalesce(${used.videos}, limit_blocks.held + limit_blocks.booked) as bigint)
        when 'video_seconds' then cast(coalesce(${used.video_seconds}, limit_blocks.held + limit_blocks.booked) as bigint)
        else 0
      end
    from limit_blocks
    where limit_blocks.holder = ${holder}
    and limit_blocks.counter = limit_use.counter
    and limit_blocks.bucket = limit_use.bucket`,
  sql`
    delete from limit_blocks
    where holder = ${holder}`,
  sql`
    delete from limit_holders
    where holder = ${holder}`,
]

/** `settleHold`, if the holder is known: most tasks hold nothing. */
export function* endHold(holder: string, used: Amounts): Steps {
  const [held] = yield sql`
    select holder
    from limit_holders
    where holder = ${holder}`
  if (held) yield settleHold(holder, used)
}

/** For `settleHold`: all that was held is given back. */
export const nothingUsed: Amounts = { requests: 0, tokens: 0, cost: 0, videos: 0, video_seconds: 0 }

/** In the order in which all transactions lock them. Adds the rows of past windows that were deleted meanwhile. */
const lockCounters = (holder: string): Statement => sql`
  insert into limit_use (counter, bucket, used, held)
  select counter, bucket, 0, 0
  from limit_blocks
  where holder = ${holder}
  order by counter, bucket
  on conflict (counter, bucket) do update
  set held = limit_use.held`

/** Holders that one sweep settles. */
const maxHolders = 20
/** A process whose clock is that much ahead of others settles no lease before its end. */
const maxSkewMs = 5_000
/** Counts of past windows that one sweep deletes. */
const maxRows = 1_000

/** Holders whose lease has ended. */
export const listLapsed = (now: number): Statement => sql`
  select holder
  from limit_holders
  where lease_until < ${now - maxSkewMs}
  order by lease_until
  limit ${maxHolders}`

/** Puts a holder that cannot be settled behind all others whose lease has ended. */
export const putOffLapsed = (holder: string, now: number): Statement => sql`
  update limit_holders
  set lease_until = ${now - maxSkewMs - 1}
  where holder = ${holder}
  and lease_until < ${now - maxSkewMs}`

/** Settles what a holder has whose lease has ended, unless the lease was extended meanwhile. */
export function* settleLapsed(holder: string, now: number): Steps {
  const [lapsed] = yield sql`
    delete from limit_holders
    where holder = ${holder}
    and lease_until < ${now - maxSkewMs}
    returning gives_back as "givesBack"`
  if (!lapsed) return
  if (Number(lapsed.givesBack) === 1) {
    yield settleHold(holder, nothingUsed)
    return
  }
  const blocks = yield sql`
    select counter, bucket, unit, step_ms as "stepMs", length_ms as "lengthMs", held
    from limit_blocks
    where holder = ${holder}
    order by counter, bucket`
  yield lockCounters(holder)
  yield blocks.flatMap((block) => useBlock(block, now))
  yield sql`
    delete from limit_blocks
    where holder = ${holder}`
}

/** Counts a block as used. What exists is not counted by its blocks. */
const useBlock = ({ counter, bucket, unit, stepMs, lengthMs, held }: Row, now: number): readonly Statement[] => {
  const [id, amount] = [String(counter), Number(held)]
  const used = isConsumed(unit as LimitUnit) ? amount : 0
  const slides = lengthMs === undefined ? undefined : { lengthMs: Number(lengthMs), stepMs: Number(stepMs) }
  return [
    sql`
      update limit_use
      set held = held - ${amount}, used = used + ${slides ? 0 : used}
      where counter = ${id}
      and bucket = ${Number(bucket)}`,
    ...(slides ? [bookStep({ id, slides }, used, now)] : []),
  ]
}

/** Deletes counts of past windows that no holder needs. */
export const deletePast = (now: number): Statement =>
  deleteOldest(
    {
      ...{ table: clause`limit_use`, time: clause`ends_at`, key: clause`counter, bucket` },
      where: clause`ends_at < ${now} and held = 0`,
    },
    maxRows,
  )
