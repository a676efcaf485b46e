import {
  courtesyMs,
  type Place,
  type Places,
  turnMemoryMs,
  type Wait,
  type Wanted,
} from '../../plugins/upstream-proxy/places.ts'
import { type Database, type Statement, sql } from './database.ts'

/**
 * Places under the upstream's limits, for all processes on one database. A place is free when both `free_at` and `lease_until` have passed; `free_at`
 * never goes back. A statement that takes one repeats what it found: of two that found the same place, the second finds it taken.
 */
export const rateLimits = (database: Database): Places => {
  let forgotAt = 0

  /** Turns of users who were served so long ago that it makes no difference. */
  const forget = async (now: number): Promise<void> => {
    if (now < forgotAt + turnMemoryMs) return
    forgotAt = now
    await database.query(sql`
      delete from upstream_turns
      where served_at < ${now - turnMemoryMs}
      and waits_until < ${now - turnMemoryMs}`)
  }

  const attempt = async (wanted: Wanted): Promise<{ readonly taken: Place | Wait; readonly missing: boolean }> => {
    const [, taken, , looked] = await database.batch([mark(wanted), takeInTurn(wanted), stamp(wanted), look(wanted)])
    const [place] = taken ?? []
    if (place) return { taken: placeOf(wanted, Number(place.place)), missing: false }
    const [found] = looked ?? []
    return {
      taken: { nextAt: Number(found?.next_at ?? wanted.now), servedAt: Number(found?.served_at ?? 0) },
      missing: Number(found?.rows ?? 0) < wanted.count,
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
      return taken && placeOf(wanted, taken.place)
    },

    async takeInTurn(wanted) {
      await forget(wanted.now)
      const first = await attempt(wanted)
      if (!first.missing) return first.taken
      await database.query(addMissing(wanted))
      return (await attempt(wanted)).taken
    },

    async free({ action, number, leaseUntil }, at, spreadMs = 0) {
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

    async slow(action, until, spreadMs) {
      await database.query(sql`
        update upstream_places
        set free_at = cast(${until} as bigint) + place * ${spreadMs}
        where action = ${action}
        and free_at < cast(${until} as bigint) + place * ${spreadMs}`)
    },
  }
}

const placeOf = ({ action, leaseUntil }: Wanted, number: number): Place => ({ action, number, leaseUntil })

/** The first use of an action, or of a limit that was raised. New places obey what slows the others down. */
const addMissing = ({ action, count }: Wanted): Statement => sql`
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

/** Says that the user waits. Written anew only when it would not last until the user asks again. */
const mark = ({ action, user, now, periodMs }: Wanted): Statement => sql`
  insert into upstream_turns (action, user_id, served_at, waits_until)
  values (${action}, ${user}, 0, ${now + 2 * periodMs})
  on conflict (action, user_id) do update
  set waits_until = excluded.waits_until
  where upstream_turns.waits_until < ${now + periodMs}`

const takeInTurn = ({ action, count, user, now, leaseUntil }: Wanted): Statement => sql`
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
    free_at <= ${now - courtesyMs}
    and lease_until <= ${now - courtesyMs}
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

/** Notes that the user was served, if that is so. */
const stamp = ({ action, user, now, leaseUntil }: Wanted): Statement => sql`
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

/** What is in use now is free a period from now at the soonest, or when its lease has ended. */
const look = ({ action, count, user, now, periodMs }: Wanted): Statement => sql`
  select
    count(*) as rows,
    min(
      case
        when lease_until > ${now + periodMs} then case when free_at > ${now + periodMs} then free_at else ${now + periodMs} end
        when lease_until > ${now} then case when free_at > lease_until then free_at else lease_until end
        when free_at > ${now} then free_at
        else free_at + ${courtesyMs}
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
