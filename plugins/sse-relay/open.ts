import { Problem } from '../shared/problem.ts'
import type { FrameSplitterOptions } from './frames.ts'
import { type FrameReader, readFrames } from './reader.ts'

/** Starts a request to an upstream, usually with `fetch`. It must abort the request when the signal aborts. */
export type StartRequest = (signal: AbortSignal) => Promise<Response>

/** An upstream response whose headers have arrived. */
export interface OpenedStream {
  readonly response: Response
  /**
   * Reads the body frame by frame. Undefined if the response is not a successful event stream: then the response's body
   * is unread.
   */
  readonly reader: FrameReader | undefined
  /** Aborts the request and cancels the reader. Has no effect after the end. Never rejects. */
  abort(reason?: unknown): Promise<void>
}

/** Options of `openStream`. */
export interface OpenOptions extends FrameSplitterOptions {
  /** The signal of the client's request. When it aborts, the upstream request is aborted. */
  readonly signal?: AbortSignal
}

/**
 * Starts a request and waits for the headers of its response.
 *
 * When the client disconnects, it rejects immediately, and cancels a response that still arrives. Throws Problem 502 if
 * there is no response, or the Problem that `startRequest` throws.
 */
export const openStream = async (
  startRequest: StartRequest,
  { signal, ...options }: OpenOptions = {},
): Promise<OpenedStream> => {
  const call = new AbortController()
  let reader: FrameReader | undefined
  const abort = async (reason: unknown = new Error('the client has disconnected')) => {
    signal?.removeEventListener('abort', onAbort)
    call.abort(reason)
    await reader?.cancel(reason)
  }
  const onAbort = () => void abort(signal?.reason)
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })
  try {
    const response = await abortable(startRequest, call.signal)
    // `Response.error()` has status 0: it is not a response of the upstream.
    if (response.status < 200) throw new Error(`status ${response.status}`)
    if (isEventStream(response)) reader = readFrames(response.body, options)
    return { response, reader: reader && withCancel(reader, abort), abort }
  } catch (cause) {
    await abort(cause)
    throw upstreamProblem(cause)
  }
}

const withCancel = (reader: FrameReader, cancel: FrameReader['cancel']): FrameReader => ({
  next: () => reader.next(),
  cancel,
})

const abortable = (startRequest: StartRequest, signal: AbortSignal): Promise<Response> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    startRequest(signal).then((response) => {
      signal.removeEventListener('abort', onAbort)
      resolve(response)
      // The caller of this function has received a rejection already.
      if (signal.aborted) response.body?.cancel(signal.reason).catch(() => {})
    }, reject)
  })

/** 204 and 205 have no body (RFC 9110 sections 15.3.5 and 15.3.6), also with a Content-Type. */
const isEventStream = ({ ok, status, headers }: Response): boolean =>
  ok && status !== 204 && status !== 205 && /^\s*text\/event-stream\s*(?:;|$)/i.test(headers.get('content-type') ?? '')

/** Problem 502 for an upstream without a response. Returns the cause if it is a Problem. */
export const upstreamProblem = (cause: unknown): Problem =>
  cause instanceof Problem ? cause : new Problem(502, 'upstream unavailable', { cause })
