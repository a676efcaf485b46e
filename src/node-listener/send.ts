import { Buffer } from 'node:buffer'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type Awaitable, andThen } from '../../plugins/shared/awaitable.ts'
import { type ByteSource, byteSourceOf, sourceFrom } from '../../plugins/shared/byte-source.ts'
import { knownBody } from '../../plugins/shared/known-body.ts'

/** Sends a response, synchronously if its body is known. Throws or rejects when its body fails. */
export const send = (response: Response, outgoing: ServerResponse, headOnly: boolean): Awaitable<void> => {
  const { status } = response
  const headers: OutgoingHttpHeaders = Object.fromEntries(response.headers)
  if ('set-cookie' in headers) headers['set-cookie'] = response.headers.getSetCookie()
  if (isStream(response.headers) && response.body) {
    const source = byteSourceOf(response) ?? sourceFrom(response.body)
    outgoing.writeHead(status, headers)
    if (headOnly) outgoing.end()
    else outgoing.flushHeaders()
    // A stream may be endless: it is cancelled when the caller does not want it (HEAD) or has disconnected.
    return headOnly || outgoing.destroyed ? source.cancel() : relay(source, outgoing)
  }
  const body: Awaitable<string | Uint8Array> = knownBody(response) ?? response.bytes()
  return andThen(body, (body) => {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    // RFC 9110 section 8.6: 204 and 304 have no content-length. For HEAD, an empty body may not have the length of the GET response.
    if (status !== 204 && status !== 304 && (!headOnly || length > 0)) headers['content-length'] = length
    outgoing.writeHead(status, headers)
    outgoing.end(headOnly ? undefined : body)
  })
}

/** Whether the body is an event stream, which must be sent event by event. */
export const isStream = (headers: Headers): boolean =>
  (headers.get('content-type') ?? '').startsWith('text/event-stream')

/** Sends a stream with backpressure. When the caller disconnects, the source is cancelled, even if it is silent. */
const relay = async (source: ByteSource, outgoing: ServerResponse): Promise<void> => {
  const cancel = () => void source.cancel()
  outgoing.on('close', cancel)
  await source.writeTo((bytes) => {
    if (outgoing.destroyed || outgoing.write(bytes)) return undefined
    return drained(outgoing)
  })
  outgoing.off('close', cancel)
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
