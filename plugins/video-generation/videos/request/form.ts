import { Buffer } from 'node:buffer'
import { indexOfBytes } from '../../../shared/http/body/byte-search.ts'
import { partNames } from '../../../shared/http/body/multipart.ts'
import { bytesPerTurn, nextTurn } from '../../../shared/json/json.ts'
import { Problem } from '../../../shared/problem.ts'

/** A field of a form, as its bytes in the body. */
export interface FormField {
  readonly name: string
  readonly isFile: boolean
  readonly bytes: Uint8Array
}

/** Each route has at most six fields. */
const maxParts = 32

/** Bytes of the headers of a part. */
const maxHeadBytes = 2 ** 18

/**
 * Reads the fields of a whole `multipart/form-data` body (RFC 7578), about a MiB in a turn of the event loop. The
 * contents are not copied.
 *
 * Throws Problem 400 for a form that is not complete or has more than 32 parts, before it reads any of them.
 */
export const readForm = async (bytes: Uint8Array, boundary: string): Promise<readonly FormField[]> => {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const delimiter = Buffer.from(`--${boundary}`)
  const found = await positionsOf(delimiter, body)
  const last = found.at(-1)
  if (last === undefined || !isClosing(body, last + delimiter.length)) throw notAForm()
  const fields: FormField[] = []
  let start: number | undefined
  for (const at of found) {
    const end = lineEnd(body, at, delimiter.length)
    if (end === undefined) continue
    if (start !== undefined) fields.push(fieldOf(body.subarray(start, at - 2)))
    if (isClosing(body, at + delimiter.length)) return fields
    start = end
  }
  throw notAForm()
}

export const notAForm = (): Problem => new Problem(400, 'request body is not a complete multipart/form-data form')

/** Where a delimiter occurs. Throws Problem 400 when that is too often. */
const positionsOf = async (delimiter: Buffer, body: Buffer): Promise<readonly number[]> => {
  const found: number[] = []
  for (let start = 0; start < body.length; start += bytesPerTurn) {
    if (start > 0) await nextTurn()
    // One that begins in this step may end in the next.
    const step = body.subarray(start, start + bytesPerTurn + delimiter.length - 1)
    for (let at = indexOfBytes(step, delimiter); at !== -1; at = indexOfBytes(step, delimiter, at + delimiter.length)) {
      if (start + at < (found.at(-1) ?? -delimiter.length) + delimiter.length) continue
      if (found.push(start + at) > maxParts + 1) throw new Problem(400, `the form must have at most ${maxParts} parts`)
    }
  }
  return found
}

const isClosing = (body: Buffer, at: number): boolean => body.toString('latin1', at, at + 2) === '--'

/** The end of the line of a delimiter. Undefined: it is within a content. */
const lineEnd = (body: Buffer, at: number, length: number): number | undefined => {
  if (at > 0 && body.toString('latin1', at - 2, at) !== '\r\n') return undefined
  let end = at + length
  if (isClosing(body, end)) return end
  while (body[end] === 0x20 || body[end] === 0x09) end++
  return body.toString('latin1', end, end + 2) === '\r\n' ? end + 2 : undefined
}

const fieldOf = (part: Buffer): FormField => {
  const end = part.subarray(0, maxHeadBytes).indexOf('\r\n\r\n')
  if (end === -1) throw notAForm()
  const disposition = /^content-disposition:(.*)$/im.exec(part.toString('utf8', 0, end))?.[1] ?? ''
  const { name, filename } = partNames(disposition)
  if (name === undefined) throw notAForm()
  return { name, isFile: filename !== undefined, bytes: part.subarray(end + 4) }
}
