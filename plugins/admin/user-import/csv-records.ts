import { withoutByteOrderMark } from '../../shared/http/body/byte-order-mark.ts'
import { decodeValidUtf8 } from '../../shared/text.ts'

/** A line of a CSV file: its fields by the names of their columns, or why it has none. */
export type CsvRecord = { readonly line: number } & (
  | { readonly fields: Readonly<Record<string, string>> }
  | { readonly problem: string }
)

/** The file cannot be read as a table. */
export class CsvError extends Error {}

/** A record may be so long, in bytes. */
const maxRecordBytes = 16_384

/**
 * Reads CSV in UTF-8 (RFC 4180), with a header and with or without a byte order mark. The header names some of the
 * columns, in any order. Empty lines are skipped. Throws CsvError for a wrong header.
 *
 * A record is one line: no value that this reads has a line break, and a quote that is not closed would otherwise hide
 * all lines that follow, so that their faults could not be listed. Libraries for CSV have no such mode.
 *
 * @param columns the names that the header may have
 * @param required the name that it must have
 */
export function* csvRecords(bytes: Uint8Array, columns: readonly string[], required: string): Generator<CsvRecord> {
  let header: readonly string[] | undefined
  for (const { line, fields, problem } of linesOf(withoutByteOrderMark(bytes))) {
    if (!header) {
      header = fields ?? []
      const isTable = header.every((name, index) => columns.includes(name) && header?.indexOf(name) === index)
      if (!isTable || !header.includes(required))
        throw new CsvError(`line ${line} must name the columns ${columns.join(',')}, or some of them with ${required}`)
    } else if (!fields) yield { line, problem: problem ?? '' }
    else if (fields.length === header.length) {
      yield { line, fields: Object.fromEntries(header.map((name, index) => [name, fields[index] ?? ''])) }
    } else yield { line, problem: `it has ${fields.length} fields instead of ${header.length}` }
  }
  if (!header) throw new CsvError('the file is empty')
}

interface Line {
  readonly line: number
  readonly fields?: readonly string[]
  readonly problem?: string
}

const [lineFeed, carriageReturn] = [0x0a, 0x0d]

function* linesOf(bytes: Uint8Array): Generator<Line> {
  let from = 0
  for (let line = 1; from < bytes.length; line++) {
    // Quickly: a file may have a million empty lines.
    for (let length = emptyLine(bytes, from); length > 0; length = emptyLine(bytes, from)) {
      from += length
      line++
    }
    if (from >= bytes.length) return
    const found = bytes.indexOf(lineFeed, from)
    const next = found === -1 ? bytes.length : found
    const end = next > from && bytes[next - 1] === carriageReturn ? next - 1 : next
    if (end > from) yield { line, ...parsed(bytes.subarray(from, end)) }
    from = next + 1
  }
}

/** Bytes of the empty line that begins here; 0 if it is not empty. */
const emptyLine = (bytes: Uint8Array, at: number): number => {
  if (bytes[at] === lineFeed) return 1
  return bytes[at] === carriageReturn && bytes[at + 1] === lineFeed ? 2 : 0
}

const parsed = (bytes: Uint8Array): Omit<Line, 'line'> => {
  if (bytes.length > maxRecordBytes) return { problem: `it is longer than ${maxRecordBytes} bytes` }
  const text = decodeValidUtf8(bytes)
  if (text === undefined) return { problem: 'it is not UTF-8' }
  const fields = fieldsOf(text)
  return fields ? { fields } : { problem: 'its quotes are wrong: a quoted field ends with a quote and a comma' }
}

/** The fields of a record. Undefined: its quotes are wrong. */
const fieldsOf = (text: string): readonly string[] | undefined => {
  if (!text.includes('"')) return text.split(',')
  const fields: string[] = []
  for (let from = 0; ; ) {
    const quoted = text[from] === '"'
    let end = quoted ? closingQuote(text, from + 1) : text.indexOf(',', from)
    if (quoted && end === -1) return undefined
    const value = text.slice(quoted ? from + 1 : from, end === -1 ? undefined : end)
    if (quoted) end++
    else if (value.includes('"')) return undefined
    fields.push(quoted ? value.replaceAll('""', '"') : value)
    if (end === -1 || end === text.length) return fields
    if (text[end] !== ',') return undefined
    from = end + 1
  }
}

/** The place of the quote that ends a field, which two quotes do not. -1: there is none. */
const closingQuote = (text: string, from: number): number => {
  let at = text.indexOf('"', from)
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2)
  return at
}
