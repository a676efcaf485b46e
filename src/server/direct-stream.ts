import { byteSourceOf } from '../../plugins/shared/byte-source.ts'

/**
 * Gives a response a direct stream for `Bun.serve` (`type: 'direct'`, see https://bun.sh/docs/runtime/streams).
 *
 * An ordinary `ReadableStream` would copy and queue each chunk.
 */
export const withDirectBody = (response: Response): Response => {
  const source = byteSourceOf(response)
  if (!source) return response
  const { status, headers } = response
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
  return new Response(new ReadableStream(body), { status, headers })
}
