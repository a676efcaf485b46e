import { Buffer } from 'node:buffer'
import { Problem } from '../../problem.ts'
import { indexOfBytes } from './byte-search.ts'

/** A part of a `multipart/form-data` body (RFC 7578). */
export interface FormPart {
  /** Undefined when the part has no name. */
  readonly name: string | undefined
  /** The name of a file, as its sender says it. Undefined: the part is a field of the form. */
  readonly filename: string | undefined
  readonly contentType: string | undefined
  /** The content, piece by piece. What is not read when the next part is asked for is skipped. */
  readonly bytes: AsyncGenerator<Uint8Array>
}

/**
 * The boundary in a content type of `multipart/form-data` (RFC 2046 section 5.1.1). Undefined for another type, or an
 * invalid boundary.
 */
export const boundaryOf = (contentType: string | null): string | undefined => {
  if (!/^\s*multipart\/form-data\s*;/i.test(contentType ?? '')) return undefined
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s";,]{1,70}))\s*(?:;|$)/i.exec(contentType ?? '') ?? []
  const boundary = quoted ?? plain
  return boundary !== undefined && /^[\w'()+,./:=? -]*[\w'()+,./:=?-]$/.test(boundary) ? boundary : undefined
}

/** Limits of what surrounds the contents of parts: each part has its own headers. */
const maxHeaderBytes = 8_192

/**
 * Reads the parts of a body one after another, with the memory of one piece of it.
 *
 * Throws Problem 400 when the body is not valid, ends before its last boundary, or has more than `maxParts` parts.
 */
export async function* readFormParts(
  body: AsyncIterable<Uint8Array>,
  boundary: string,
  { maxParts = 100 } = {},
): AsyncGenerator<FormPart, void> {
  const reader = new DelimitedReader(body, Buffer.from(`\r\n--${boundary}`))
  try {
    await skip(reader.untilDelimiter())
    for (let count = 0; await reader.hasPart(); count++) {
      if (count === maxParts) throw new Problem(400, `request body has more than ${maxParts} parts`)
      const headers = await reader.headers()
      const bytes = reader.untilDelimiter()
      const disposition = headers.get('content-disposition') ?? ''
      yield {
        ...partNames(disposition),
        contentType: headers.get('content-type'),
        bytes,
      }
      await skip(bytes)
    }
  } finally {
    await reader.close()
  }
}

const skip = async (bytes: AsyncGenerator<Uint8Array>): Promise<void> => {
  // Not `for await`, which would end a generator that has been read in part.
  while (!(await bytes.next()).done);
}

const invalid = () => new Problem(400, 'request body is not valid multipart/form-data')

class DelimitedReader {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #delimiter: Buffer
  /** Received and not yet read. The first boundary may be the first line. */
  #buffer: Buffer = Buffer.from('\r\n')

  constructor(body: AsyncIterable<Uint8Array>, delimiter: Buffer) {
    this.#source = body[Symbol.asyncIterator]()
    this.#delimiter = delimiter
  }

  /** All bytes before the next delimiter, which is read too. */
  async *untilDelimiter(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = indexOfBytes(this.#buffer, this.#delimiter)
      // The beginning of a delimiter may be at the end of what has been received.
      const length = at < 0 ? this.#buffer.length - this.#delimiter.length + 1 : at
      const bytes = this.#take(Math.max(0, length))
      if (at >= 0) this.#take(this.#delimiter.length)
      if (bytes.length > 0) yield bytes
      if (at >= 0) return
      await this.#receive()
    }
  }

  /** Reads the end of a delimiter's line. False: it was the last one. */
  async hasPart(): Promise<boolean> {
    while (this.#buffer.length < 2) await this.#receive()
    if (this.#buffer.toString('latin1', 0, 2) === '--') return false
    const padding = await this.#line()
    if (/[^ \t]/.test(padding)) throw invalid()
    return true
  }

  async headers(): Promise<ReadonlyMap<string, string>> {
    const headers = new Map<string, string>()
    let length = 0
    for (let line = await this.#line(); line !== ''; line = await this.#line()) {
      length += line.length
      const colon = line.indexOf(':')
      if (colon <= 0 || length > maxHeaderBytes) throw invalid()
      headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
    }
    return headers
  }

  async close(): Promise<void> {
    await this.#source.return?.()
  }

  async #line(): Promise<string> {
    for (;;) {
      const at = this.#buffer.indexOf('\r\n')
      if (at > maxHeaderBytes || (at < 0 && this.#buffer.length > maxHeaderBytes)) throw invalid()
      if (at >= 0) {
        const line = this.#take(at).toString()
        this.#take(2)
        return line
      }
      await this.#receive()
    }
  }

  #take(length: number): Buffer {
    const bytes = this.#buffer.subarray(0, length)
    this.#buffer = this.#buffer.subarray(length)
    return bytes
  }

  async #receive(): Promise<void> {
    const { done, value } = await this.#source.next()
    if (done) throw invalid()
    const chunk = Buffer.from(value.buffer, value.byteOffset, value.length)
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
  }
}

/** The names in the `Content-Disposition` of a part. */
export const partNames = (disposition: string): Pick<FormPart, 'name' | 'filename'> => ({
  name: parameter(disposition, 'name'),
  filename: parameter(disposition, 'filename') ?? extendedFilename(disposition),
})

/** A parameter of `Content-Disposition`. Browsers escape a quote in a name as %22. */
const parameter = (disposition: string, name: string): string | undefined => {
  const [, quoted, plain] =
    new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, 'i').exec(disposition) ?? []
  return quoted?.replace(/\\(.)/g, '$1') ?? plain
}

/**
 * `filename*` (RFC 8187), which some clients send alone although RFC 7578 section 4.2 forbids it. As written when it is
 * not valid UTF-8: the part is still a file.
 */
const extendedFilename = (disposition: string): string | undefined => {
  const value = parameter(disposition, 'filename\\*')
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(value ?? '')?.[1]
  if (encoded === undefined) return value
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}
