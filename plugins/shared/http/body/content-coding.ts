import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { nextTurn } from '../../json/json.ts'
import { Problem } from '../../problem.ts'
import type { InFlight } from '../in-flight.ts'
import { Chunks } from './read-body.ts'

type Decoder = ReturnType<typeof createGunzip>

/** The content codings of request bodies that can be decoded (RFC 9110 section 8.4.1). */
const decoders: ReadonlyMap<string, () => Decoder> = new Map([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

/** To decode takes much longer than to copy. */
const decodedBytesPerTurn = 2 ** 18

const accepted = [...decoders.keys()].join(', ')

/**
 * Decodes the body of a request with `Content-Encoding`. Resolves with undefined if it is longer than `maxBytes` when
 * decoded.
 *
 * It decodes piece by piece, and stops at `maxBytes`: a few kilobytes can expand to gigabytes. `DecompressionStream`
 * cannot stop in time, because it buffers all that comes of one piece of input.
 *
 * Throws Problem 415, with the codings in `Accept-Encoding`, for any other coding or more than one; Problem 400 for a
 * body that is not coded so.
 *
 * @param read reads the body as it was received. It is not called for a coding that is not accepted
 * @param counted receives the number of decoded bytes, and may throw to reject the body
 */
export const decodeContent = async (
  coding: string,
  read: () => Promise<Uint8Array | undefined>,
  maxBytes: number,
  counted?: Pick<InFlight, 'reading'>,
): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  const name = coding.trim().toLowerCase()
  // RFC 9110 section 8.4.1.3: equivalent.
  const create = decoders.get(name === 'x-gzip' ? 'gzip' : name)
  if (!create) {
    const message = `content-encoding must be one of ${accepted}`
    throw new Problem(415, message, { headers: { 'accept-encoding': accepted } })
  }
  const received = await read()
  if (!received) return undefined
  const chunks = new Chunks()
  let length = 0
  // Deno (2.9.6) decodes on this thread, and without a pause. Many bodies may arrive at once.
  await nextTurn()
  let inTurn = 0
  // A return or an error in this loop ends the decoder.
  for await (const chunk of decoded(received, create(), name)) {
    length += chunk.length
    if (length > maxBytes) return undefined
    counted?.reading(chunk.length)
    chunks.push(chunk)
    inTurn += chunk.length
    if (inTurn < decodedBytesPerTurn) continue
    inTurn = 0
    await nextTurn()
  }
  return chunks.join()
}

async function* decoded(bytes: Uint8Array, decoder: Decoder, coding: string): AsyncGenerator<Uint8Array> {
  decoder.end(bytes)
  try {
    yield* decoder
  } catch (cause) {
    throw new Problem(400, `request body is not valid ${coding}`, { cause })
  }
}
