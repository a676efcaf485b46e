import { compareTexts } from '../../../plugins/shared/text.ts'
import {
  firstStep,
  grantOf,
  type HeldMove,
  type LimitChange,
  type LimitCounter,
  type LimitCounts,
  type LimitExchange,
  movedOf,
  stepOf,
} from '../../../plugins/usage-limits/store.ts'
import type { Steps } from '../database/database.ts'
import { StoreError } from '../database/error.ts'
import { type Statement, sql } from '../database/statement.ts'
import { isCountedApart, type Rows, readCounted, readUse, takeRow } from './use.ts'

/** The blocks of a holder are not those that it thinks it has: another process has settled them. */
export class LostHolderError extends StoreError {
  override name = 'LostHolderError'
  constructor() {
    super('the blocks of a holder of limits have been settled by another process')
  }
}

/**
 * Applies an exchange. Undefined: the holder is unknown, or its lease has ended. Throws LostHolderError, which rolls
 * the transaction back, when the holder has other blocks than it thinks.
 *
 * All transactions lock the rows of `limit_use` in the order of their counters, so they do not deadlock.
 */
export function* applyExchange(exchange: LimitExchange): Steps<readonly LimitCounts[] | undefined> {
  const { holder, now, changes } = exchange
  const [continued] = yield continueHolder(exchange)
  if (!continued) return yield* readApplied(exchange)

  const ordered = changes.toSorted((a, b) => compareCounters(a.counter, b.counter))
  const rows: Rows = (yield ordered.flatMap((change) => settle(change, now))).values()
  const counts = new Map<LimitChange, LimitCounts>()
  const writes: Statement[] = []
  let blocks = 0
  for (const change of ordered) {
    const settled = takeRow(rows)
    const used = Number(isCountedApart(change.counter) ? takeRow(rows).counted : settled.used)
    const granted = grantOf(change, change.amount - used - Number(settled.held))
    const held = change.keeps + granted
    const moved = movedOf(change)
    const isBooked = change.counter.slides !== undefined
    counts.set(change, {
      held,
      used: used + (isBooked ? moved : 0),
      allHeld: Number(settled.held) + granted + (isBooked ? 0 : moved),
    })
    const block = writeBlock(holder, change, held)
    if (block) blocks++
    writes.push(
      ...(block ? [block] : []),
      ...(granted > 0 ? [addHeld(change.counter, granted)] : []),
      ...change.moves.flatMap((move) => moveBlock(move, change.counter, now)),
    )
  }
  const written = yield writes
  if (written.length !== blocks) throw new LostHolderError()
  yield* addFreeTimes(ordered, counts, now)
  return changes.map((change) => counts.get(change) as LimitCounts)
}

/** Extends the lease. No row: this exchange was applied before, or the holder is lost. */
const continueHolder = ({ holder, seq, now, leaseUntil }: LimitExchange): Statement =>
  seq === 1
    ? sql`
        insert into limit_holders (holder, seq, lease_until, gives_back)
        values (${holder}, 1, ${leaseUntil}, 0)
        on conflict do nothing
        returning seq`
    : sql`
        update limit_holders
        set seq = ${seq}, lease_until = ${leaseUntil}
        where holder = ${holder}
        and seq = ${seq - 1}
        and lease_until > ${now}
        returning seq`

/** The counts after an exchange that was applied before. Undefined: it was not. */
function* readApplied({ holder, seq, now, changes }: LimitExchange): Steps<readonly LimitCounts[] | undefined> {
  const [known] = yield sql`
    select seq
    from limit_holders
    where holder = ${holder}`
  if (known?.seq !== seq) return undefined
  const blocks = yield sql`
    select counter, bucket, held
    from limit_blocks
    where holder = ${holder}`
  const uses = yield* readUse(
    changes.map(({ counter }) => counter),
    now,
  )
  return changes.map(({ counter }, index) => ({
    ...{ used: 0, allHeld: 0, ...uses[index] },
    held: Number(blocks.find((block) => block.counter === counter.id && block.bucket === counter.bucket)?.held ?? 0),
  }))
}

const compareCounters = (a: LimitCounter, b: LimitCounter): number => compareTexts(a.id, b.id) || a.bucket - b.bucket

/** Books what was used, and gives back what the block does not keep. Locks the counter. */
const settle = (change: LimitChange, now: number): readonly Statement[] => {
  const { counter, used, keeps, held } = change
  if (!isCountedApart(counter)) return [addToCounter(counter, { used, held: keeps - held, now })]
  return [
    addToCounter(counter, { used: 0, held: keeps - held, now }),
    ...(counter.slides && used > 0 ? [bookStep(counter, used, now)] : []),
    readCounted(counter, change.amount, now),
  ]
}

/** How long the counts of a window are kept after its end. A call that runs on is booked in the window of its start. */
const keptMs = 86_400_000

const addToCounter = (
  counter: LimitCounter,
  { used, held, now }: { readonly used: number; readonly held: number; readonly now: number },
): Statement => {
  // Without a window of the calendar, the row has use that counts for ever, or only the sum of the blocks.
  const endsAt = isCountedApart(counter) ? now + keptMs : counter.endsAt && counter.endsAt + keptMs
  return sql`
    insert into limit_use (counter, bucket, used, held, ends_at)
    values (${counter.id}, ${counter.bucket}, ${used}, ${held}, ${endsAt})
    on conflict (counter, bucket) do update
    set used = limit_use.used + excluded.used, held = limit_use.held + excluded.held, ends_at = excluded.ends_at
    returning used, held`
}

/** Books use in the present step of a window that slides. */
export const bookStep = ({ id, slides }: Pick<LimitCounter, 'id' | 'slides'>, used: number, now: number): Statement => {
  const { lengthMs = 0, stepMs = 1 } = slides ?? {}
  return sql`
    insert into limit_use (counter, bucket, used, held, ends_at)
    values (${id}, ${stepOf(stepMs, now)}, ${used}, 0, ${now + 2 * lengthMs + keptMs})
    on conflict (counter, bucket) do update
    set used = limit_use.used + excluded.used`
}

/** Returns the counter, if the block was as the holder thinks. Undefined: there is no block before and after. */
const writeBlock = (holder: string, { counter, held: before }: LimitChange, after: number): Statement | undefined => {
  const { id, bucket, unit, slides } = counter
  if (before === 0) {
    if (after === 0) return undefined
    return sql`
      insert into limit_blocks (holder, counter, bucket, unit, step_ms, length_ms, held, booked)
      values (${holder}, ${id}, ${bucket}, ${unit}, ${slides?.stepMs}, ${slides?.lengthMs}, ${after}, 0)
      on conflict do nothing
      returning counter`
  }
  return after === 0
    ? sql`
        delete from limit_blocks
        where holder = ${holder}
        and counter = ${id}
        and bucket = ${bucket}
        and held = ${before}
        returning counter`
    : sql`
        update limit_blocks
        set held = ${after}
        where holder = ${holder}
        and counter = ${id}
        and bucket = ${bucket}
        and held = ${before}
        returning counter`
}

const addHeld = ({ id, bucket }: LimitCounter, amount: number): Statement => sql`
  update limit_use
  set held = held + ${amount}
  where counter = ${id}
  and bucket = ${bucket}`

/**
 * Gives a part to a holder that outlives the process. In a window that slides it counts as used from now on: a task may
 * run for longer than the window.
 */
const moveBlock = ({ holder, amount, leaseUntil }: HeldMove, counter: LimitCounter, now: number): Statement[] => {
  const { id, unit, slides } = counter
  const bucket = slides ? stepOf(slides.stepMs, now) : counter.bucket
  return [
    slides ? bookStep(counter, amount, now) : addHeld(counter, amount),
    sql`
      insert into limit_holders (holder, seq, lease_until, gives_back)
      values (${holder}, 1, ${leaseUntil}, 1)
      on conflict do nothing`,
    sql`
      insert into limit_blocks (holder, counter, bucket, unit, step_ms, length_ms, held, booked)
      values (${holder}, ${id}, ${bucket}, ${unit}, ${slides?.stepMs}, ${slides?.lengthMs}, ${slides ? 0 : amount},
        ${slides ? amount : 0})
      on conflict (holder, counter, bucket) do update
      set held = limit_blocks.held + excluded.held, booked = limit_blocks.booked + excluded.booked`,
  ]
}

/** For windows that slide and had no room: finds when enough use will have left them. */
function* addFreeTimes(changes: readonly LimitChange[], counts: Map<LimitChange, LimitCounts>, now: number): Steps {
  const full = changes.filter((change) => {
    const { needs, keeps, counter } = change
    return counter.slides && needs > 0 && (counts.get(change)?.held ?? 0) < keeps + needs
  })
  for (const change of full) {
    const { counter, atLeast, keeps, amount } = change
    const { id, slides } = counter
    const count = counts.get(change)
    if (!slides || !count) continue
    const steps = yield sql`
      select bucket, used
      from limit_use
      where counter = ${id}
      and bucket >= ${firstStep(slides, now)}
      and bucket > 0
      order by bucket`
    let missing = atLeast - (amount - count.used - count.allHeld) - (count.held - keeps)
    let freeAt = now
    for (const { bucket, used } of steps) {
      if (missing <= 0) break
      missing -= Number(used)
      freeAt = Number(bucket) + slides.stepMs + slides.lengthMs
    }
    counts.set(change, { ...count, freeAt })
  }
}
