import { isPromise } from '../shared/awaitable.ts'
import { createCoarseTimers } from '../shared/coarse-timers.ts'
import { createCredentialSearch } from '../shared/credentials.ts'
import { forwardedHeaders, responseHeaders } from '../shared/headers.ts'
import { type Log, noLog, Problem } from '../shared/problem.ts'
import { readAtMost } from '../shared/read-body.ts'
import { Cancellation } from './cancellation.ts'
import { countedAs, isReadOnly, type MediaKind, type Operation, type UpstreamRequest } from './library/operation.ts'
import { createRateLimits, type RateLimitsOptions } from './rate-limit/by-action.ts'
import type { RateLimiter } from './rate-limit/limiter.ts'
import type { QueueTime } from './rate-limit/queue-time.ts'
import type { RateLimitPermit } from './rate-limit/store.ts'
import { checkResponse, UpstreamInvalidError, type UpstreamResponse, UpstreamUnreachableError } from './response.ts'
import { retryTime } from './retry-after.ts'
import { SingleFlight } from './single-flight.ts'

/** A `fetch` of the caller's choice: for tests, or for a runtime whose own re-sends what must be sent once. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface UpstreamOptions {
  readonly kind: MediaKind
  /** Default the global `fetch`. Called with `keepalive: false` for everything that must not be sent twice. */
  readonly fetch?: Fetch
  /** Milliseconds from the call to the last byte of its answer; waiting for a place under a limit comes before it. Looked at every second, and so up to a second more. Default 30,000. */
  readonly timeoutMs?: number
  /** Bytes of an answer beyond which it is refused. Default 64 MiB. */
  readonly maxResponseBytes?: number
  /** Headers of callers that pass, besides content type, language and tracing. */
  readonly forwardHeaders?: readonly string[]
  /** Limits of the upstream account. Default none. */
  readonly limits?: RateLimitsOptions
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
  /** How long the request has waited, whose calls wait together no longer than one may. Callers without it make one call. */
  readonly queueTime?: QueueTime
}

export interface Upstream {
  /**
   * Asks the upstream. Resolves with a success (status 2xx, a JSON object, or nothing in answer to a change).
   *
   * Throws Refusal for a status of 400 and above, Unreachable when there was no answer, Invalid for an answer that makes no sense, and Unsent when it was
   * not asked, because a limit would have made the call wait too long.
   */
  send(operation: Operation, caller?: Caller): Promise<UpstreamResponse>
}

/** What it takes to make a call: a place, where the action is limited. */
interface Entry {
  readonly gate: RateLimiter
  readonly place: RateLimitPermit
}

/** The one place that talks to the asset upstream. */
export const createUpstream = (options: UpstreamOptions): Upstream => {
  const { kind, timeoutMs = 30_000, maxResponseBytes = 2 ** 26, forwardHeaders, log = noLog, observe } = options
  const send = options.fetch ?? ((url, init) => fetch(url, init))
  const gates = createRateLimits(options.limits, { callMs: timeoutMs, log })
  const shared = new SingleFlight<Entry, UpstreamResponse>((reason) => new UpstreamUnreachableError(reason, true))
  const deadlines = createCoarseTimers(Math.min(1_000, timeoutMs / 10))
  const reveals = createCredentialSearch(kind.secrets)
  const errorReveals = createCredentialSearch([...kind.secrets, ...(kind.accountIds ?? [])])

  const enter = async (
    gate: RateLimiter,
    { user, queueTime: waited }: Caller,
    signal?: AbortSignal,
    light?: boolean,
  ): Promise<Entry> => ({
    gate,
    place: await gate.enter(user, signal, { light, waited }),
  })

  /** One request, in a place of its own where it needs one, which it has until the answer begins. */
  const ask = async (operation: Operation, caller: Caller, signal: AbortSignal, entry?: Entry): Promise<Response> => {
    let sent = false
    try {
      const known = kind.outgoing(operation)
      const outgoing = isPromise(known) ? await known : known
      sent = true
      const headers = forwardedHeaders(caller.headers, forwardHeaders)
      const response = await send(outgoing.url, init(outgoing, headers, isReadOnly(operation), signal))
      const retryAt = entry && response.status === 429 ? retryTime(response.headers, Date.now()) : undefined
      if (retryAt !== undefined) await entry?.gate.slow(retryAt)
      return response
    } finally {
      entry?.gate.leave(entry.place, sent)
    }
  }

  const call = async (
    operation: Operation,
    caller: Caller,
    cancellation: Cancellation,
    entry?: Entry,
  ): Promise<UpstreamResponse> => {
    const { signal } = cancellation
    deadlines.add(cancellation)
    /** Undefined while nothing can be said of the upstream: it was not asked, or its caller did not wait for the answer. */
    let status: number | undefined
    try {
      let response: Response
      try {
        response = await ask(operation, caller, signal, entry)
      } catch (error) {
        if (error instanceof Problem || signal.aborted || !isReadOnly(operation)) throw error
        // The connection failed before any answer, and nothing can have changed: once more.
        const again = entry && (await enter(entry.gate, caller, signal))
        response = await ask(operation, caller, signal, again)
      }
      status = response.status
      const bytes = await readAtMost(response, maxResponseBytes)
      if (!bytes) throw new UpstreamInvalidError('an answer that is too large')
      const answer = { status, headers: responseHeaders(response.headers, status), bytes }
      return checkResponse(operation, answer, status < 400 ? reveals : errorReveals, log)
    } catch (error) {
      if (error instanceof Problem) throw error
      if (!cancellation.abandoned) status ??= 0
      throw new UpstreamUnreachableError(error, !neverSent(error))
    } finally {
      deadlines.delete(cancellation)
      cancellation.unfollow()
      const seconds = (performance.now() - cancellation.until + timeoutMs) / 1000
      if (status !== undefined) observe?.({ action: operation.action, status, seconds })
    }
  }

  const begin = (): Cancellation => new Cancellation(performance.now() + timeoutMs)

  /** One call for the caller alone, which ends when the caller leaves. */
  const callAlone = (operation: Operation, caller: Caller, entry?: Entry): Promise<UpstreamResponse> => {
    const cancellation = begin()
    cancellation.follow(caller.signal)
    return call(operation, caller, cancellation, entry)
  }

  /** One call for all who ask for the same asset at the same time, with the headers of one of them. */
  const share = (
    operation: Operation & { action: 'GetAsset' },
    caller: Caller,
    gate?: RateLimiter,
  ): Promise<UpstreamResponse> =>
    shared.ask(keyOf(operation.id, caller.headers, forwardHeaders), {
      signal: caller.signal,
      enter: gate && ((called, joined) => enter(gate, caller, called, joined)),
      unused: ({ place }) => gate?.leave(place, false),
      begin(entry) {
        const cancellation = begin()
        return {
          answer: call(operation, caller, cancellation, entry),
          abandon: (reason) => cancellation.abandon(reason),
        }
      },
    })

  return {
    send(operation, caller = {}) {
      const gate = gates(countedAs(operation))
      if (operation.action === 'GetAsset') return share(operation, caller, gate)
      const answer = gate
        ? enter(gate, caller, caller.signal).then((entry) => callAlone(operation, caller, entry))
        : callAlone(operation, caller)
      // Who knows of a change must not be given a reading from before it.
      return isReadOnly(operation) ? answer : answer.finally(() => shared.seal())
    },
  }
}

/** The same for all readings that may share an answer: those of one asset, unless something may be made of different headers, whose values hold no control characters. */
const keyOf = (id: string, headers: Headers | undefined, also: readonly string[] = []): string => {
  let key = ''
  for (const name of negotiated) key += `${headers?.get(name) ?? '\0'}\n`
  for (const name of also) key += `${headers?.get(name) ?? '\0'}\n`
  return key + id
}

const negotiated = ['accept', 'accept-language']

const init = (
  outgoing: UpstreamRequest,
  headers: Record<string, string>,
  repeatable: boolean,
  signal: AbortSignal,
): RequestInit => {
  // The account's own go before the caller's, in whatever case a kind writes them.
  for (const name in outgoing.headers) headers[name.toLowerCase()] = outgoing.headers[name] as string
  return {
    method: outgoing.method,
    headers,
    signal,
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
