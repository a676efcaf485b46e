import { Buffer } from 'node:buffer'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type Awaitable, andThen } from '../../plugins/shared/awaitable.ts'
import { type ByteSource, byteSourceOf, sourceFrom } from '../../plugins/shared/byte-source.ts'
import { knownBody } from '../../plugins/shared/known-body.ts'

/** Sends a response: at once where its body is known. Throws, or rejects, when its body breaks. */
export const send = (response: Response, outgoing: ServerResponse, headOnly: boolean): Awaitable<void> => {
  const { status } = response
  const headers: OutgoingHttpHeaders = Object.fromEntries(response.headers)
  if ('set-cookie' in headers) headers['set-cookie'] = response.headers.getSetCookie()
  if (isStream(response.headers) && response.body) {
    const source = byteSourceOf(response) ?? sourceFrom(response.body)
    outgoing.writeHead(status, headers)
    if (headOnly) outgoing.end()
    else outgoing.flushHeaders()
    // It may have no end: where nobody wants it, or is there any more, it must not be read.
    return headOnly || outgoing.destroyed ? source.cancel() : relay(source, outgoing)
  }
  const body: Awaitable<string | Uint8Array> = knownBody(response) ?? response.bytes()
  return andThen(body, (body) => {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    // RFC 9110 section 8.6: two statuses have no length; and what answers HEAD without a body does not know it.
    if (status !== 204 && status !== 304 && (!headOnly || length > 0)) headers['content-length'] = length
    outgoing.writeHead(status, headers)
    outgoing.end(headOnly ? undefined : body)
  })
}

/** Whether a body comes into being as it is sent, so that it must not be waited for. */
export const isStream = (headers: Headers): boolean =>
  (headers.get('content-type') ?? '').startsWith('text/event-stream')

/** No faster than the caller reads, and no longer than it is there: also a stream that is silent when its caller leaves is cancelled. */
const relay = async (source: ByteSource, outgoing: ServerResponse): Promise<void> => {
  const leave = () => void source.cancel()
  outgoing.on('close', leave)
  await source.writeTo((bytes) => {
    if (outgoing.destroyed || outgoing.write(bytes)) return undefined
    return drained(outgoing)
  })
  outgoing.off('close', leave)
  outgoing.end()
}

const drained = (outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      outgoing.off('drain', end)
      outgoing.off('close', end)
      resolve()
    }
    outgoing.on('drain', end)
    outgoing.on('close', end)
  })
