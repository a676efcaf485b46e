import { Buffer } from 'node:buffer'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Awaitable } from '../../plugins/shared/awaitable.ts'
import { inNextTurn } from '../../plugins/shared/background/next-turn.ts'
import { type ByteSource, byteSourceOf, sourceFrom } from '../../plugins/shared/http/body/byte-source.ts'
import { type KnownBody, knownBody } from '../../plugins/shared/http/body/known-body.ts'
import { waitForEvent } from './wait-until-sent.ts'

/**
 * Sends a response, synchronously if its body is known. Throws or rejects when its body fails; the connection must then
 * be closed.
 *
 * A body that is available at once is sent with its length, and any other body as it comes.
 *
 * @param waitForReader waits until the caller has read the buffered bytes of a stream, or has disconnected. An event
 * stream waits without a timeout.
 */
export const sendResponse = (
  response: Response,
  serverResponse: ServerResponse,
  isHead: boolean,
  waitForReader: (event: 'drain') => Promise<void>,
): Awaitable<void> => {
  const headers = fieldsOf(response.headers)
  // The framing is the server's own choice (RFC 9112 section 6). Elysia (1.4.30) sets this field for generators.
  if ('transfer-encoding' in headers) delete headers['transfer-encoding']
  const sink: Sink = { serverResponse, status: response.status, headers, isHead }
  const known = knownBody(response)
  if (known !== undefined) return sendComplete(known, sink)
  const source = byteSourceOf(response)
  const { body } = response
  const wait = isEventStream(response.headers) ? (event: 'drain') => waitForEvent(serverResponse, event) : waitForReader
  if (source) return sendStream(source, sink, wait)
  if (body && wait !== waitForReader) return sendStream(sourceFrom(body), sink, wait)
  if (!body) return sendComplete('', sink)
  return readAhead(body).then((ahead) =>
    ahead instanceof Uint8Array ? sendComplete(ahead, sink) : sendStream(ahead, sink, waitForReader),
  )
}

/** Bun (1.4.5) has a method for it, which takes a fraction of the time of the iterator. */
const fieldsOf = (headers: Headers & { toJSON?(): Record<string, string | string[]> }): OutgoingHttpHeaders => {
  if (headers.toJSON) return headers.toJSON()
  const fields: OutgoingHttpHeaders = Object.fromEntries(headers)
  if ('set-cookie' in fields) fields['set-cookie'] = headers.getSetCookie()
  return fields
}

interface Sink {
  readonly serverResponse: ServerResponse
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly isHead: boolean
}

/** Whether the body is an event stream, which may be silent and unread for any time. */
export const isEventStream = (headers: Headers): boolean =>
  (headers.get('content-type') ?? '').startsWith('text/event-stream')

const sendComplete = (body: KnownBody | Uint8Array, { serverResponse, status, headers, isHead }: Sink): void => {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  // RFC 9110 section 8.6: 204 has no content-length, and 304 and HEAD have that of the response to GET, which an empty
  // body does not tell.
  if (status === 204) delete headers['content-length']
  else if (status !== 304 && (!isHead || length > 0)) headers['content-length'] = length
  serverResponse.writeHead(status, headers)
  serverResponse.end(isHead ? undefined : body)
}

/** Sends a stream with backpressure. When the caller disconnects, the source is cancelled, even if it is silent. */
const sendStream = async (
  source: ByteSource,
  { serverResponse, status, headers, isHead }: Sink,
  waitForReader: (event: 'drain') => Promise<void>,
): Promise<void> => {
  let remaining = contentLengthOf(headers)
  if (remaining === undefined) delete headers['content-length']
  serverResponse.writeHead(status, headers)
  if (isHead) serverResponse.end()
  else serverResponse.flushHeaders()
  // A stream may be endless: it is cancelled when the caller does not want it (HEAD) or has disconnected.
  if (isHead || serverResponse.destroyed) return source.cancel()
  const cancel = () => void source.cancel()
  serverResponse.on('close', cancel)
  await source.writeTo((bytes) => {
    if (remaining !== undefined) {
      remaining -= Buffer.byteLength(bytes)
      if (remaining < 0) throw new Error('the response is longer than its content-length')
    }
    return serverResponse.destroyed || serverResponse.write(bytes) ? undefined : waitForReader('drain')
  })
  if (remaining) throw new Error('the response is shorter than its content-length')
  serverResponse.off('close', cancel)
  serverResponse.end()
}

/**
 * The length that the app has announced for a stream. The server checks it: otherwise the rest would be read as the
 * start of the next response.
 */
const contentLengthOf = (headers: OutgoingHttpHeaders): number | undefined => {
  const text = headers['content-length']
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

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
const readAhead = async (body: ReadableStream<Uint8Array | string>): Promise<AheadBody> => {
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
