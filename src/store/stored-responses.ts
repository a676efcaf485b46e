import { Buffer } from 'node:buffer'
import type {
  StoredConversation,
  StoredItem,
  StoredResponseStore,
} from '../../plugins/text-generation/objects/stored-response-store.ts'
import { type Database, type Statement, sql } from './database.ts'
import { GroupCommit } from './group-commit.ts'
import { lockUser } from './user-locks.ts'

/** What a row costs beyond its text. With it, a user cannot fill the database with empty items. */
const rowBytes = 256

/** The responses that the gateway stores for callers of upstreams with chat completions only. An expired one stays until a sweep deletes it. */
export const createStoredResponseStore = (database: Database): StoredResponseStore => {
  const groupCommit = new GroupCommit(database)
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
        // The responses that lie in the last `maxUserBytes` of all that the user has stored are kept.
        sql`
          delete from stored_responses
          where user_id = ${user}
          and bytes_before < (
            select bytes_before + bytes
            from stored_responses
            where id = ${id}
          ) - ${maxUserBytes}`,
      ]
      // One key for all of them: the group commit keeps their order.
      await groupCommit.write(statements.map((statement) => ({ row: user, statement })))
      return true
    },

    async findStoredResponse(user, id, now) {
      const [first, ...output] = await database.query<{ json: string }>(sql`
        select response as json, -1 as position
        from stored_responses
        where id = ${id}
        and user_id = ${user}
        and expires_at > ${now}
        union all
        select stored_items.json, stored_items.position
        from stored_items
        join stored_responses on stored_responses.id = stored_items.response_id
        where stored_items.response_id = ${id}
        and stored_items.is_output = 1
        and stored_responses.user_id = ${user}
        and stored_responses.expires_at > ${now}
        order by position`)
      return first && { response: first.json, output: output.map(({ json }) => json) }
    },

    async findStoredConversation(user, id, now, { maxTurns, maxBytes }) {
      const rows = await database.query<ConversationRow>(sql`
        with recursive turns (id, previous_id, expires_at, turn, item_bytes) as (
          select id, previous_id, expires_at, 1, item_bytes
          from stored_responses
          where id = ${id}
          and user_id = ${user}
          and expires_at > ${now}
          union all
          select earlier.id, earlier.previous_id, earlier.expires_at, turns.turn + 1, turns.item_bytes + earlier.item_bytes
          from turns
          join stored_responses earlier on earlier.id = turns.previous_id
          where earlier.user_id = ${user}
          and earlier.expires_at > ${now}
          and turns.turn < ${maxTurns}
          and turns.item_bytes + earlier.item_bytes <= ${maxBytes}
        )
        select turns.turn, turns.previous_id as previous, turns.expires_at as "expiresAt", stored_items.id, stored_items.is_output as "isOutput",
          stored_items.json
        from turns
        left join stored_items on stored_items.response_id = turns.id
        order by turns.turn desc, stored_items.position`)
      const [first] = rows
      if (!first) return undefined
      const items = rows.flatMap(({ id, isOutput, json }) =>
        id === undefined ? [] : [{ id, isOutput: isOutput === 1, json }],
      ) as readonly StoredItem[]
      const ownItems = rows.filter(({ turn, id }) => turn === 1 && id !== undefined).length
      const { expiresAt } = first
      if (first.previous === undefined) return { items, ownItems, expiresAt }
      const [more] = await database.query(sql`
        select id
        from stored_responses
        where id = ${first.previous}
        and user_id = ${user}
        and expires_at > ${now}`)
      return { items, ownItems, expiresAt, cut: more ? 'too long' : 'removed' } satisfies StoredConversation
    },

    async findStoredItem(user, id, now) {
      const [found] = await database.query<{ json: string }>(sql`
        select stored_items.json
        from stored_items
        join stored_responses on stored_responses.id = stored_items.response_id
        where stored_items.user_id = ${user}
        and stored_items.id = ${id}
        and stored_responses.expires_at > ${now}
        order by stored_items.created_at desc
        limit 1`)
      return found?.json
    },

    async removeStoredResponse(user, id) {
      const removed = await database.query(sql`
        delete from stored_responses
        where id = ${id}
        and user_id = ${user}
        returning id`)
      return removed.length === 1
    },

    async sweepStoredResponses(now, max) {
      const swept = await database.query(sql`
        delete from stored_responses
        where id in (
          select id
          from stored_responses
          where expires_at <= ${now}
          limit ${max}
        )
        returning id`)
      return swept.length
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

/** An item of a conversation and its turn: 1 is the latest. A turn without items has one row without an item. */
interface ConversationRow {
  readonly turn: number
  readonly expiresAt: number
  /** Id of the response before that turn. */
  readonly previous?: string
  readonly id?: string
  readonly isOutput?: 0 | 1
  readonly json?: string
}
