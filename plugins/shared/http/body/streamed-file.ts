import type { InFlight } from '../in-flight.ts'
import type { ByteSource } from './byte-source.ts'

/**
 * A source that reports the end of its stream, so that the process limits the number of downloads. The caller has
 * reported the beginning.
 */
export const countedSource = (source: ByteSource, inFlight: InFlight | undefined): ByteSource =>
  inFlight ? endingSource(source, () => inFlight.streamed()) : source

/** The same bytes. Calls `onEnd` when all are written, the source has failed or is cancelled; perhaps twice. */
export const endingSource = (source: ByteSource, onEnd: () => void): ByteSource => ({
  ...(source.file && { file: source.file }),
  writeTo: (write) => source.writeTo(write).finally(onEnd),
  cancel(reason) {
    onEnd()
    return source.cancel(reason)
  },
})

/**
 * The body of a response to HEAD, which is only counted: Elysia (1.4.30) responds to HEAD with the handler of GET,
 * reads its whole body, and announces the sum of the lengths of its chunks.
 */
export const bodyOfLength = (byteLength: number): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      controller.enqueue({ byteLength } as Uint8Array)
      controller.close()
    },
  })
