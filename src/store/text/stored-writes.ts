import { nextTurn } from '../../../plugins/shared/json/json.ts'
import type { StoredItem, StoredResponse } from '../../../plugins/text-generation/objects/stored/store.ts'
import type { Database } from '../database/database.ts'
import { StoreError } from '../database/error.ts'
import { GroupCommit } from '../database/group-commit.ts'
import { type Statement, sql } from '../database/statement.ts'
import { lockUser } from '../database/user-locks.ts'
import { bytesOf, insertPiece, pieceLength, piecesOf, responseItem, shortText } from './stored-texts.ts'

/** What a row costs beyond its text. With it, a user cannot fill the database with empty items. */
const rowBytes = 256

/** Length of the texts that one transaction of a large response writes. */
const transactionLength = 2 * pieceLength

/**
 * Milliseconds after which a response that no process has finished is swept like an expired one. Longer than any write.
 */
const unfinishedMs = 3_600_000

/** The user of a response that is not complete yet. No user has an empty id. */
const unfinished = ''

interface Sized {
  readonly itemBytes: number
  /** Of all texts, and what the rows cost. */
  readonly bytes: number
}

export const sizeOfResponse = ({ response, items }: StoredResponse): Sized => {
  const itemBytes = items.reduce((sum, { json }) => sum + bytesOf(json), 0)
  return { itemBytes, bytes: itemBytes + bytesOf(response) + rowBytes * (items.length + 1) }
}

/**
 * Writes a response: a small one in one transaction, a large one in several, between which the event loop turns. One
 * transaction for all would block SQLite for hundreds of milliseconds. The last one gives the response to its user.
 */
export const storedWrites = (database: Database) => {
  const groupCommit = new GroupCommit(database)

  /** One key for all statements: the group commit keeps their order. */
  const commit = (user: string, statements: readonly Statement[]) =>
    groupCommit.write(statements.map((statement) => ({ row: user, statement })))

  const writeInSteps = async (response: StoredResponse, sized: Sized): Promise<void> => {
    const { id, user, createdAt, expiresAt } = response
    await database.query(
      insertResponse(response, sized, { user: unfinished, bytesBefore: 0, expiresAt: createdAt + unfinishedMs }),
    )
    try {
      for (const statements of transactionsOf(response)) {
        await nextTurn()
        await database.batch(statements)
      }
      const rows = await commit(user, [lockUser(user), finish(id, user, expiresAt), ...renewal(response)])
      if (rows[1]?.length !== 1) throw new StoreError('the response was removed while it was written')
    } catch (error) {
      // The sweep removes what this leaves.
      await database.query(dropUnfinished(id)).catch(() => {})
      throw error
    }
  }

  return async (response: StoredResponse, sized: Sized): Promise<void> => {
    // Each text of a small one fits in its row.
    if (sized.bytes > pieceLength) return writeInSteps(response, sized)
    const { user, expiresAt } = response
    const row = insertResponse(response, sized, { user, bytesBefore: undefined, expiresAt })
    const items = response.items.map((item, position) => insertItem(response, item, position, shortText(item.json)))
    await commit(user, [lockUser(user), row, ...items, ...renewal(response)])
  }
}

/** The statements that write the texts of a response, in groups of bounded size. */
function* transactionsOf(response: StoredResponse): Generator<readonly Statement[]> {
  let statements: Statement[] = []
  let length = 0
  for (const [statement, added] of writesOf(response)) {
    if (length + added > transactionLength) {
      yield statements
      statements = []
      length = 0
    }
    statements.push(statement)
    length += added
  }
  yield statements
}

/** The rows of the items and the pieces of long texts, and what each takes of a transaction. */
function* writesOf(response: StoredResponse): Generator<readonly [Statement, number]> {
  const { id, items } = response
  if (shortText(response.response) === undefined) yield* pieceWrites(id, responseItem, response.response)
  for (const [position, item] of items.entries()) {
    const text = shortText(item.json)
    // A thousand rows, or the text: both take some milliseconds.
    yield [insertItem(response, item, position, text), 2 * rowBytes + (text?.length ?? 0)]
    if (text === undefined) yield* pieceWrites(id, position, item.json)
  }
}

function* pieceWrites(id: string, item: number, text: StoredItem['json']): Generator<readonly [Statement, number]> {
  let position = 0
  for (const piece of piecesOf(text)) yield [insertPiece(id, item, position++, piece), piece.length]
}

/**
 * @param bytesBefore default: the sum of all responses that the user has stored before this one: their order, and by it
 * their age
 */
const insertResponse = (
  { id, previous, response, createdAt }: StoredResponse,
  { itemBytes, bytes }: Sized,
  {
    user,
    bytesBefore,
    expiresAt,
  }: { readonly user: string; readonly bytesBefore: number | undefined; readonly expiresAt: number },
): Statement => {
  const text = shortText(response)
  return sql`
    insert into stored_responses (
      id, user_id, previous_id, response, long_bytes, item_bytes, bytes, bytes_before, created_at, expires_at
    )
    values (
      ${id}, ${user}, ${previous}, ${text ?? ''}, ${text === undefined ? bytesOf(response) : undefined}, ${itemBytes},
      ${bytes},
      coalesce(${bytesBefore}, (
        select bytes_before + bytes
        from stored_responses
        where user_id = ${user}
        order by bytes_before desc
        limit 1
      ), 0),
      ${createdAt}, ${expiresAt}
    )`
}

/** @param text undefined: it is in pieces */
const insertItem = (
  { id, user, createdAt }: StoredResponse,
  item: StoredItem,
  position: number,
  text: string | undefined,
): Statement => sql`
  insert into stored_items (response_id, position, id, user_id, is_output, json, long_bytes, created_at)
  values (
    ${id}, ${position}, ${item.id}, ${user}, ${Number(item.isOutput)}, ${text ?? ''},
    ${text === undefined ? bytesOf(item.json) : undefined}, ${createdAt}
  )`

/** Gives a response whose texts are written to its user, as his latest. */
const finish = (id: string, user: string, expiresAt: number): Statement => sql`
  update stored_responses
  set user_id = ${user},
    expires_at = ${expiresAt},
    bytes_before = coalesce((
      select last.bytes_before + last.bytes
      from stored_responses last
      where last.user_id = ${user}
      order by last.bytes_before desc
      limit 1
    ), 0)
  where id = ${id}
  and user_id = ${unfinished}
  returning id`

const dropUnfinished = (id: string): Statement => sql`
  delete from stored_responses
  where id = ${id}
  and user_id = ${unfinished}`

/** Keeps the earlier turns of its conversation as long as the response. */
const renewal = ({ user, previous, renews, expiresAt }: StoredResponse): readonly Statement[] =>
  previous === undefined || !renews
    ? []
    : [
        sql`
          update stored_responses
          set expires_at = ${expiresAt}
          where user_id = ${user}
          and expires_at < ${expiresAt}
          and id in (
            with recursive turns (id, previous_id) as (
              select id, previous_id
              from stored_responses
              where id = ${previous}
              union
              select earlier.id, earlier.previous_id
              from turns
              join stored_responses earlier on earlier.id = turns.previous_id
              where earlier.user_id = ${user}
            )
            select id
            from turns
          )`,
      ]
