import { Problem } from '../shared/problem.ts'
import type { FramesOptions } from './frames.ts'
import { type FrameReader, readFrames } from './reader.ts'

/** Asks an upstream, and lets itself be called off by the signal: most often a `fetch` that is given it. */
export type StartRequest = (signal: AbortSignal) => Promise<Response>

/** An answer that has begun. */
export interface OpenedStream {
  readonly response: Response
  /** Its body, frame by frame, where it is a successful answer with a stream of events; else the response's body is untouched. */
  readonly reader: FrameReader | undefined
  /** Ends the call, whatever it is at, as cancelling the reader does. Nothing happens if it has ended. Never rejects. */
  leave(reason?: unknown): Promise<void>
}

export interface OpenOptions extends FramesOptions {
  /** The client's, of one request: when it aborts, the call ends. */
  readonly signal?: AbortSignal
}

/**
 * Asks, and waits until the answer begins, but not when the client has left: then it rejects at once, and an answer that comes all the same is cancelled.
 *
 * Throws Problem 502 when there is no answer, and the Problem that `ask` throws.
 */
export const openStream = async (
  ask: StartRequest,
  { signal, ...options }: OpenOptions = {},
): Promise<OpenedStream> => {
  const call = new AbortController()
  let reader: FrameReader | undefined
  const leave = async (reason: unknown = new Error('the client left')) => {
    signal?.removeEventListener('abort', onAbort)
    call.abort(reason)
    await reader?.cancel(reason)
  }
  const onAbort = () => void leave(signal?.reason)
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })
  try {
    const response = await unlessAborted(ask, call.signal)
    // What `Response.error` makes is an answer in form only.
    if (response.status < 200) throw new Error(`status ${response.status}`)
    if (isEventStream(response)) reader = readFrames(response.body, options)
    return { response, reader: reader && leavable(reader, leave), leave }
  } catch (cause) {
    await leave(cause)
    throw upstreamProblem(cause)
  }
}

const leavable = (reader: FrameReader, leave: FrameReader['cancel']): FrameReader => ({
  next: () => reader.next(),
  cancel: leave,
})

const unlessAborted = (ask: StartRequest, signal: AbortSignal): Promise<Response> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    ask(signal).then((response) => {
      signal.removeEventListener('abort', onAbort)
      resolve(response)
      // Nobody waits for it any more.
      if (signal.aborted) response.body?.cancel(signal.reason).catch(() => {})
    }, reject)
  })

/** 204 and 205 have no body (RFC 9110 sections 15.3.5 and 15.3.6), whatever type they claim. */
const isEventStream = ({ ok, status, headers }: Response): boolean =>
  ok && status !== 204 && status !== 205 && /^\s*text\/event-stream\s*(?:;|$)/i.test(headers.get('content-type') ?? '')

/** There was no answer, or none that had begun. */
export const upstreamProblem = (cause: unknown): Problem =>
  cause instanceof Problem ? cause : new Problem(502, 'upstream unavailable', { cause })
