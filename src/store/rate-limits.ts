import {
  maxBlockMs,
  maxServedAgeMs,
  type PermitRequest,
  type RateLimitDelay,
  type RateLimitPermit,
  type RateLimitStore,
  reservationMs,
} from '../../plugins/upstream-proxy/rate-limit/store.ts'
import type { Database } from './database/database.ts'
import { type Statement, sql } from './database/statement.ts'

/**
 * Rate limit slots of the upstream's actions (`Place`), shared by all processes on one database.
 *
 * A slot is free when both `free_at` and `lease_until` have passed; `free_at` decreases only in `unblock`. The
 * statement that takes a slot checks that again, so of two concurrent statements that found the same slot, the second
 * does not take it.
 */
export const createRateLimitStore = (database: Database): RateLimitStore => {
  let sweptAt = 0

  /** Deletes the rows of users who were served so long ago that their order no longer matters. */
  const deleteOldTurns = async (now: number): Promise<void> => {
    // The difference may be negative, after a clock was ahead.
    if (Math.abs(now - sweptAt) < maxServedAgeMs) return
    sweptAt = now
    await database.query(sql`
      delete from upstream_turns
      where served_at < ${now - maxServedAgeMs}
      and waits_until < ${now - maxServedAgeMs}`)
  }

  const attempt = async (
    wanted: PermitRequest,
  ): Promise<{
    readonly taken: RateLimitPermit | RateLimitDelay
    readonly missing: boolean
    readonly lastAt: number
  }> => {
    const [, taken, , next] = await database.batch([
      markWaiting(wanted),
      takeInTurn(wanted),
      markServed(wanted),
      findNext(wanted),
    ])
    const [place] = taken ?? []
    if (place) return { taken: slotOf(wanted, Number(place.place)), missing: false, lastAt: 0 }
    const [found] = next ?? []
    return {
      taken: { nextAt: Number(found?.next_at ?? wanted.now), servedAt: Number(found?.served_at ?? 0) },
      missing: Number(found?.rows ?? 0) < wanted.count,
      lastAt: Number(found?.last_at ?? 0),
    }
  }

  return {
    async take(wanted) {
      const { action, count, user, now, leaseUntil } = wanted
      const [taken] = await database.query<{ place: number }>(sql`
        update upstream_places
        set lease_until = ${leaseUntil}, taken_by = ${user}
        where action = ${action}
        and place = (
          select place
          from upstream_places
          where action = ${action}
          and place < ${count}
          and free_at <= ${now}
          and lease_until <= ${now}
          order by free_at, place
          limit 1
        )
        and free_at <= ${now}
        and lease_until <= ${now}
        and not exists (
          select 1
          from upstream_turns
          where action = ${action}
          and waits_until > ${now}
        )
        returning place`)
      return taken && slotOf(wanted, taken.place)
    },

    async takeInTurn(wanted) {
      await deleteOldTurns(wanted.now)
      const first = await attempt(wanted)
      const blocked = first.lastAt > wanted.now + maxBlockMs(wanted)
      if (!first.missing && !blocked) return first.taken
      if (blocked) await database.query(unblock(wanted))
      if (first.missing) await database.query(addMissingSlots(wanted))
      return (await attempt(wanted)).taken
    },

    async release({ action, number, leaseUntil }, at, spreadMs = 0) {
      await database.query(sql`
        update upstream_places
        set lease_until = 0, free_at = (
          select case when max(other.free_at) + ${spreadMs} > ${at} then max(other.free_at) + ${spreadMs} else ${at} end
          from upstream_places other
          where other.action = ${action}
          and (other.place = ${number} or ${spreadMs} > 0)
        )
        where action = ${action}
        and place = ${number}
        and lease_until = ${leaseUntil}`)
    },

    async delayUntil(action, until, spreadMs) {
      await database.query(sql`
        update upstream_places
        set free_at = cast(${until} as bigint) + place * ${spreadMs}
        where action = ${action}
        and free_at < cast(${until} as bigint) + place * ${spreadMs}`)
    },
  }
}

const slotOf = ({ action, leaseUntil }: PermitRequest, number: number): RateLimitPermit => ({
  action,
  number,
  leaseUntil,
})

/**
 * Creates slots at the first use of an action, or after its limit was raised. New slots are free no sooner than the
 * first existing one.
 */
const addMissingSlots = ({ action, count }: PermitRequest): Statement => sql`
  with recursive numbers (place) as (
    select 0
    union all
    select place + 1
    from numbers
    where place + 1 < ${count}
  )
  insert into upstream_places (action, place, free_at, lease_until)
  select ${action}, place, coalesce((select min(free_at) from upstream_places where action = ${action}), 0), 0
  from numbers
  where true
  on conflict do nothing`

/** Frees the slots that a clock blocked that was ahead. */
const unblock = (wanted: PermitRequest): Statement => sql`
  update upstream_places
  set free_at = ${wanted.now}
  where action = ${wanted.action}
  and free_at > ${wanted.now + maxBlockMs(wanted)}`

/** Marks the user as waiting. Writes only if the mark would expire before the user's next attempt. */
const markWaiting = ({ action, user, now, periodMs }: PermitRequest): Statement => sql`
  insert into upstream_turns (action, user_id, served_at, waits_until)
  values (${action}, ${user}, 0, ${now + 2 * periodMs})
  on conflict (action, user_id) do update
  set waits_until = excluded.waits_until
  where upstream_turns.waits_until < ${now + periodMs}`

const takeInTurn = ({ action, count, user, now, leaseUntil }: PermitRequest): Statement => sql`
  update upstream_places
  set lease_until = ${leaseUntil}, taken_by = ${user}
  where action = ${action}
  and place = (
    select place
    from upstream_places
    where action = ${action}
    and place < ${count}
    and free_at <= ${now}
    and lease_until <= ${now}
    order by free_at, place
    limit 1
  )
  and free_at <= ${now}
  and lease_until <= ${now}
  and (
    free_at <= ${now - reservationMs}
    and lease_until <= ${now - reservationMs}
    or not exists (
      select 1
      from upstream_turns rival
      join upstream_turns own
      on own.action = rival.action
      and own.user_id = ${user}
      where rival.action = ${action}
      and rival.user_id <> ${user}
      and rival.waits_until > ${now}
      and rival.served_at < own.served_at
    )
  )
  returning place`

/** Records that the user was served, if the user has just taken a slot. */
const markServed = ({ action, user, now, leaseUntil }: PermitRequest): Statement => sql`
  update upstream_turns
  set served_at = ${now}, waits_until = 0
  where action = ${action}
  and user_id = ${user}
  and exists (
    select 1
    from upstream_places
    where upstream_places.action = ${action}
    and upstream_places.taken_by = ${user}
    and upstream_places.lease_until = ${leaseUntil}
  )`

/**
 * Finds when the next slot is free. A slot in use is free after a period at the soonest, or when its lease has ended.
 */
const findNext = ({ action, count, user, now, periodMs }: PermitRequest): Statement => sql`
  select
    count(*) as rows,
    max(free_at) as last_at,
    min(
      case
        when lease_until > ${now + periodMs} then case when free_at > ${now + periodMs} then free_at else ${now + periodMs} end
        when lease_until > ${now} then case when free_at > lease_until then free_at else lease_until end
        when free_at > ${now} then free_at
        else free_at + ${reservationMs}
      end
    ) as next_at,
    (
      select served_at
      from upstream_turns
      where action = ${action}
      and user_id = ${user}
    ) as served_at
  from upstream_places
  where action = ${action}
  and place < ${count}`

/** The use of the rate limit of one action. */
export interface RateLimitUse {
  readonly action: string
  /** Calls that run, or have ended within the last period: at most as many as the limit allows in one. */
  readonly calls: number
  /** Users whose calls wait. */
  readonly waiting: number
}

/** The use of the upstream's rate limits by all processes, for operators. */
export interface RateLimitRecords {
  /** The use of each of the actions. */
  rateLimitUse(actions: readonly string[], now: number): Promise<readonly RateLimitUse[]>
}

export const rateLimitUse = (database: Database): RateLimitRecords => ({
  rateLimitUse: (actions, now) =>
    Promise.all(
      actions.map(async (action) => {
        const [found] = await database.query<Pick<RateLimitUse, 'calls' | 'waiting'>>(sql`
          select (
            select count(*)
            from upstream_places
            where action = ${action}
            and (free_at > ${now} or lease_until > ${now})
          ) as calls, (
            select count(*)
            from upstream_turns
            where action = ${action}
            and waits_until > ${now}
          ) as waiting`)
        return { action, calls: Number(found?.calls), waiting: Number(found?.waiting) }
      }),
    ),
})
