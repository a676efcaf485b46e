import type { ByteSource } from '../../shared/http/body/byte-source.ts'
import { fetchOnce } from '../../shared/upstream/fetch.ts'
import type { Fetch } from '../../shared/upstream/upstream-error.ts'
import { StorageTimeoutError } from './storage.ts'

/**
 * Sends the requests of the S3 client with `fetch`. Its own handler for servers uses `node:http`, and its handler for
 * browsers is another package.
 *
 * No redirect is followed: the request is signed for its address.
 */
export const createS3Handler = (sendRequest: Fetch = fetchOnce) => ({
  async handle(request: S3Request, { abortSignal }: { readonly abortSignal?: unknown } = {}) {
    const response = await sendRequest(urlOf(request), {
      method: request.method,
      headers: request.headers,
      body: request.body,
      redirect: 'manual',
      // A pooled connection whose other end has vanished would hold its next call until the time limit.
      keepalive: false,
      signal: abortSignal instanceof AbortSignal ? abortSignal : null,
    })
    const { status: statusCode, statusText: reason, headers, body } = response
    return { response: { statusCode, reason, headers: Object.fromEntries(headers), body: body ?? emptyBody() } }
  },
})

/**
 * Calls the storage, with a signal for all requests of the call. Rejects with StorageTimeoutError when it does not
 * respond in time, and when the given signal aborts.
 */
export const inTime = async <Result>(
  ms: number,
  call: (signal: AbortSignal) => Promise<Result>,
  given?: AbortSignal,
): Promise<Result> => {
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(new StorageTimeoutError()), ms)
  try {
    return await call(given ? AbortSignal.any([given, timeout.signal]) : timeout.signal)
  } catch (error) {
    throw timeout.signal.aborted ? timeout.signal.reason : error
  } finally {
    clearTimeout(timer)
  }
}

/** The part of the client's `HttpRequest` that the handler uses: https://smithy.io */
interface S3Request {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: Uint8Array<ArrayBuffer> | string
  readonly protocol: string
  readonly hostname: string
  readonly port?: number
  readonly path: string
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>
}

const urlOf = ({ protocol, hostname, port, path, query = {} }: S3Request): string => {
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values ?? ''].flat().map((value) => `${encode(name)}=${encode(value)}`),
  )
  return `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`
}

const emptyBody = (): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      controller.close()
    },
  })

/**
 * A source of the bytes of a response.
 *
 * @param length how many there must be
 * @param stallMs for the next bytes, in milliseconds
 * @param open sends the request
 */
export const sourceOfBody = (
  { length, stallMs }: { readonly length: number; readonly stallMs: number },
  open: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array> | undefined>,
): ByteSource => {
  const abort = new AbortController()
  let cancelled = false
  const unlessStalled = async <Read>(reading: Promise<Read>): Promise<Read> => {
    const timer = setTimeout(() => abort.abort(new Error('the storage has stopped to send the file')), stallMs)
    try {
      return await reading
    } finally {
      clearTimeout(timer)
    }
  }
  return {
    async writeTo(write) {
      if (length <= 0 || cancelled) return
      const reader = (await open(abort.signal))?.getReader()
      let remaining = length
      while (reader && remaining >= 0) {
        const { done, value } = await unlessStalled(reader.read())
        if (done) break
        remaining -= value.length
        if (remaining >= 0) await write(value)
        if (cancelled) return void reader.cancel().catch(() => {})
      }
      if (remaining !== 0) throw new Error('the storage has sent another number of bytes than announced')
    },
    async cancel() {
      cancelled = true
      abort.abort(new Error('the reader has cancelled'))
    },
  }
}
