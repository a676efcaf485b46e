import type { ByteSource } from '../../shared/http/body/byte-source.ts'
import type { Fetch } from '../../shared/upstream/upstream-error.ts'

/** For the request to be sent, and the response to begin: a part of 8 MiB at 1 Mbit/s. */
const responseMs = 80_000
/** For the next bytes of a response. */
const stallMs = 60_000

/**
 * Sends the requests of the S3 client with `fetch`. Its own handler for servers uses `node:http`, and its handler for
 * browsers is another package.
 *
 * No redirect is followed: the request is signed for its address.
 */
export const createS3Handler = (sendRequest: Fetch = fetch) => ({
  async handle(request: S3Request, { abortSignal }: { readonly abortSignal?: unknown } = {}) {
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(new Error('the storage did not respond in time')), responseMs)
    const signals = [timeout.signal, ...(abortSignal instanceof AbortSignal ? [abortSignal] : [])]
    try {
      const response = await sendRequest(urlOf(request), {
        method: request.method,
        headers: request.headers,
        body: request.body,
        redirect: 'manual',
        signal: AbortSignal.any(signals),
      })
      const { status: statusCode, statusText: reason, headers, body } = response
      return { response: { statusCode, reason, headers: Object.fromEntries(headers), body: body ?? emptyBody() } }
    } finally {
      clearTimeout(timer)
    }
  },
})

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
 * @param open sends the request
 */
export const sourceOfBody = (
  length: number,
  open: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array> | undefined>,
): ByteSource => {
  const abort = new AbortController()
  let cancelled = false
  const inTime = async <Read>(reading: Promise<Read>): Promise<Read> => {
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
        const { done, value } = await inTime(reader.read())
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
