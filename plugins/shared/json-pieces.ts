import { Buffer } from 'node:buffer'
import type { JsonDocument } from './json-document.ts'
import { stride } from './json-index.ts'

/** A part of a JSON text: a text, UTF-8 bytes, or a composite of further parts. */
export type Piece = string | Uint8Array | Composite

/** A value that consists of pieces. */
export interface Composite {
  readonly pieces: readonly Piece[]
}

/** The complete text in UTF-8. */
export const join = (pieces: readonly Piece[]): Uint8Array => {
  const parts = partsOf(pieces)
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
}

/** The complete text in UTF-8, as consecutive parts. Pieces of bytes are not copied. */
export const partsOf = (pieces: readonly Piece[]): readonly Uint8Array[] => {
  const parts: Uint8Array[] = []
  let text = ''
  const collect = (piece: Piece): void => {
    if (typeof piece === 'string') text += piece
    else if ('pieces' in piece) for (const inner of piece.pieces) collect(inner)
    else {
      parts.push(Buffer.from(text), piece)
      text = ''
    }
  }
  for (const piece of pieces) collect(piece)
  parts.push(Buffer.from(text))
  return parts
}

/**
 * The pieces of an object after an edit. The text between two changes is one piece.
 *
 * @param changes new values of existing keys. Each replaces the last member with this key and removes the others; undefined removes all
 * @param added members to append
 */
export const rewrite = (
  document: JsonDocument,
  entry: number,
  changes: ReadonlyMap<string, Composite | undefined>,
  added: ReadonlyMap<string, Composite>,
): readonly Piece[] => {
  const pieces: Piece[] = []
  /** The entry of the last member with each changed key. */
  const lastEntries = new Map<string, number>()
  const changed = new Map<number, string>()
  const keys = document.keys(entry)
  for (const key of keys) {
    const name = document.string(key)
    if (!changes.has(name)) continue
    changed.set(key, name)
    lastEntries.set(name, key)
  }
  let members = 0
  /** Range of unchanged text that is not a piece yet: at first the opening brace. */
  let from = document.start(entry)
  let to = from + 1
  const flush = () => {
    if (from < to) pieces.push(document.piece(from, to))
    from = to = -1
  }
  for (const key of keys) {
    const name = changed.get(key)
    const value = name !== undefined && lastEntries.get(name) === key ? changes.get(name) : undefined
    if (name !== undefined && !value) {
      flush()
      continue
    }
    if (from === -1) {
      if (members > 0) pieces.push(',')
      from = document.start(key)
    }
    members++
    to = document.end(key + stride)
    if (!value) continue
    to = document.start(key + stride)
    flush()
    pieces.push(value)
    from = to = document.end(key + stride)
  }
  if (from !== -1) to = document.end(entry) - 1
  flush()
  for (const [key, value] of added) pieces.push(`${members++ > 0 ? ',' : ''}${JSON.stringify(key)}:`, value)
  return [...pieces, '}']
}
