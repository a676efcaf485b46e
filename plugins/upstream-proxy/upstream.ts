import { collect } from '../shared/bytes.ts'
import { type Json, JsonError, readJson } from '../shared/json.ts'
import { type Log, Problem, silent } from '../shared/problem.ts'
import { requestHeaders, responseHeaders } from './headers.ts'
import { isRead, type MediaKind, type Operation, type Outgoing } from './operation.ts'

/** A `fetch` of the caller's choice: for tests, or for a runtime whose own re-sends what must be sent once. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface UpstreamOptions {
  readonly kind: MediaKind
  /** Default the global `fetch`. Called with `keepalive: false` for everything that must not be sent twice. */
  readonly fetch?: Fetch
  /** Milliseconds from the call to the last byte of its answer. Default 30,000. */
  readonly timeoutMs?: number
  /** Bytes of an answer beyond which it is refused. Default 64 MiB. */
  readonly maxAnswerBytes?: number
  /** Headers of callers that pass, besides content type, language and tracing. */
  readonly forwardHeaders?: readonly string[]
  readonly log?: Log
  /** Told of every call when it has ended: `status` is 0 when there was no answer. */
  readonly observe?: (call: { action: Operation['action']; status: number; seconds: number }) => void
}

/** Who asks: headers that may pass on, and a signal that ends the call when the caller goes away. */
export interface Caller {
  readonly headers?: Headers
  readonly signal?: AbortSignal
}

/** A success: its bytes are forwarded as they are, its JSON is looked into. */
export interface Answer {
  readonly status: number
  /** What a caller may see of the upstream's headers. */
  readonly headers: Headers
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The answer's object; undefined for an empty answer to a change. */
  readonly json: Json | undefined
}

export interface Upstream {
  /**
   * Asks the upstream. Resolves with a success (status 2xx, a JSON object, or nothing in answer to a change).
   *
   * Throws Refusal for a status of 400 and above, Unreachable when there was no answer, and Invalid for an answer that makes no sense.
   */
  send(operation: Operation, caller?: Caller): Promise<Answer>
}

/** The upstream's own error, forwarded: status, body and content type as they came (reading 7). */
export class Refusal extends Problem {
  readonly answer: Omit<Answer, 'json'>

  constructor(answer: Omit<Answer, 'json'>) {
    super(answer.status, `upstream answered ${answer.status}`)
    this.answer = answer
  }

  override toResponse(): Response {
    return toResponse(this.answer)
  }
}

/** There was no answer. `sent` is false when the request certainly never left: then nothing has happened upstream. */
export class Unreachable extends Problem {
  readonly sent: boolean

  constructor(cause: unknown, sent: boolean) {
    super(502, 'Seedance upstream unavailable', { cause })
    this.sent = sent
  }
}

/** The upstream answered, but not with anything that can be passed on. */
export class Invalid extends Problem {
  constructor(cause: string) {
    super(502, 'upstream returned an invalid response', { cause })
  }
}

/** An answer as a response, byte for byte. */
export const toResponse = ({ status, headers, bytes }: Omit<Answer, 'json'>): Response =>
  new Response(bytes.length === 0 ? null : bytes, { status, headers })

/** The one place that talks to the asset upstream. */
export const createUpstream = (options: UpstreamOptions): Upstream => {
  const { kind, timeoutMs = 30_000, maxAnswerBytes = 2 ** 26, forwardHeaders, log = silent, observe } = options
  const send = options.fetch ?? ((url, init) => fetch(url, init))

  const ask = async (operation: Operation, caller: Caller, signal: AbortSignal): Promise<Response> => {
    const outgoing = await kind.outgoing(operation)
    return send(outgoing.url, {
      ...init(outgoing, requestHeaders(caller.headers, forwardHeaders), isRead(operation)),
      signal,
    })
  }

  return {
    async send(operation, caller = {}) {
      const deadline = new AbortController()
      const abort = () => deadline.abort(caller.signal?.reason)
      const timer = setTimeout(() => deadline.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
      if (caller.signal?.aborted) abort()
      caller.signal?.addEventListener('abort', abort, { once: true })
      const startedAt = performance.now()
      /** Undefined while nothing can be said of the upstream: it was not asked, or its caller did not wait for the answer. */
      let status: number | undefined
      try {
        const response = await ask(operation, caller, deadline.signal).catch((error: unknown) => {
          if (error instanceof Problem || deadline.signal.aborted || !isRead(operation)) throw error
          // The connection failed before any answer, and nothing can have changed: once more (reading 10).
          return ask(operation, caller, deadline.signal)
        })
        status = response.status
        const bytes = await collect(response, maxAnswerBytes)
        if (!bytes) throw new Invalid('an answer that is too large')
        return check(operation, { status, headers: responseHeaders(response.headers), bytes }, kind, log)
      } catch (error) {
        if (error instanceof Problem) throw error
        if (!caller.signal?.aborted) status ??= 0
        throw new Unreachable(error, !neverSent(error))
      } finally {
        clearTimeout(timer)
        caller.signal?.removeEventListener('abort', abort)
        const seconds = (performance.now() - startedAt) / 1000
        if (status !== undefined) observe?.({ action: operation.action, status, seconds })
      }
    },
  }
}

const init = (outgoing: Outgoing, headers: Headers, repeatable: boolean): RequestInit => {
  for (const [name, value] of Object.entries(outgoing.headers)) headers.set(name, value)
  return {
    method: outgoing.method,
    headers,
    body: outgoing.body as RequestInit['body'],
    // A redirect could lead the account's credentials anywhere.
    redirect: 'manual',
    // A runtime may send a request again when a connection that it kept turns out dead: only where that does no harm.
    keepalive: repeatable,
  }
}

const check = (operation: Operation, answer: Omit<Answer, 'json'>, kind: MediaKind, log: Log): Answer => {
  const { status, headers, bytes } = answer
  if (status >= 400 && status <= 599) {
    const text = [new TextDecoder().decode(bytes), ...headers.values()].join('\n')
    if (kind.secrets.some((secret) => secret.length >= shortestSecret && text.includes(secret))) {
      throw new Invalid('an error that contains a credential')
    }
    log.info({ action: operation.action, status }, 'upstream refused')
    throw new Refusal(answer)
  }
  if (status < 200 || status >= 300) throw new Invalid(`status ${status}`)
  if (bytes.length === 0 && mayBeEmpty.has(operation.action)) return { ...answer, json: undefined }
  try {
    const json = readJson(bytes)
    if (json.isObject) return { ...answer, json }
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
  }
  throw new Invalid(`${operation.action} answered ${status} without a JSON object`)
}

/** What is shorter may as well be a word of an error's text. */
const shortestSecret = 8

const mayBeEmpty: ReadonlySet<string> = new Set([
  'UpdateAssetGroup',
  'DeleteAssetGroup',
  'UpdateAsset',
  'DeleteAsset',
] satisfies Operation['action'][])

/** Whether the connection was never made. What is not known to be so counts as sent. */
const neverSent = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return (
    /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ConnectionRefused|FailedToOpenSocket|DNS)/i.test(
      code,
    ) ||
    /connection refused|dns error|failed to lookup/i.test(error.message) ||
    neverSent(error.cause)
  )
}
