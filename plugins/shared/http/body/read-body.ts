import type { Awaitable } from '../../awaitable.ts'
import { bytesPerTurn, joinInTurns } from '../../background/turns.ts'
import type { InFlight } from '../in-flight.ts'

/** An object with a body: a Request, a Response, or a similar one. */
export type BodySource = Pick<Request, 'headers' | 'body' | 'bytes'>

/**
 * Reads a body of at most `maxBytes`. Resolves with undefined if it is longer, whatever its headers say, and cancels
 * the rest.
 *
 * @param counted receives the number of bytes, before they are read if `Content-Length` is known. It may throw to
 * reject the body.
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
  // A return from this loop cancels the stream.
  for await (const chunk of body.body ?? []) {
    length += chunk.length
    if (length > maxBytes) return undefined
    counted?.reading(chunk.length)
    chunks.push(chunk)
  }
  return chunks.join()
}

/** Like `readAtMost`, for a body of known length that `read` reads at once. */
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

/** Collects the chunks of a body. */
export class Chunks {
  readonly #parts: Uint8Array[] = []
  #chunks: Uint8Array[] = []
  #chunksLength = 0
  #length = 0

  push(chunk: Uint8Array): void {
    this.#length += chunk.length
    this.#chunksLength += chunk.length
    if (this.#chunks.push(chunk) < maxUnmergedChunks) return
    // Larger ones take little more memory than their bytes.
    if (this.#chunksLength <= bytesPerTurn) this.#parts.push(join(this.#chunks, this.#chunksLength))
    else this.#parts.push(...this.#chunks)
    this.#chunks = []
    this.#chunksLength = 0
  }

  /** Number of all bytes. */
  get length(): number {
    return this.#length
  }

  /** A copy of all bytes. More than a MiB is copied over several turns of the event loop. */
  join(): Awaitable<Uint8Array<ArrayBuffer>> {
    const parts = [...this.#parts, ...this.#chunks]
    return this.#length <= bytesPerTurn ? join(parts, this.#length) : joinInTurns(parts, this.#length)
  }
}

/** After this number chunks are merged: the object of a chunk of one byte takes about a hundred bytes of memory. */
const maxUnmergedChunks = 2_048

const join = (chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
