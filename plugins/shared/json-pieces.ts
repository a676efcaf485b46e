import { Buffer } from 'node:buffer'
import type { JsonDocument } from './json-document.ts'
import { stride } from './json-index.ts'

/** Part of a text that is put together. */
export type Piece = string | Uint8Array | Composite

/** What consists of such parts itself. */
export interface Composite {
  readonly pieces: readonly Piece[]
}

/** The text in UTF-8. */
export const join = (pieces: readonly Piece[]): Uint8Array => {
  const parts = partsOf(pieces)
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
}

/** The same, in parts. Long ones are not copied. */
export const partsOf = (pieces: readonly Piece[]): readonly Uint8Array[] => {
  const parts: Uint8Array[] = []
  let text = ''
  const take = (piece: Piece): void => {
    if (typeof piece === 'string') text += piece
    else if ('pieces' in piece) for (const inner of piece.pieces) take(inner)
    else {
      parts.push(Buffer.from(text), piece)
      text = ''
    }
  }
  for (const piece of pieces) take(piece)
  parts.push(Buffer.from(text))
  return parts
}

/**
 * The pieces of an object with changes: a value instead of the last one of a key, undefined for a key that goes, and members that are added. Everything between two changes is one piece.
 */
export const rewrite = (
  document: JsonDocument,
  place: number,
  changes: ReadonlyMap<string, Composite | undefined>,
  added: ReadonlyMap<string, Composite>,
): readonly Piece[] => {
  const pieces: Piece[] = []
  /** Of each changed key, the last one. */
  const last = new Map<string, number>()
  const changed = new Map<number, string>()
  const keys = document.keys(place)
  for (const key of keys) {
    const name = document.string(key)
    if (!changes.has(name)) continue
    changed.set(key, name)
    last.set(name, key)
  }
  let members = 0
  /** What stays as it is and is no piece yet: the brace, at first. */
  let from = document.start(place)
  let to = from + 1
  const cut = () => {
    if (from < to) pieces.push(document.piece(from, to))
    from = to = -1
  }
  for (const key of keys) {
    const name = changed.get(key)
    const value = name !== undefined && last.get(name) === key ? changes.get(name) : undefined
    if (name !== undefined && !value) {
      cut()
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
    cut()
    pieces.push(value)
    from = to = document.end(key + stride)
  }
  if (from !== -1) to = document.end(place) - 1
  cut()
  for (const [key, value] of added) pieces.push(`${members++ > 0 ? ',' : ''}${JSON.stringify(key)}:`, value)
  return [...pieces, '}']
}
