import type { Awaitable } from '../../plugins/shared/awaitable.ts'
import { type ByteSource, byteSourceOf } from '../../plugins/shared/http/body/byte-source.ts'

/** A body of at most this length is read at once. It is also the length of the pieces of a longer one. */
const maxBufferedBytes = 2 ** 18

/**
 * Gives a response a body that `Bun.serve` sends well.
 *
 * Bun (1.4.5) sends every stream in chunks, and drops its Content-Length. It announces the length of bytes and of files
 * only. So Bun sends a file itself, and any other short body with a length is read at once. Other bodies become direct
 * streams.
 *
 * Rejects when a short body fails.
 *
 * @param whenEnded calls `end` when the response to the request has ended, or its connection
 */
export const withBunBody = (
  response: Response,
  request: Request,
  whenEnded: (request: Request, end: () => void) => void,
): Awaitable<Response> => {
  const source = byteSourceOf(response)
  if (!source) return response
  const { status, headers } = response
  const length = headers.get('content-length')
  if (source.file && length !== null && length !== '0') {
    const { path, first, last } = source.file
    whenEnded(request, () => void source.cancel())
    return new Response(Bun.file(path).slice(first, last + 1), { status, headers })
  }
  if (length !== null && Number(length) <= maxBufferedBytes)
    return bytesOf(source, Number(length), request.signal).then((bytes) => new Response(bytes, { status, headers }))
  return new Response(directStream(source), { status, headers })
}

/**
 * A direct stream (`type: 'direct'`, see https://bun.sh/docs/runtime/streams). An ordinary `ReadableStream` would copy
 * and queue each chunk.
 */
const directStream = (source: ByteSource): ReadableStream<Uint8Array> => {
  const body: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: 'direct',
    async pull(controller) {
      await source.writeTo((bytes) => {
        const written = controller.write(bytes)
        void controller.flush()
        // Backpressure: a promise that resolves when the caller has read the buffered bytes, or has disconnected.
        return typeof written === 'number' ? undefined : written
      })
    },
    cancel: (reason) => source.cancel(reason),
  }
  return new ReadableStream(body)
}

const bytesOf = async (source: ByteSource, length: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> => {
  const bytes = new Uint8Array(length)
  let at = 0
  const cancel = () => void source.cancel(signal.reason)
  signal.addEventListener('abort', cancel, { once: true })
  await source
    .writeTo((piece) => {
      // Throws RangeError for more bytes than the length.
      bytes.set(piece, at)
      at += piece.length
      return undefined
    })
    .finally(() => signal.removeEventListener('abort', cancel))
  if (at < length) throw new Error('the response is shorter than its content-length')
  return bytes
}
