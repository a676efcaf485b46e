import { nextTurn } from '../../../plugins/shared/json/json.ts'
import type {
  StoredConversation,
  StoredItemHead,
  StoredResponseStore,
} from '../../../plugins/text-generation/objects/stored/store.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { readPieces } from './stored-texts.ts'

/** Rows that one query returns. SQLite runs synchronously. */
const turnsPerQuery = 256
const itemsPerQuery = 512
/** Queries that run at once. */
const queriesAtOnce = 16

interface TurnRow {
  readonly id: string
  readonly previous?: string
  readonly expiresAt: number
  readonly bytes: number
}

interface HeadRow extends Omit<StoredItemHead, 'isOutput'> {
  readonly isOutput: 0 | 1
}

/** Finds the turns of a conversation, without their items. */
export const findTurns =
  (database: Database): StoredResponseStore['findStoredConversation'] =>
  async (user, id, now, { maxTurns, maxBytes }) => {
    const turns: TurnRow[] = []
    let bytes = 0
    const found = (cut?: StoredConversation['cut']): StoredConversation => ({
      turns: turns.map((turn) => ({ id: turn.id, bytes: turn.bytes })).reverse(),
      expiresAt: turns.at(-1)?.expiresAt ?? 0,
      ...(cut && { cut }),
    })
    for (let next: string | undefined = id; next !== undefined; ) {
      if (turns.length > 0) await nextTurn()
      // One more than asked for tells whether there are more.
      const max = Math.min(turnsPerQuery, maxTurns + 1 - turns.length)
      const rows: readonly TurnRow[] = await database.query<TurnRow>(sql`
        with recursive turns (id, previous_id, expires_at, item_bytes, turn) as (
          select id, previous_id, expires_at, item_bytes, 1
          from stored_responses
          where id = ${next}
          and user_id = ${user}
          and expires_at > ${now}
          union all
          select earlier.id, earlier.previous_id, earlier.expires_at, earlier.item_bytes, turns.turn + 1
          from turns
          join stored_responses earlier on earlier.id = turns.previous_id
          where earlier.user_id = ${user}
          and earlier.expires_at > ${now}
          and turns.turn < ${max}
        )
        select id, previous_id as previous, expires_at as "expiresAt", item_bytes as bytes
        from turns
        order by turn`)
      for (const row of rows) {
        bytes += row.bytes
        if (turns.length > 0 && (turns.length === maxTurns || bytes > maxBytes)) return found('too long')
        turns.push(row)
        next = row.previous
      }
      if (turns.length === 0) return undefined
      if (rows.length < max) return found(next === undefined ? undefined : 'removed')
    }
    return found()
  }

/**
 * Lists items without their JSON, and reads it. `octet_length` reads no text: both databases keep its length apart from
 * it.
 */
export const storedItems = (
  database: Database,
): Pick<StoredResponseStore, 'listStoredItems' | 'findStoredItem' | 'readStoredItems'> => {
  const headsAfter = (user: string, response: string, after: number) =>
    database.query<HeadRow>(sql`
      select response_id as response, position, id, is_output as "isOutput", coalesce(long_bytes, octet_length(json)) as bytes
      from stored_items
      where response_id = ${response}
      and user_id = ${user}
      and position > ${after}
      order by position
      limit ${itemsPerQuery}`)

  return {
    async listStoredItems(user, responses) {
      const heads: StoredItemHead[] = []
      for (let start = 0; start < responses.length; start += queriesAtOnce) {
        if (start > 0) await nextTurn()
        const some = responses.slice(start, start + queriesAtOnce)
        for (const first of await Promise.all(some.map((id) => headsAfter(user, id, -1)))) {
          let rows = first
          heads.push(...rows.map(headOf))
          for (let last = rows.at(-1); last && rows.length === itemsPerQuery; last = rows.at(-1)) {
            await nextTurn()
            rows = await headsAfter(user, last.response, last.position)
            heads.push(...rows.map(headOf))
          }
        }
      }
      return heads
    },

    async findStoredItem(user, id, now) {
      const [found] = await database.query<HeadRow>(sql`
        select stored_items.response_id as response, stored_items.position, stored_items.id,
          stored_items.is_output as "isOutput",
          coalesce(stored_items.long_bytes, octet_length(stored_items.json)) as bytes
        from stored_items
        join stored_responses on stored_responses.id = stored_items.response_id
        where stored_items.user_id = ${user}
        and stored_items.id = ${id}
        and stored_responses.user_id = ${user}
        and stored_responses.expires_at > ${now}
        order by stored_items.created_at desc
        limit 1`)
      return found && headOf(found)
    },

    async readStoredItems(user, items) {
      const ranges = rangesOf(items)
      const texts: string[] = []
      for (let start = 0; start < ranges.length; start += queriesAtOnce) {
        const some = ranges.slice(start, start + queriesAtOnce).map(({ response, from, to }) =>
          database.query<{ json: string }>(sql`
            select json
            from stored_items
            where response_id = ${response}
            and user_id = ${user}
            and position between ${from} and ${to}
            order by position`),
        )
        texts.push(...(await Promise.all(some)).flat().map(({ json }) => json))
      }
      if (texts.length !== items.length) return undefined
      const read: (readonly string[])[] = []
      for (const [nth, { response, position: item, bytes }] of items.entries()) {
        const text = texts[nth] ?? ''
        // No JSON is an empty text.
        const pieces = text === '' ? await readPieces(database, { response, item, bytes }) : [text]
        if (!pieces) return undefined
        read.push(pieces)
      }
      return read
    },
  }
}

const headOf = (row: HeadRow): StoredItemHead => ({ ...row, isOutput: row.isOutput === 1 })

interface Range {
  readonly response: string
  readonly from: number
  to: number
}

/** Runs of items that follow each other. */
const rangesOf = (items: readonly StoredItemHead[]): readonly Range[] => {
  const ranges: Range[] = []
  for (const { response, position } of items) {
    const last = ranges.at(-1)
    if (last?.response === response && last.to + 1 === position) last.to = position
    else ranges.push({ response, from: position, to: position })
  }
  return ranges
}
