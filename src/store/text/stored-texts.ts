import { Buffer } from 'node:buffer'
import { characterBoundary, nextTurn, slicesOf } from '../../../plugins/shared/json/json.ts'
import { decodeUtf8 } from '../../../plugins/shared/text.ts'
import type { StoredText } from '../../../plugins/text-generation/objects/stored/store.ts'
import type { Database } from '../database/database.ts'
import { type Statement, sql } from '../database/statement.ts'

/**
 * Length of a text that a row holds. A longer one is in pieces of at most this length. In UTF-16 code units; SQLite
 * takes about 4 ms for it.
 */
export const pieceLength = 2 ** 18

/** The place of the response object in `stored_pieces`; the places of the items are their positions. */
export const responseItem = -1

export const bytesOf = (text: StoredText): number =>
  typeof text === 'string' ? Buffer.byteLength(text) : text.reduce((sum, part) => sum + part.length, 0)

/** A text that is short enough for its row. Undefined for a longer one. */
export const shortText = (text: StoredText): string | undefined => {
  if (typeof text === 'string') return text.length <= pieceLength ? text : undefined
  return bytesOf(text) <= pieceLength ? text.map(decodeUtf8).join('') : undefined
}

/** The pieces of a long text. */
export function* piecesOf(text: StoredText): Generator<string> {
  let piece = ''
  for (const part of typeof text === 'string' ? [text] : text) {
    for (const slice of typeof part === 'string' ? slicesOf(part, pieceLength) : decoded(part)) {
      if (piece.length + slice.length > pieceLength) {
        yield piece
        piece = ''
      }
      piece += slice
    }
  }
  yield piece
}

function* decoded(bytes: Uint8Array): Generator<string> {
  for (let start = 0; start < bytes.length; ) {
    const end = characterBoundary(bytes, start + pieceLength)
    yield decodeUtf8(bytes.subarray(start, end))
    start = end
  }
}

export const insertPiece = (response: string, item: number, position: number, piece: string): Statement => sql`
  insert into stored_pieces (response_id, item, position, piece)
  values (${response}, ${item}, ${position}, ${piece})`

/** Reads a long text, one piece in a turn of the event loop. Undefined: its response has been removed. */
export const readPieces = async (
  database: Database,
  { response, item, bytes }: { readonly response: string; readonly item: number; readonly bytes: number },
): Promise<readonly string[] | undefined> => {
  const pieces: string[] = []
  for (let left = bytes; left > 0; ) {
    await nextTurn()
    const [found] = await database.query<{ piece: string }>(sql`
      select piece
      from stored_pieces
      where response_id = ${response}
      and item = ${item}
      and position = ${pieces.length}`)
    if (!found) return undefined
    pieces.push(found.piece)
    left -= Buffer.byteLength(found.piece)
  }
  return pieces
}
