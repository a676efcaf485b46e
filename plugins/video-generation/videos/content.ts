import type { Clock } from '../../shared/clock.ts'
import { FieldProblem } from '../../shared/field-problem.ts'
import { type ByteSource, responseFrom, sourceFrom } from '../../shared/http/body/byte-source.ts'
import { bodyOfLength, countedSource } from '../../shared/http/body/streamed-file.ts'
import { inFlightOf } from '../../shared/http/in-flight.ts'
import { Problem } from '../../shared/problem.ts'
import type { Fetch } from '../../shared/upstream/upstream-error.ts'
import type { ResultFile, VideoTaskView } from '../tasks/tasks.ts'

export interface ContentOptions {
  /**
   * Responds with the bytes of a stored copy, or with the range of them that the request asks for. Undefined: there is
   * no such copy.
   */
  readonly openCopy: ((key: string, request: Request) => Promise<Response | undefined>) | undefined
  readonly fetch: Fetch
  readonly clock: Clock
  /** Milliseconds without a byte from the upstream's storage, after which a download is broken off. */
  readonly silenceMs: number
}

const variants: Readonly<Record<string, ResultFile>> = { video: 'video', thumbnail: 'lastFrame' }

/**
 * Answers `GET /videos/{id}/content` with the stored copy, or else with what the upstream's link leads to. Both are
 * streamed.
 *
 * The thumbnail is the last frame. Throws FieldProblem 400 for another variant, 404 without a file, and Problem 502
 * when the upstream's storage fails.
 */
export const downloadContent = async (
  view: VideoTaskView,
  request: Request,
  options: ContentOptions,
): Promise<Response> => {
  const variant = new URL(request.url).searchParams.get('variant') || 'video'
  const file = Object.hasOwn(variants, variant) ? variants[variant] : undefined
  if (file === undefined) {
    const known = Object.keys(variants).join(' or ')
    throw new FieldProblem(400, `variant must be ${known}`, { param: 'variant' })
  }
  if (view.status === 'queued' || view.status === 'running') {
    throw notFound(`Video is not ready yet, use GET /v1/videos/${view.id} to check its status.`, 'video_not_ready')
  }
  const { result } = view
  const key = result?.copies[file]
  const copy = key === undefined ? undefined : await options.openCopy?.(key, request)
  if (copy) return copy
  const link = result?.links[file]
  if (link === undefined) throw notFound(`Video ${view.id} has no ${variant}.`, 'no_content')
  return await forward(link, request, options)
}

const notFound = (message: string, code: string) => new FieldProblem(404, message, { code })

const forwardedHeaders = ['range', 'if-range', 'if-none-match', 'if-modified-since']
/** An allowlist: other headers tell of the account's bucket. */
const passedHeaders = ['content-length', 'content-range', 'accept-ranges', 'etag', 'last-modified']

const forward = async (link: string, request: Request, options: ContentOptions): Promise<Response> => {
  const { headers, method, signal } = request
  const { fetch, clock, silenceMs } = options
  const call = new AbortController()
  const abort = () => call.abort(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  const stopWaiting = clock.at(clock.now() + silenceMs, () => call.abort(silent()))
  try {
    const response = await fetch(link, {
      // A compressed body would have another length.
      headers: { 'accept-encoding': 'identity', ...pick(headers, forwardedHeaders) },
      redirect: 'manual',
      signal: call.signal,
    })
    const { status, body } = response
    const init = { status, headers: resultHeaders(response.headers) }
    if (body && method === 'GET' && (status === 200 || status === 206)) {
      const inFlight = inFlightOf(request)
      inFlight?.streaming()
      return responseFrom(countedSource(watched(body, { call, clock, silenceMs }), inFlight), init)
    }
    // The link is signed for GET only.
    await body?.cancel()
    return withoutFile(init)
  } catch (cause) {
    call.abort(cause)
    signal.removeEventListener('abort', abort)
    throw cause instanceof Problem ? cause : new Problem(502, 'upstream storage unavailable', { cause })
  } finally {
    stopWaiting()
  }
}

/** The response to a download without a file, and to HEAD. */
const withoutFile = ({ status, headers }: { readonly status: number; readonly headers: Headers }): Response => {
  const length = Number(headers.get('content-length') ?? 0)
  if (status === 200 || status === 206) return new Response(bodyOfLength(length), { status, headers })
  headers.delete('content-length')
  if (status === 304) return new Response(null, { status, headers })
  if (status === 416) {
    throw new FieldProblem(416, 'the video has no such range', { headers: pick(headers, ['content-range']) })
  }
  if (status === 403 || status === 404) throw notFound('The content of the video has expired.', 'content_expired')
  throw new Problem(502, 'upstream storage unavailable', { cause: new Error(`its status is ${status}`) })
}

const silent = () => new Error('the storage of the upstream is silent')

const pick = (headers: Headers, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])))

const resultHeaders = (headers: Headers): Headers => {
  const type = headers.get('content-type') ?? ''
  return new Headers({
    // Nothing that a browser would run.
    'content-type': /^(?:video|image)\/[\w.+-]+$/.test(type) ? type : 'application/octet-stream',
    'cache-control': 'no-store',
    ...pick(headers, passedHeaders),
  })
}

/** The bytes of a body. Breaks off when it is silent while the reader waits. */
const watched = (
  body: ReadableStream<Uint8Array>,
  { call, clock, silenceMs }: { call: AbortController } & Pick<ContentOptions, 'clock' | 'silenceMs'>,
): ByteSource => {
  const source = sourceFrom(body)
  return {
    async writeTo(write) {
      const watch = () => clock.at(clock.now() + silenceMs, () => call.abort(silent()))
      let stop = watch()
      try {
        await source.writeTo(async (bytes) => {
          stop()
          await write(bytes)
          stop = watch()
        })
      } finally {
        stop()
      }
    },
    async cancel(reason) {
      call.abort(reason)
      await source.cancel(reason)
    },
  }
}
