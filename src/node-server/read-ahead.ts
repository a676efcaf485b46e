import { Buffer } from 'node:buffer'
import { inNextTurn } from '../../plugins/shared/background/next-turn.ts'
import type { ByteSource } from '../../plugins/shared/http/body/byte-source.ts'

/** A body whose length the server did not know: all bytes, if they were available at once, or a source of them. */
export type AheadBody = Uint8Array | ByteSource

/**
 * How much of a body is read at most before it is sent as a stream. A complete body in memory may be longer than a
 * chunk of its stream.
 */
const maxAheadBytes = 2 ** 20

/**
 * Reads what is available in this turn of the event loop.
 *
 * A `Response` does not tell whether its body is complete in memory or still being produced, and `bytes()` would wait
 * for the end of the production.
 *
 * @param body may also produce strings, as the generators of Elysia (1.4.30) do
 */
export const readAhead = async (body: ReadableStream<Uint8Array | string>): Promise<AheadBody> => {
  const reader = body.getReader()
  const turnIsOver = new Promise<undefined>((resolve) => inNextTurn(() => resolve(undefined)))
  const chunks: Uint8Array[] = []
  let length = 0
  let next: ReturnType<typeof reader.read> | undefined
  while (length <= maxAheadBytes) {
    next = reader.read()
    const read = await Promise.race([next, turnIsOver])
    if (!read) break
    if (read.done) return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
    const chunk = bytesOf(read.value)
    chunks.push(chunk)
    length += chunk.length
    next = undefined
  }
  return {
    async writeTo(write) {
      for (const chunk of chunks.splice(0)) await write(chunk)
      for (let read = await (next ?? reader.read()); !read.done; read = await reader.read()) {
        await write(bytesOf(read.value))
      }
    },
    cancel: (reason) => reader.cancel(reason).catch(() => {}),
  }
}

const bytesOf = (chunk: Uint8Array | string): Uint8Array => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
