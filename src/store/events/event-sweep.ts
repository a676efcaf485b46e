import type { EventStore } from '../../../plugins/events/store.ts'
import { nextTurn } from '../../../plugins/shared/background/turns.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'

interface EventPlace {
  readonly at: number
  readonly sequence: number
}

const beginning: EventPlace = { at: Number.MIN_SAFE_INTEGER, sequence: 0 }

/**
 * Creates the function that deletes old events.
 *
 * The newest event of each user stays, however old it is. Users who are gone leave one each, so it goes on where it has
 * ended: a statement that began with the oldest ones each time would read all of these before it found one to delete.
 */
export const createEventSweep = (database: Database): EventStore['sweepEvents'] => {
  let place = beginning

  const endOfStep = async (from: EventPlace, before: number, max: number): Promise<EventPlace | undefined> => {
    const [end] = await database.query<EventPlace>(sql`
      select at, sequence
      from (
        select at, sequence
        from events
        where at < ${before}
        and (at, sequence) > (${from.at}, ${from.sequence})
        order by at, sequence
        limit ${max}
      ) examined
      order by at desc, sequence desc
      limit 1`)
    return end
  }

  return async (before, max) => {
    let deleted = 0
    for (; ; await nextTurn()) {
      const from = place
      const end = await endOfStep(from, before, max)
      // Next time from the beginning: what was a user's newest event may not be it any more.
      place = end ?? beginning
      if (!end) return deleted
      // The range of `at` is for PostgreSQL, in subqueries, so that it expects few rows: what PostgreSQL knows
      // of the values is out of date while rows are removed. It would read the whole table, and also for `exists`.
      const swept = await database.query(sql`
        delete from events
        where at >= (select cast(${from.at} as bigint))
        and at <= (select cast(${end.at} as bigint))
        and (at, sequence) > (${from.at}, ${from.sequence})
        and (at, sequence) <= (${end.at}, ${end.sequence})
        and (
          select newer.sequence
          from events newer
          where newer.user_id = events.user_id
          and newer.sequence > events.sequence
          order by newer.sequence
          limit 1
        ) is not null
        returning sequence`)
      deleted += swept.length
      if (deleted >= max) return deleted
    }
  }
}
