import { Buffer } from 'node:buffer'
import { nextTurn } from '../../plugins/shared/json.ts'
import type { StoredResponseStore } from '../../plugins/text-generation/objects/stored-response-store.ts'
import { type Database, type Statement, sql } from './database.ts'
import { GroupCommit } from './group-commit.ts'
import { findTurns, storedItems } from './stored-items.ts'
import { lockUser } from './user-locks.ts'

/** What a row costs beyond its text. With it, a user cannot fill the database with empty items. */
const rowBytes = 256

/** Responses that one search for old ones returns. */
const maxRemoved = 100

/** What one transaction deletes, if it is more than one response. */
const maxRemovedBytes = 2 ** 22

interface SizedResponse {
  readonly id: string
  readonly bytes: number
}

/** The responses that the gateway stores for callers of upstreams with chat completions only. An expired one stays until a sweep deletes it. */
export const createStoredResponseStore = (database: Database): StoredResponseStore => {
  const groupCommit = new GroupCommit(database)

  /** Removes responses, in transactions of a bounded size: SQLite visits each page of a long text that it deletes. Returns their number. */
  const remove = async (responses: readonly SizedResponse[]): Promise<number> => {
    let removed = 0
    for (let start = 0; start < responses.length; ) {
      if (start > 0) await nextTurn()
      let end = start
      for (let bytes = 0; end < responses.length && (end === start || bytes <= maxRemovedBytes); end++)
        bytes += responses[end + 1]?.bytes ?? 0
      const rows = await database.batch(
        responses.slice(start, end).map(
          ({ id }) => sql`
            delete from stored_responses
            where id = ${id}
            returning id`,
        ),
      )
      removed += rows.flat().length
      start = end
    }
    return removed
  }

  /** Removes the oldest responses of a user: those that lie in the last `maxBytes` of all that the user has stored, up to a response, are kept. */
  const removeOld = async (user: string, id: string, maxBytes: number): Promise<void> => {
    for (;;) {
      const old = await database.query<SizedResponse>(sql`
        select old.id, old.bytes
        from stored_responses old
        where old.user_id = ${user}
        and old.bytes_before < (
          select bytes_before + bytes
          from stored_responses
          where id = ${id}
        ) - ${maxBytes}
        order by old.bytes_before
        limit ${maxRemoved}`)
      await remove(old)
      if (old.length < maxRemoved) return
    }
  }

  return {
    async storeResponse({ id, user, previous, renews, response, items, createdAt, expiresAt }, maxUserBytes) {
      const itemBytes = items.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0)
      const bytes = itemBytes + Buffer.byteLength(response) + rowBytes * (items.length + 1)
      if (bytes > maxUserBytes) return false
      const statements = [
        lockUser(user),
        // `bytes_before` is the sum of all responses that the user has stored before this one: their order, and by it their age.
        sql`
          insert into stored_responses (
            id, user_id, previous_id, response, item_bytes, bytes, bytes_before, created_at, expires_at
          )
          values (
            ${id}, ${user}, ${previous}, ${response}, ${itemBytes}, ${bytes},
            coalesce((
              select bytes_before + bytes
              from stored_responses
              where user_id = ${user}
              order by bytes_before desc
              limit 1
            ), 0),
            ${createdAt}, ${expiresAt}
          )`,
        ...items.map(
          (item, position) => sql`
            insert into stored_items (response_id, position, id, user_id, is_output, json, created_at)
            values (${id}, ${position}, ${item.id}, ${user}, ${Number(item.isOutput)}, ${item.json}, ${createdAt})`,
        ),
        ...(previous !== undefined && renews ? [renew(user, previous, expiresAt)] : []),
      ]
      // One key for all of them: the group commit keeps their order.
      await groupCommit.write(statements.map((statement) => ({ row: user, statement })))
      // It is stored in any case: after a failure the next response of the user removes them.
      await removeOld(user, id, maxUserBytes).catch(() => {})
      return true
    },

    async findStoredResponse(user, id, now) {
      const [found] = await database.query<{ bytes: number }>(sql`
        select octet_length(response) as bytes
        from stored_responses
        where id = ${id}
        and user_id = ${user}
        and expires_at > ${now}`)
      return found
    },

    async readStoredResponse(user, id) {
      const [found] = await database.query<{ response: string }>(sql`
        select response
        from stored_responses
        where id = ${id}
        and user_id = ${user}`)
      return found?.response
    },

    findStoredConversation: findTurns(database),

    ...storedItems(database),

    async removeStoredResponse(user, id) {
      const removed = await database.query(sql`
        delete from stored_responses
        where id = ${id}
        and user_id = ${user}
        returning id`)
      return removed.length === 1
    },

    async sweepStoredResponses(now, max) {
      const expired = await database.query<SizedResponse>(sql`
        select id, bytes
        from stored_responses
        where expires_at <= ${now}
        limit ${max}`)
      return remove(expired)
    },
  }
}

/** Keeps the turns of a conversation longer. */
const renew = (user: string, id: string, until: number): Statement => sql`
  update stored_responses
  set expires_at = ${until}
  where user_id = ${user}
  and expires_at < ${until}
  and id in (
    with recursive turns (id, previous_id) as (
      select id, previous_id
      from stored_responses
      where id = ${id}
      union
      select earlier.id, earlier.previous_id
      from turns
      join stored_responses earlier on earlier.id = turns.previous_id
      where earlier.user_id = ${user}
    )
    select id
    from turns
  )`
