import type { Row, Steps } from '../database/database.ts'
import { clause, limitTo, sql } from '../database/statement.ts'

/** Due rows of each kind that one search reads, the oldest first. */
const maxRows = 500
/** Users of whom one search reads the oldest due callback. */
const maxUsers = 200

/**
 * Searches for deliveries that are due, in the order of that time. It reads a bounded number of them.
 *
 * A user has few webhooks, but may have any number of callbacks. Where more of them are due than one search reads, they
 * may all be of a few users. So it also reads the oldest one of each of some users, and next time of those after them.
 */
export const createDueSearch = (): ((now: number) => Steps<readonly Row[]>) => {
  /** The last user of the search before, in the order of the database. */
  let after = ''

  function* ofNextUsers(now: number): Steps<readonly Row[]> {
    // From one user to the next in the index, without the rows between them.
    const found = yield sql`
      with recursive walked (user_id, place) as (
        select min(user_id), 1
        from callbacks
        where user_id > ${after}
        union all
        select (select min(callbacks.user_id) from callbacks where callbacks.user_id > walked.user_id), place + 1
        from walked
        where user_id is not null
        and place < ${maxUsers}
      )
      select 'callback' as kind, callbacks.id, walked.user_id as "user", callbacks.subject, callbacks.due_at as "dueAt"
      from walked
      left join callbacks on callbacks.id = (
        select due.id
        from callbacks due
        where due.user_id = walked.user_id
        and due.due_at <= ${now}
        and due.lease_until <= ${now}
        order by due.due_at
        limit 1
      )
      where walked.user_id is not null
      order by place`
    // Fewer: these were the last ones.
    after = found.length < maxUsers ? '' : String(found.at(-1)?.user)
    return found.filter(({ id }) => id !== undefined)
  }

  return function* (now) {
    const webhooks = yield clause`
      select 'webhook' as kind, id, user_id as "user", due_at as "dueAt"
      from webhooks
      where due_at <= ${now}
      and lease_until <= ${now}
      order by due_at
      ${limitTo(maxRows)}`
    const callbacks = yield clause`
      select 'callback' as kind, id, user_id as "user", subject, due_at as "dueAt"
      from callbacks
      where due_at <= ${now}
      and lease_until <= ${now}
      order by due_at
      ${limitTo(maxRows)}`
    const others = callbacks.length < maxRows ? [] : yield* ofNextUsers(now)
    const known = new Set(callbacks.map(({ id }) => id))
    return [...webhooks, ...callbacks, ...others.filter(({ id }) => !known.has(id ?? ''))].sort(
      (a, b) => Number(a.dueAt) - Number(b.dueAt),
    )
  }
}
