import type { Claim, ClaimStore } from '../../../plugins/ownership/store.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'

/** Claims whose outcome is to be found out, when they are due. */
export const dueClaims = (database: Database): Pick<ClaimStore, 'lease' | 'nextDue'> => ({
  async lease(now, until) {
    const due = await database.query<{ id: string }>(sql`
      select id
      from groups
      where state <> 'owned'
      and due_at <= ${now}
      order by created_at, id
      limit 100`)
    // One statement per row, always in the same order: two processes that lease at once cannot deadlock.
    const leased = await database.batch(
      due.map(
        ({ id }) => sql`
          update groups
          set due_at = ${until}
          where id = ${id}
          and state <> 'owned'
          and due_at <= ${now}
          returning id, user_id as "user", type, name, description, renames, account, state,
            created_at as "createdAt", due_at as "dueAt", ended_at as "endedAt"`,
      ),
    )
    return leased.flat() as unknown as Claim[]
  },

  async nextDue() {
    const [row] = await database.query<{ due?: number }>(sql`
      select min(due_at) as due
      from groups
      where state <> 'owned'`)
    return row?.due
  },
})
