import { byteSourceOf } from '../../plugins/shared/byte-source.ts'

/** The same response for Bun's own server, with a body that it writes as it comes (`type: 'direct'`, see https://bun.sh/docs/runtime/streams): a stream in between would cost a copy and a queue for each piece. */
export const withDirectBody = (response: Response): Response => {
  const source = byteSourceOf(response)
  if (!source) return response
  const { status, headers } = response
  const body: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: 'direct',
    async pull(controller) {
      await source.writeTo((bytes) => {
        const taken = controller.write(bytes)
        void controller.flush()
        // Until the caller has read what waits for it, or has left.
        return typeof taken === 'number' ? undefined : taken
      })
    },
    cancel: (reason) => source.cancel(reason),
  }
  return new Response(new ReadableStream(body), { status, headers })
}
