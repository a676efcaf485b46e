import { nextTurn } from '../../plugins/shared/background/turns.ts'
import { attachBody } from '../../plugins/shared/http/body/body.ts'
import { Chunks } from '../../plugins/shared/http/body/read-body.ts'
import { maxUnreadBytes } from '../node-server/handle-request.ts'

/**
 * A body of at most `maxBytes` is read at once, within `stalls` times the timeout that applies to each chunk of a
 * longer body.
 */
const shortBody = { maxBytes: 2 ** 16, stalls: 4 }

/** After a shorter chunk, the next read waits for a turn of the event loop: a caller may send each byte as a chunk. */
const shortChunkBytes = 2 ** 12

/**
 * Reads the request body on demand. Bun discards the body of a GET.
 *
 * @param setTimer called before each read with a timeout, in multiples of the stall timeout, and with 0 after it
 */
export const watchBody = (request: Request, setTimer: (stalls: number) => void) => {
  const length = request.headers.get('content-length')
  let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined
  let ended = false
  let wasShort = false
  const read = async () => {
    reader ??= request.body?.getReader() as typeof reader
    // Bun resolves a read with one chunk, as the caller has sent it. It joins those that arrive between two reads.
    if (wasShort) await nextTurn()
    setTimer(1)
    const { done, value } = (await reader?.read()) ?? { done: true }
    setTimer(0)
    ended = done
    wasShort = value !== undefined && value.length < shortChunkBytes
    return value
  }
  /**
   * One timeout for the whole body, because `bytes` reports no progress. To read chunk by chunk would cost more than
   * the rest of the request.
   */
  const readShort = async () => {
    setTimer(shortBody.stalls)
    const bytes = (await request.bytes()) as Uint8Array<ArrayBuffer>
    setTimer(0)
    ended = true
    return bytes
  }
  /** Reads a long body with a content-length. */
  const readLong = async () => {
    const chunks = new Chunks()
    let remaining = Number(length)
    // It stops at the announced length, without a read that only returns the end: Bun returns no more bytes than that.
    while (remaining > 0) {
      const chunk = await read()
      if (!chunk) break
      chunks.push(chunk)
      remaining -= chunk.length
    }
    ended = true
    return chunks.join()
  }
  const stream = () =>
    new ReadableStream(
      {
        async pull(controller) {
          const chunk = await read()
          if (chunk) controller.enqueue(chunk)
          else controller.close()
        },
        cancel: (reason) => reader?.cancel(reason),
      },
      { highWaterMark: 0 },
    )
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    if (length === null) attachBody(request, stream())
    else attachBody(request, Number(length) <= shortBody.maxBytes ? readShort : readLong, stream)
  }
  return {
    /**
     * Whether the connection can be reused after the response. Bun reads and discards an unread rest, which must not be
     * too long.
     */
    canReuseConnection: () => ended || (length !== null && Number(length) <= maxUnreadBytes),
  }
}
