import type { InFlight } from './in-flight.ts'

/** What a body can be read from: a Request, a Response, or anything alike. */
export type BodySource = Pick<Request, 'headers' | 'body' | 'bytes'>

/**
 * Collects a body of at most `maxBytes`; undefined when there is more, whatever its headers say. What is left unread is cancelled.
 * `counted` is told of bytes before they are read, where their number is announced; it may throw.
 */
export const readAtMost = (
  body: BodySource,
  maxBytes: number,
  counted?: Pick<InFlight, 'reading'>,
): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  const { headers } = body
  const announced = headers.get('content-length')
  if (announced === null || headers.has('content-encoding') || headers.has('transfer-encoding')) {
    return collectChunks(body, maxBytes, counted)
  }
  const read = () => body.bytes()
  if (Number(announced) <= maxBytes) return readKnownLength(Number(announced), read, maxBytes, counted)
  return Promise.resolve(body.body?.cancel()).then(() => undefined)
}

const collectChunks = async (
  body: BodySource,
  maxBytes: number,
  counted?: Pick<InFlight, 'reading'>,
): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  const chunks = new Chunks()
  let length = 0
  // Leaving the loop cancels the stream.
  for await (const chunk of body.body ?? []) {
    length += chunk.length
    if (length > maxBytes) return undefined
    counted?.reading(chunk.length)
    chunks.push(chunk)
  }
  return chunks.join()
}

/** The same for a body of a length that is known beforehand, which `read` reads at one go. */
export const readKnownLength = async (
  length: number,
  read: () => Promise<Uint8Array>,
  maxBytes: number,
  counted?: Pick<InFlight, 'reading'>,
): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  if (length > maxBytes) return undefined
  counted?.reading(length)
  const bytes = (await read()) as Uint8Array<ArrayBuffer>
  return bytes.length <= maxBytes ? bytes : undefined
}

/** Bytes that come piece by piece. */
export class Chunks {
  readonly #parts: Uint8Array[] = []
  #chunks: Uint8Array[] = []

  push(chunk: Uint8Array): void {
    if (this.#chunks.push(chunk) < maxChunks) return
    this.#parts.push(join(this.#chunks))
    this.#chunks = []
  }

  /** All of them, copied. */
  join(): Uint8Array<ArrayBuffer> {
    return join([...this.#parts, ...this.#chunks])
  }
}

/** A chunk is an object of its own: of one byte, it takes a hundred times as much memory as it counts for. */
const maxChunks = 2_048

const join = (chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
