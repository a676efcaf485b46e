import { readAtMost } from '../../shared/http/body/read-body.ts'
import { forwardedHeaders, responseHeaders } from '../../shared/http/headers.ts'
import {
  type Json,
  JsonError,
  maxBytesAtOnce,
  readJson,
  readJsonInTurns,
  responseLimits,
} from '../../shared/json/json.ts'
import type { Log, Problem } from '../../shared/problem.ts'
import { decodeText } from '../../shared/text.ts'
import { connectionLost, fetchPooledPost } from '../../shared/upstream/fetch.ts'
import type { TraceCall } from '../../shared/upstream/trace-call.ts'
import { type Fetch, isNeverSent, UpstreamInvalidError } from '../../shared/upstream/upstream-error.ts'
import { UpstreamKeyRejectedError } from '../../shared/upstream/upstream-key.ts'
import { nameOf, type TextUpstream } from '../models/routing.ts'
import { upstreamUnavailable } from '../protocol/problem.ts'
import { containsCredentialOf, requireNoCredential } from './credentials.ts'
import { rejectionOf } from './problem.ts'

/** Actions of a text upstream, by the names in OpenAI's API reference. */
export type TextAction =
  | 'CreateChatCompletion'
  | 'CreateCompletion'
  | 'CreateEmbedding'
  | 'CreateResponse'
  | 'CompactResponse'
  | 'CountInputTokens'
  | 'GetResponse'
  | 'DeleteResponse'
  | 'CancelResponse'
  | 'ListInputItems'
  | 'ListModels'
  | 'GetModel'

/** Operations on a response, by its id. */
export type ResponseAction = Extract<TextAction, 'GetResponse' | 'DeleteResponse' | 'CancelResponse' | 'ListInputItems'>

export interface UpstreamClientOptions {
  /** Default the global `fetch`. */
  readonly fetch?: Fetch
  /** Request headers to forward, in addition to language and request id. */
  readonly forwardHeaders?: readonly string[]
  /** Maximum size of an error body, in bytes. */
  readonly maxResponseBytes: number
  readonly log: Log
  /**
   * Receives every call, with the seconds until its response began. `upstream` is its name; `status` is 0 when there
   * was no response. `keyRejected`: the upstream rejected the gateway's key, see `rejectionOf`.
   */
  readonly observe?: (call: {
    action: TextAction
    upstream: string
    status: number
    seconds: number
    keyRejected: boolean
  }) => void
  /** Traces every call that generates nothing, until its response has begun. For the others see `respondTraced`. */
  readonly traceCall?: TraceCall
}

export interface TextRequest {
  readonly upstream: TextUpstream
  readonly action: TextAction
  /** Default POST with a body, GET without. */
  readonly method?: 'GET' | 'POST' | 'DELETE'
  /** Path below the upstream's URL, with a leading slash. Values from callers are URL-encoded. */
  readonly path: string
  /** The body, as JSON. */
  readonly body?: Uint8Array | string
  /** Whether the response may be a stream of a generation. Undefined: the request generates nothing. */
  readonly stream?: boolean
  /** Headers of the caller's request. */
  readonly headers: Headers
  /** Aborts the call and the body of its response. */
  readonly signal: AbortSignal
}

/** A response with status 2xx, and those of its headers that callers may see. */
export interface TextResponse {
  readonly response: Response
  readonly headers: Headers
}

export type UpstreamClient = (request: TextRequest) => Promise<TextResponse>

/**
 * Creates the client for all text upstreams. It resolves when the headers of a successful response have arrived.
 *
 * The client rejects with the errors of `rejectionOf` for a status from 400 to 599, UpstreamUnreachableError when there
 * was no response, and UpstreamInvalidError for any other status and for headers that contain the upstream's
 * credential.
 */
export const createUpstreamClient = ({
  forwardHeaders,
  maxResponseBytes,
  log,
  observe,
  traceCall,
  ...options
}: UpstreamClientOptions): UpstreamClient => {
  const send = options.fetch ?? fetchPooledPost
  return async (request) => {
    const startedAt = performance.now()
    const trace =
      request.stream === undefined ? traceCall?.({ action: request.action, url: request.upstream.url }) : undefined
    const observeCall = (status: number, seconds: number, keyRejected = false) =>
      observe?.({ action: request.action, upstream: nameOf(request.upstream), status, seconds, keyRejected })
    const secondsSinceStart = () => (performance.now() - startedAt) / 1000
    let response: Response
    try {
      response = await send(request.upstream.url + request.path, requestInit(request, forwardHeaders))
    } catch (cause) {
      connectionLost(request.upstream.url, cause)
      if (!request.signal.aborted) observeCall(0, secondsSinceStart())
      trace?.end({ error: cause })
      throw upstreamUnavailable(cause, !isNeverSent(cause))
    }
    const seconds = secondsSinceStart()
    const { status } = response
    trace?.end({ status })
    const headers = responseHeaders(response.headers, status)
    const hasCredential = containsCredentialOf(request.upstream)(headers)
    if (status < 400 || status > 599 || hasCredential) {
      observeCall(status, seconds)
      if (response.ok && !hasCredential) return { response, headers }
      await response.body?.cancel().catch(() => {})
      throw new UpstreamInvalidError(hasCredential ? 'a header contains a credential' : `unexpected status ${status}`)
    }
    let rejection: Problem | undefined
    try {
      const { bytes } = await readResponse(response, request.upstream, maxResponseBytes)
      rejection = rejectionOf({ status, headers, bytes }, { ...request, log })
      throw rejection
    } finally {
      observeCall(status, seconds, rejection instanceof UpstreamKeyRejectedError)
    }
  }
}

/** The whole body of a response. */
export interface CompleteResponse {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The body as text. Undefined for a long body, and for one that is not UTF-8. */
  readonly text: string | undefined
}

/**
 * Reads the body of a response without a stream.
 *
 * Throws UpstreamInvalidError when it is longer than `maxBytes` or contains a credential, UpstreamUnreachableError when
 * the connection breaks.
 */
export const readResponse = async (
  response: Response,
  upstream: TextUpstream,
  maxBytes: number,
): Promise<CompleteResponse> => {
  let bytes: Uint8Array<ArrayBuffer> | undefined
  try {
    bytes = await readAtMost(response, maxBytes)
  } catch (cause) {
    throw upstreamUnavailable(cause, true)
  }
  if (!bytes) throw new UpstreamInvalidError('the response is too large')
  const text = decodeText(bytes)
  requireNoCredential(upstream, text ?? bytes)
  return { bytes, text }
}

/** The JSON object in a response body. Throws UpstreamInvalidError for anything else. */
export const readJsonObject = async (bytes: Uint8Array): Promise<Json> => {
  try {
    const isLong = bytes.length > maxBytesAtOnce
    const json = isLong ? await readJsonInTurns(bytes, responseLimits) : readJson(bytes, responseLimits)
    if (json.isObject) return json
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
  }
  throw new UpstreamInvalidError('the response is not a JSON object')
}

const requestInit = (
  { upstream, body, method = body === undefined ? 'GET' : 'POST', stream, headers: caller, signal }: TextRequest,
  forwardHeaders: readonly string[] | undefined,
): RequestInit => {
  const headers = forwardedHeaders(caller, forwardHeaders)
  headers.accept = stream ? 'text/event-stream' : 'application/json'
  if (body !== undefined) headers['content-type'] = 'application/json'
  const { key, keyHeader } = upstream
  if (key !== undefined && keyHeader === undefined) headers.authorization = `Bearer ${key}`
  else if (key !== undefined && keyHeader !== undefined) headers[keyHeader.toLowerCase()] = key
  // The names are in lower case, so that none occurs twice.
  for (const name in upstream.headers) headers[name.toLowerCase()] = upstream.headers[name] as string
  return {
    method,
    headers,
    body: body as RequestInit['body'],
    signal,
    // A redirect could send the account's credential to another host.
    redirect: 'manual',
    // The runtime retries a request when a pooled connection turns out to be closed. Without keep-alive it sends a
    // generation only once.
    keepalive: method === 'GET',
    // Bun's `fetch` has a default idle timeout of some minutes, which a reasoning model can exceed. Other runtimes
    // ignore this option.
    ...{ timeout: false },
  }
}
