import { Buffer } from 'node:buffer'
import { bytesPerTurn, nextTurn, type Piece } from '../../../shared/json/json.ts'
import { TextProblem } from '../../protocol/problem.ts'
import type { StoredItemHead, StoredResponseStore } from './store.ts'

/** Items that one call of the store reads. */
const itemsPerCall = 256

/** Items of this length are kept as bytes: a composed text encodes strings in one step. */
const shortItemBytes = 4_096

/** Rejects with TextProblem 500 when the store fails. */
export const readStored = <Result>(found: Promise<Result>): Promise<Result> =>
  found.catch((cause: unknown) => {
    throw new TextProblem(500, 'stored responses could not be read', { cause })
  })

/**
 * Reads the JSON of items, about `bytesPerTurn` in one turn of the event loop. Undefined: one of them has been removed.
 */
export const readItems = async (
  store: Pick<StoredResponseStore, 'readStoredItems'>,
  user: string,
  items: readonly StoredItemHead[],
): Promise<readonly Piece[] | undefined> => {
  const pieces: Piece[] = []
  for (let start = 0; start < items.length; ) {
    if (start > 0) await nextTurn()
    const end = endOfCall(items, start)
    const texts = await readStored(store.readStoredItems(user, items.slice(start, end)))
    if (!texts) return undefined
    pieces.push(...texts.map(pieceOf))
    start = end
  }
  return pieces
}

const pieceOf = (texts: readonly string[]): Piece => {
  const [first = '', ...more] = texts
  return more.length === 0 && first.length < shortItemBytes ? first : { pieces: texts.map((text) => Buffer.from(text)) }
}

/** The end of the items that the next call reads: at least one. */
const endOfCall = (items: readonly StoredItemHead[], start: number): number => {
  let bytes = items[start]?.bytes ?? 0
  let end = start + 1
  while (end < items.length && end - start < itemsPerCall) {
    bytes += items[end]?.bytes ?? 0
    if (bytes > bytesPerTurn) break
    end++
  }
  return end
}

/** The latest reading of each user. */
const readings = new Map<string, Promise<unknown>>()

/**
 * Runs the readings of a user that take several turns one after the other, so that their number does not count against
 * other users.
 */
export const readAlone = async <Result>(user: string, bytes: number, read: () => Promise<Result>): Promise<Result> => {
  if (bytes <= bytesPerTurn) return read()
  const reading = Promise.resolve(readings.get(user)).then(nextTurn).then(read)
  const ended = reading.then(
    () => {},
    () => {},
  )
  readings.set(user, ended)
  try {
    return await reading
  } finally {
    if (readings.get(user) === ended) readings.delete(user)
  }
}
