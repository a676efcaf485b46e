import type { Attempt, AttemptStore, Counter } from '../../plugins/web-session/store.ts'
import { type Database, type Statement, sql } from './database.ts'

const sweepMs = 1_000
/** As many that count no more are deleted at once, within somebody's login: more than an attack adds in the meantime, and what takes a few milliseconds. */
const sweepAtOnce = 1_000
/** No row has it: keys are hashes. */
const none = ''

/**
 * Failed logins. A statement that counts repeats what lets it: of two that found a counter open, the second finds it as the first has left it. They count in
 * the order that the port demands, so that no two can wait for each other.
 */
export const attempts = (database: Database): AttemptStore => {
  let sweptAt = 0

  const sweep = async (now: number): Promise<void> => {
    if (now < sweptAt + sweepMs) return
    sweptAt = now
    await database.query(sql`
      delete from login_attempts
      where key in (
        select key
        from login_attempts
        where forget_at <= ${now}
        order by forget_at
        limit ${sweepAtOnce}
      )`)
  }

  const giveBack = async ({ id, counters }: Attempt, cleared: string = none): Promise<void> => {
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

  /** 0 when none is. */
  const blockedUntil = async ([first, second, third, fourth]: Attempt['counters']): Promise<number> => {
    const [row] = await database.query<{ until?: number }>(sql`
      select max(blocked_until) as until
      from login_attempts
      where key in (${first.key}, ${second?.key ?? none}, ${third?.key ?? none}, ${fourth?.key ?? none})`)
    return row?.until ?? 0
  }

  return {
    async takeAttempt(attempt) {
      const { id, now, counters } = attempt
      await sweep(now)
      const blocked = await blockedUntil(counters)
      // Most of an attack ends here, without a write and without a lock.
      if (blocked > now) return blocked
      const rows = await database.batch(
        counters.flatMap((counter, nth) => [
          forget(counter.key, now),
          count(counter, { id, now, ifCounted: counters[nth - 1]?.key }),
        ]),
      )
      const refused = counters.findIndex((_, nth) => rows[2 * nth + 1]?.length !== 1)
      if (refused === -1) return undefined
      // Another one, under another name, was quicker to use up a network.
      const [first, ...others] = counters.slice(0, refused)
      if (first) await giveBack({ ...attempt, counters: [first, ...others] })
      return await blockedUntil(counters)
    },

    returnAttempt: giveBack,
  }
}

const forget = (key: string, now: number): Statement => sql`
  delete from login_attempts
  where key = ${key}
  and forget_at <= ${now}`

/** Counts a failure, unless the counter is blocked, or this attempt is not counted under `ifCounted`. */
const count = (
  { key, free, forgetMs, firstMs, mostMs }: Counter,
  { id, now, ifCounted = none }: { readonly id: string; readonly now: number; readonly ifCounted?: string },
): Statement => sql`
  insert into login_attempts (key, failures, blocked_until, forget_at, counted_by)
  select ${key}, 1, ${free > 1 ? 0 : now + firstMs}, ${now + forgetMs}, ${id}
  where ${ifCounted} = ''
  or exists (
    select 1
    from login_attempts
    where key = ${ifCounted}
    and counted_by = ${id}
  )
  on conflict (key) do update
  set failures = login_attempts.failures + 1,
    blocked_until = case
      when login_attempts.failures + 1 < ${free} then 0
      when login_attempts.failures + 1 >= ${free + Math.ceil(Math.log2(mostMs / firstMs))} then ${now + mostMs}
      else ${now} + (cast(${firstMs} as bigint) << cast(login_attempts.failures + 1 - ${free} as integer))
    end,
    forget_at = excluded.forget_at,
    counted_by = excluded.counted_by
  where login_attempts.blocked_until <= ${now}
  returning key`
