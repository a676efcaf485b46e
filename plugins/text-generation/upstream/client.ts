import { forwardedHeaders, responseHeaders } from '../../shared/headers.ts'
import { type Log, Problem } from '../../shared/problem.ts'
import { readAtMost } from '../../shared/read-body.ts'
import { decodeText } from '../../shared/text.ts'
import { EventTooLargeError } from '../../sse-relay/index.ts'
import {
  type Fetch,
  UpstreamInvalidError,
  UpstreamRefusedError,
  UpstreamUnreachableError,
} from '../../upstream-proxy/index.ts'
import { containsCredentialOf, refuseCredentials } from './credentials.ts'
import type { TextUpstream } from './model-routing.ts'

/** Actions of a text upstream, named as its own documentation names them. */
export type TextAction =
  | 'CreateChatCompletion'
  | 'CreateResponse'
  | 'GetResponse'
  | 'DeleteResponse'
  | 'CancelResponse'
  | 'ListInputItems'
  | 'ListModels'
  | 'GetModel'

export interface UpstreamClientOptions {
  /** Default the global `fetch`. */
  readonly fetch?: Fetch
  /** Headers of callers that pass, besides language and tracing. */
  readonly forwardHeaders?: readonly string[]
  /** Bytes of an answer that is not a stream. */
  readonly maxResponseBytes: number
  readonly log: Log
  /** Told of every call when its answer has begun: `status` is 0 when there was none. */
  readonly observe?: (call: { action: TextAction; status: number; seconds: number }) => void
}

export interface TextRequest {
  readonly upstream: TextUpstream
  readonly action: TextAction
  /** Default POST with a body, GET without. */
  readonly method?: 'GET' | 'POST' | 'DELETE'
  /** Below the upstream's address, with a slash in front; whatever a caller wrote in it is encoded. */
  readonly path: string
  /** JSON. */
  readonly body?: Uint8Array | string
  readonly stream?: boolean
  /** The caller's. */
  readonly headers: Headers
  /** Ends the call, its answer's body too. */
  readonly signal: AbortSignal
}

/** A success: status 2xx, and the headers that a caller may see. */
export interface TextResponse {
  readonly response: Response
  readonly headers: Headers
}

export type UpstreamClient = (request: TextRequest) => Promise<TextResponse>

/**
 * The one place that talks to text upstreams. Resolves when a successful answer begins.
 *
 * Rejects with Refusal for a status of 400 and above, Unreachable when there was no answer, Invalid for an answer that makes no sense.
 */
export const createUpstreamClient = ({
  forwardHeaders,
  maxResponseBytes,
  log,
  observe,
  ...options
}: UpstreamClientOptions): UpstreamClient => {
  const send = options.fetch ?? ((url, init) => fetch(url, init))
  return async (request) => {
    const startedAt = performance.now()
    const observeStatus = (status: number) =>
      observe?.({ action: request.action, status, seconds: (performance.now() - startedAt) / 1000 })
    let response: Response
    try {
      response = await send(request.upstream.url + request.path, requestInit(request, forwardHeaders))
    } catch (cause) {
      if (!request.signal.aborted) observeStatus(0)
      throw new UpstreamUnreachableError(cause, true)
    }
    observeStatus(response.status)
    const { status } = response
    const headers = responseHeaders(response.headers, status)
    const hasCredential = containsCredentialOf(request.upstream)(headers)
    if (response.ok && !hasCredential) return { response, headers }
    if (status < 400 || status > 599 || hasCredential) {
      await response.body?.cancel().catch(() => {})
      throw new UpstreamInvalidError(hasCredential ? 'a header that contains a credential' : `status ${status}`)
    }
    const { bytes } = await readResponse(response, request.upstream, maxResponseBytes)
    log.info({ action: request.action, status }, 'upstream refused')
    throw new UpstreamRefusedError({ status, headers, bytes })
  }
}

/** The body of an answer that is no stream. */
export interface ResponseBody {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Undefined for what is long, and for what is not UTF-8. */
  readonly text: string | undefined
}

/** The body of an answer that is no stream. Throws Invalid beyond `maxBytes` and for one that holds a credential, Unreachable when they do not all arrive. */
export const readResponse = async (
  response: Response,
  upstream: TextUpstream,
  maxBytes: number,
): Promise<ResponseBody> => {
  let bytes: Uint8Array<ArrayBuffer> | undefined
  try {
    bytes = await readAtMost(response, maxBytes)
  } catch (cause) {
    throw new UpstreamUnreachableError(cause, true)
  }
  if (!bytes) throw new UpstreamInvalidError('an answer that is too large')
  const text = decodeText(bytes)
  refuseCredentials(upstream, text ?? bytes)
  return { bytes, text }
}

/** Whether an error is one of those that can be shown: everything else that goes wrong with an answer is the upstream's failing. */
export const asProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error
  return error instanceof EventTooLargeError
    ? new UpstreamInvalidError(error.message)
    : new UpstreamUnreachableError(error, true)
}

const requestInit = (
  { upstream, body, method = body === undefined ? 'GET' : 'POST', stream, headers: caller, signal }: TextRequest,
  forwardHeaders: readonly string[] | undefined,
): RequestInit => {
  const headers = forwardedHeaders(caller, forwardHeaders)
  headers.accept = stream ? 'text/event-stream' : 'application/json'
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (upstream.key !== undefined) headers.authorization = `Bearer ${upstream.key}`
  return {
    method,
    headers,
    body: body as RequestInit['body'],
    signal,
    // A redirect could lead the account's credentials anywhere.
    redirect: 'manual',
    // What costs money or changes something is sent once, also when a connection from a pool turns out dead.
    keepalive: method === 'GET',
    // Bun ends a call that is silent for minutes, as one that thinks may be, unless told not to; others ignore this.
    ...{ timeout: false },
  }
}
