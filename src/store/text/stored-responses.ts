import { nextTurn } from '../../../plugins/shared/json/json.ts'
import type { StoredResponseStore } from '../../../plugins/text-generation/objects/stored/store.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { findTurns, storedItems } from './stored-items.ts'
import { readPieces, responseItem } from './stored-texts.ts'
import { sizeOfResponse, storedWrites } from './stored-writes.ts'

/** Responses that one search for old ones returns. */
const maxRemoved = 100

/** What one transaction deletes, if it is more than one response. */
const maxRemovedBytes = 2 ** 22

interface SizedResponse {
  readonly id: string
  readonly bytes: number
}

/**
 * The responses that the gateway stores for callers of upstreams with chat completions only. An expired one stays until
 * a sweep deletes it.
 */
export const createStoredResponseStore = (database: Database): StoredResponseStore => {
  const write = storedWrites(database)

  /**
   * Removes responses, in transactions of a bounded size: SQLite visits each page of a long text that it deletes.
   * Returns their number.
   */
  const remove = async (responses: readonly SizedResponse[]): Promise<number> => {
    let removed = 0
    for (let start = 0; start < responses.length; ) {
      if (start > 0) await nextTurn()
      let end = start + 1
      let bytes = responses[start]?.bytes ?? 0
      for (; end < responses.length; end++) {
        bytes += responses[end]?.bytes ?? 0
        if (bytes > maxRemovedBytes) break
      }
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

  /**
   * Removes the oldest responses of a user: those that lie in the last `maxBytes` of all that the user has stored, up
   * to a response, are kept.
   */
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
    async storeResponse(response, maxUserBytes) {
      const sized = sizeOfResponse(response)
      if (sized.bytes > maxUserBytes) return false
      await write(response, sized)
      // It is stored in any case: after a failure the next response of the user removes them.
      await removeOld(response.user, response.id, maxUserBytes).catch(() => {})
      return true
    },

    async findStoredResponse(user, id, now) {
      const [found] = await database.query<{ bytes: number }>(sql`
        select coalesce(long_bytes, octet_length(response)) as bytes
        from stored_responses
        where id = ${id}
        and user_id = ${user}
        and expires_at > ${now}`)
      return found
    },

    async readStoredResponse(user, id) {
      const [found] = await database.query<{ response: string; bytes?: number }>(sql`
        select response, long_bytes as bytes
        from stored_responses
        where id = ${id}
        and user_id = ${user}`)
      if (found?.bytes === undefined) return found && [found.response]
      return readPieces(database, { response: id, item: responseItem, bytes: found.bytes })
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
