import { collect } from '../shared/bytes.ts'
import { requestHeaders, responseHeaders } from '../shared/headers.ts'
import { type Log, Problem, silent } from '../shared/problem.ts'
import { type Answer, checkAnswer, Invalid, Unreachable } from './answer.ts'
import type { Gate } from './gate.ts'
import { createLimits, type LimitsOptions } from './limits.ts'
import { countedAs, isRead, type MediaKind, type Operation, type Outgoing } from './operation.ts'
import type { Place } from './places.ts'
import { retryTime } from './retry-after.ts'
import { Sharing } from './sharing.ts'

/** A `fetch` of the caller's choice: for tests, or for a runtime whose own re-sends what must be sent once. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface UpstreamOptions {
  readonly kind: MediaKind
  /** Default the global `fetch`. Called with `keepalive: false` for everything that must not be sent twice. */
  readonly fetch?: Fetch
  /** Milliseconds from the call to the last byte of its answer; waiting for a place under a limit comes before it. Default 30,000. */
  readonly timeoutMs?: number
  /** Bytes of an answer beyond which it is refused. Default 64 MiB. */
  readonly maxAnswerBytes?: number
  /** Headers of callers that pass, besides content type, language and tracing. */
  readonly forwardHeaders?: readonly string[]
  /** Limits of the upstream account. Default none. */
  readonly limits?: LimitsOptions
  readonly log?: Log
  /** Told of every call when it has ended: `status` is 0 when there was no answer. */
  readonly observe?: (call: { action: Operation['action']; status: number; seconds: number }) => void
}

/** Who asks: headers that may pass on, and a signal that ends the call when the caller goes away. */
export interface Caller {
  /** Whose turn a call takes where calls have to wait. Callers without one share one turn. */
  readonly user?: string
  readonly headers?: Headers
  readonly signal?: AbortSignal
}

export interface Upstream {
  /**
   * Asks the upstream. Resolves with a success (status 2xx, a JSON object, or nothing in answer to a change).
   *
   * Throws Refusal for a status of 400 and above, Unreachable when there was no answer, Invalid for an answer that makes no sense, and Unsent when it was
   * not asked, because a limit would have made the call wait too long.
   */
  send(operation: Operation, caller?: Caller): Promise<Answer>
}

/** What it takes to make a call: a place, where the action is limited. */
interface Entry {
  readonly gate: Gate
  readonly place: Place
}

/** The one place that talks to the asset upstream. */
export const createUpstream = (options: UpstreamOptions): Upstream => {
  const { kind, timeoutMs = 30_000, maxAnswerBytes = 2 ** 26, forwardHeaders, log = silent, observe } = options
  const send = options.fetch ?? ((url, init) => fetch(url, init))
  const gates = createLimits(options.limits, { callMs: timeoutMs, log })
  const shared = new Sharing<Entry, Answer>()

  const enter = async (gate: Gate, user?: string, signal?: AbortSignal, light?: boolean): Promise<Entry> => ({
    gate,
    place: await gate.enter(user, signal, light),
  })

  /** One request, in a place of its own, which it has until the answer begins. */
  const ask = async (operation: Operation, caller: Caller, signal: AbortSignal, entry?: Entry): Promise<Response> => {
    let sent = false
    try {
      const outgoing = await kind.outgoing(operation)
      sent = true
      const response = await send(outgoing.url, {
        ...init(outgoing, requestHeaders(caller.headers, forwardHeaders), isRead(operation)),
        signal,
      })
      const retryAt = entry && response.status === 429 ? retryTime(response.headers, Date.now()) : undefined
      if (retryAt !== undefined) await entry?.gate.slow(retryAt)
      return response
    } finally {
      entry?.gate.leave(entry.place, sent)
    }
  }

  const call = async (operation: Operation, caller: Caller, entry?: Entry): Promise<Answer> => {
    const deadline = new AbortController()
    const abort = () => deadline.abort(caller.signal?.reason)
    const timer = setTimeout(() => deadline.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
    if (caller.signal?.aborted) abort()
    caller.signal?.addEventListener('abort', abort, { once: true })
    const startedAt = performance.now()
    /** Undefined while nothing can be said of the upstream: it was not asked, or its caller did not wait for the answer. */
    let status: number | undefined
    try {
      const response = await ask(operation, caller, deadline.signal, entry).catch(async (error: unknown) => {
        if (error instanceof Problem || deadline.signal.aborted || !isRead(operation)) throw error
        // The connection failed before any answer, and nothing can have changed: once more (reading 10).
        const again = entry && (await enter(entry.gate, caller.user, deadline.signal))
        return ask(operation, caller, deadline.signal, again)
      })
      status = response.status
      const bytes = await collect(response, maxAnswerBytes)
      if (!bytes) throw new Invalid('an answer that is too large')
      const answer = { status, headers: responseHeaders(response.headers), bytes }
      return checkAnswer(operation, answer, kind.secrets, log)
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
  }

  /** One call for all who ask for the same asset at the same time, with the headers of one of them. */
  const share = async (operation: Operation & { action: 'GetAsset' }, caller: Caller, gate?: Gate): Promise<Answer> => {
    const { signal, user, headers } = caller
    try {
      return await shared.ask(keyOf(operation.id, headers, forwardHeaders), {
        signal,
        enter: gate && ((called, joined) => enter(gate, user, called, joined)),
        unused: ({ place }) => gate?.leave(place, false),
        begin: (entry, abandoned) => call(operation, { user, headers, signal: abandoned }, entry),
      })
    } catch (error) {
      throw error instanceof Problem ? error : new Unreachable(error, true)
    }
  }

  return {
    async send(operation, caller = {}) {
      const gate = gates(countedAs(operation))
      if (operation.action === 'GetAsset') return share(operation, caller, gate)
      const entry = gate && (await enter(gate, caller.user, caller.signal))
      if (isRead(operation)) return call(operation, caller, entry)
      // Who knows of a change must not be given a reading from before it.
      return call(operation, caller, entry).finally(() => shared.seal())
    },
  }
}

/** The same for all readings that may share an answer: those of one asset, unless something may be made of different headers. */
const keyOf = (id: string, headers: Headers | undefined, also: readonly string[] = []): string =>
  JSON.stringify([id, ...['accept', 'accept-language', ...also].map((name) => headers?.get(name))])

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
