import { Buffer } from 'node:buffer'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type Awaitable, andThen } from '../../plugins/shared/awaitable.ts'
import { type ByteSource, byteSourceOf, sourceFrom } from '../../plugins/shared/byte-source.ts'
import { knownBody } from '../../plugins/shared/known-body.ts'

/** Sends a response, synchronously if its body is known. Throws or rejects when its body fails. */
export const sendResponse = (response: Response, serverResponse: ServerResponse, isHead: boolean): Awaitable<void> => {
  const { status } = response
  const headers: OutgoingHttpHeaders = Object.fromEntries(response.headers)
  if ('set-cookie' in headers) headers['set-cookie'] = response.headers.getSetCookie()
  if (isEventStream(response.headers) && response.body) {
    const source = byteSourceOf(response) ?? sourceFrom(response.body)
    serverResponse.writeHead(status, headers)
    if (isHead) serverResponse.end()
    else serverResponse.flushHeaders()
    // A stream may be endless: it is cancelled when the caller does not want it (HEAD) or has disconnected.
    return isHead || serverResponse.destroyed ? source.cancel() : sendStream(source, serverResponse)
  }
  const body: Awaitable<string | Uint8Array> = knownBody(response) ?? response.bytes()
  return andThen(body, (body) => {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    // RFC 9110 section 8.6: 204 and 304 have no content-length. For HEAD, an empty body may not have the length of the GET response.
    if (status !== 204 && status !== 304 && (!isHead || length > 0)) headers['content-length'] = length
    serverResponse.writeHead(status, headers)
    serverResponse.end(isHead ? undefined : body)
  })
}

/** Whether the body is an event stream, which must be sent event by event. */
export const isEventStream = (headers: Headers): boolean =>
  (headers.get('content-type') ?? '').startsWith('text/event-stream')

/** Sends a stream with backpressure. When the caller disconnects, the source is cancelled, even if it is silent. */
const sendStream = async (source: ByteSource, serverResponse: ServerResponse): Promise<void> => {
  const cancel = () => void source.cancel()
  serverResponse.on('close', cancel)
  await source.writeTo((bytes) => {
    if (serverResponse.destroyed || serverResponse.write(bytes)) return undefined
    return waitForDrain(serverResponse)
  })
  serverResponse.off('close', cancel)
  serverResponse.end()
}

const waitForDrain = (serverResponse: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      serverResponse.off('drain', done)
      serverResponse.off('close', done)
      resolve()
    }
    serverResponse.on('drain', done)
    serverResponse.on('close', done)
  })
