import type { Attempt, AttemptStore, Counter } from '../../../plugins/web-session/store.ts'
import type { Database } from '../database/database.ts'
import { deleteOldest } from '../database/oldest-rows.ts'
import { clause, type Statement, sql } from '../database/statement.ts'

const sweepMs = 1_000
/**
 * A login deletes at most this many expired rows: more than an attack adds in `sweepMs`, and few enough to take a few
 * milliseconds.
 */
const maxRowsPerSweep = 1_000
/** A key that no row has: keys are hashes. */
const noKey = ''

/**
 * Counters of failed logins.
 *
 * The statement that counts checks the block again, so of two concurrent attempts the second sees the first one's
 * count. Statements run in the order of the counters that the port prescribes, so two transactions cannot deadlock.
 */
export const createAttemptStore = (database: Database): AttemptStore => {
  let sweptAt = 0

  const sweep = async (now: number): Promise<void> => {
    // The difference may be negative, after a clock was ahead.
    if (Math.abs(now - sweptAt) < sweepMs) return
    sweptAt = now
    await database.query(deleteForgotten(now))
  }

  const revert = async ({ id, counters }: Attempt, cleared: string = noKey): Promise<void> => {
    await database.batch([
      sql`
        delete from login_attempts
        where key = ${cleared}`,
      ...counters.flatMap(({ key }) => [
        sql`
          update login_attempts
          set failures = failures - 1, blocked_until = case when counted_by = ${id} then 0 else blocked_until end
          where key = ${key}`,
        sql`
          delete from login_attempts
          where key = ${key}
          and failures <= 0`,
      ]),
    ])
  }

  /** The latest end of a block among the counters. Milliseconds since 1970; 0 when no counter is blocked. */
  const blockedUntil = async ([first, second, third, fourth, fifth]: Attempt['counters']): Promise<number> => {
    const [row] = await database.query<{ until?: number }>(sql`
      select max(blocked_until) as until
      from login_attempts
      where key in (${first.key}, ${second?.key ?? noKey}, ${third?.key ?? noKey}, ${fourth?.key ?? noKey}, ${fifth?.key ?? noKey})`)
    return row?.until ?? 0
  }

  return {
    async takeAttempt(attempt) {
      const { id, now, counters } = attempt
      await sweep(now)
      const blocked = await blockedUntil(counters)
      // Most attempts of an attack end here, without a write or a lock.
      if (blocked > now && counters.every((counter) => blocked <= maxBlockedUntil(counter, now))) return blocked
      const rows = await database.batch(
        counters.flatMap((counter, index) => [
          deleteExpired(counter, now),
          count(counter, { id, now, ifCountedKey: counters[index - 1]?.key }),
        ]),
      )
      const rejectedIndex = counters.findIndex((_, index) => rows[2 * index + 1]?.length !== 1)
      if (rejectedIndex === -1) return undefined
      // A concurrent attempt has used up one of the counters: revert what this attempt has counted before it.
      const [first, ...others] = counters.slice(0, rejectedIndex)
      if (first) await revert({ ...attempt, counters: [first, ...others] })
      return await blockedUntil(counters)
    },

    revertAttempt: revert,
  }
}

export const deleteForgotten = (now: number): Statement =>
  deleteOldest(
    {
      ...{ table: clause`login_attempts`, time: clause`forget_at`, key: clause`key` },
      where: clause`forget_at <= ${now}`,
    },
    maxRowsPerSweep,
  )

/**
 * A counter that is blocked for longer was blocked by a clock that was ahead. The clocks of two processes may differ by
 * less than the longest delay: such a difference must not reset a counter.
 */
const maxBlockedUntil = ({ maxMs }: Counter, now: number): number => now + 2 * maxMs

const deleteExpired = (counter: Counter, now: number): Statement => sql`
  delete from login_attempts
  where key = ${counter.key}
  and (forget_at <= ${now} or blocked_until > ${maxBlockedUntil(counter, now)})`

/** Counts a failure, unless the counter is blocked, or this attempt is not counted under the key `ifCountedKey`. */
const count = (
  { key, free, forgetMs, firstMs, maxMs }: Counter,
  { id, now, ifCountedKey = noKey }: { readonly id: string; readonly now: number; readonly ifCountedKey?: string },
): Statement => sql`
  insert into login_attempts (key, failures, blocked_until, forget_at, counted_by)
  select ${key}, 1, ${free > 1 ? 0 : now + firstMs}, ${now + forgetMs}, ${id}
  where ${ifCountedKey} = ''
  or exists (
    select 1
    from login_attempts
    where key = ${ifCountedKey}
    and counted_by = ${id}
  )
  on conflict (key) do update
  set failures = login_attempts.failures + 1,
    blocked_until = case
      when login_attempts.failures + 1 < ${free} then 0
      when login_attempts.failures + 1 >= ${free + Math.ceil(Math.log2(maxMs / firstMs))} then ${now + maxMs}
      else ${now} + (cast(${firstMs} as bigint) << cast(login_attempts.failures + 1 - ${free} as integer))
    end,
    forget_at = excluded.forget_at,
    counted_by = excluded.counted_by
  where login_attempts.blocked_until <= ${now}
  returning key`
