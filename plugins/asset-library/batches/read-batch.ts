import { nextTurn, Pace } from '../../shared/background/turns.ts'
import { readBytes } from '../../shared/http/body/body.ts'
import { withoutByteOrderMark } from '../../shared/http/body/byte-order-mark.ts'
import { type Json, JsonError, readJson, toJson } from '../../shared/json/json.ts'
import { Problem } from '../../shared/problem.ts'
import { ownershipMembersOf, rejectAllDuplicateKeys } from '../schema/duplicate-keys.ts'
import type { AssetBatchItem } from './store.ts'

/** Items of one batch. */
export const maxItems = 1_000
/** Bytes of an item, as it is sent. */
const maxItemBytes = 16_384
/** Values of an item. */
const maxItemValues = 200
/** Items that are parsed in a turn of the event loop. */
const itemsPerTurn = 100

export type NewItem = Pick<AssetBatchItem, 'name' | 'body'>

/**
 * Reads a batch: a JSON object in each line (https://jsonlines.org), with the fields of an asset but the group. Empty
 * lines are left out.
 *
 * @param nameOf the name of an item that has none, by its position
 * @throws Problem 400 that names the line, and 413 above `maxBytes`
 */
export const readBatch = async (
  request: Request,
  maxBytes: number,
  nameOf: (position: number) => string,
): Promise<{ readonly items: readonly NewItem[]; readonly bytes: Uint8Array }> => {
  const bytes = await readBytes(request, maxBytes)
  if (!bytes) throw new Problem(413, 'request body is too large')
  const items: NewItem[] = []
  const lineOfName = new Map<string, number>()
  const pace = new Pace(itemsPerTurn)
  let number = 0
  // RFC 8259, section 8.1 lets a reader ignore the mark.
  for (const line of linesOf(withoutByteOrderMark(bytes))) {
    number++
    if (isBlank(line)) continue
    if (items.length === maxItems) throw new Problem(400, `a batch has at most ${maxItems} items`)
    if (pace.isDue()) await nextTurn()
    const item = readItem(line, number, nameOf(items.length + 1))
    const earlier = lineOfName.get(item.name)
    if (earlier !== undefined) throw inLine(number, `has the Name of line ${earlier}; give each item its own`)
    lineOfName.set(item.name, number)
    items.push(item)
  }
  if (items.length === 0) throw new Problem(400, 'the batch has no items')
  return { items, bytes }
}

function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(lineFeed, from)
    yield bytes.subarray(from, end < 0 ? bytes.length : end)
    if (end < 0) return
    from = end + 1
  }
}

const lineFeed = 0x0a
const blanks: ReadonlySet<number> = new Set([0x09, 0x0d, 0x20])
const isBlank = (line: Uint8Array): boolean => line.every((byte) => blanks.has(byte))

const readItem = (line: Uint8Array, number: number, defaultName: string): NewItem => {
  if (line.length > maxItemBytes) throw inLine(number, `has more than ${maxItemBytes} bytes`)
  const json = parse(line, number)
  if (!json.isObject) throw inLine(number, 'must be a JSON object')
  try {
    rejectAllDuplicateKeys(json)
  } catch (error) {
    if (error instanceof Problem) throw inLine(number, `is not valid: ${error.message}`)
    throw error
  }
  const group = ownershipMembersOf(json).find(({ meant }) => meant.startsWith('group'))
  if (group) throw inLine(number, `must not have ${group.key}: a batch has one group`)
  const name = json.get('Name')
  const text = name && !name.is('null') ? name.string() : defaultName
  if (!text) throw inLine(number, 'must have a Name of one character or more, or none')
  if (!isStorableName(text)) throw inLine(number, 'must have a Name that is valid Unicode')
  return { name: text, body: json.with('Name', toJson(text)).raw }
}

const parse = (line: Uint8Array, number: number): Json => {
  try {
    return readJson(line, { maxValues: maxItemValues, maxKeyBytes: maxItemBytes })
  } catch (error) {
    if (error instanceof JsonError) throw inLine(number, `is ${error.message}`)
    throw error
  }
}

/** Whether databases and JSON keep a name as it is. */
export const isStorableName = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

const inLine = (number: number, what: string) => new Problem(400, `line ${number} ${what}`)
