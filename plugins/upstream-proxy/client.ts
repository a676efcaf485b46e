import { isPromise } from '../shared/awaitable.ts'
import { createCoarseTimers } from '../shared/background/coarse-timers.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { readAtMost } from '../shared/http/body/read-body.ts'
import { forwardedHeaders, responseHeaders } from '../shared/http/headers.ts'
import { checkAbove0, checkCollaborator } from '../shared/plugin/options.ts'
import { type Log, noLog, Problem } from '../shared/problem.ts'
import { createCredentialSearch } from '../shared/upstream/credentials.ts'
import { fetchOnce } from '../shared/upstream/fetch.ts'
import { RetryBudget } from '../shared/upstream/retry-budget.ts'
import type { TraceCall } from '../shared/upstream/trace-call.ts'
import {
  CircuitOpenError,
  type Fetch,
  isNeverSent,
  UpstreamInvalidError,
  UpstreamUnreachableError,
} from '../shared/upstream/upstream-error.ts'
import { otherAccount } from './account-error.ts'
import { Cancellation } from './cancellation.ts'
import { checkOperation } from './library/check-operation.ts'
import {
  accountOf,
  isReadOnly,
  type MediaKind,
  type Operation,
  rateLimitedAction,
  type UpstreamRequest,
} from './library/operation.ts'
import { createRateLimiters, type RateLimitsOptions } from './rate-limit/by-action.ts'
import type { RateLimiter } from './rate-limit/limiter.ts'
import type { RateLimitPermit } from './rate-limit/store.ts'
import { checkResponse, type UpstreamResponse } from './response.ts'
import { retryTime } from './retry-after.ts'
import { SingleFlight } from './single-flight.ts'
import type { AccountClient, Caller, Upstream, UpstreamCall } from './upstream.ts'

/** Options of the client. */
export interface UpstreamOptions {
  readonly kind: MediaKind
  /**
   * Name of the account, where there are several. The client sends only operations whose ids are of this account.
   * Default: none, for ids without an account.
   */
  readonly account?: string | undefined
  /**
   * Default the global `fetch`, once. The client passes `keepalive: false` for every request that must not be sent
   * twice.
   */
  readonly fetch?: Fetch
  /**
   * Milliseconds from the start of the call to the last byte of its response, without the wait for a rate limit permit.
   * Default 30,000.
   *
   * The client checks it once a second, so a call can take up to a second longer.
   */
  readonly timeoutMs?: number
  /** Maximum size of a response in bytes. Default 64 MiB. */
  readonly maxResponseBytes?: number
  /** Further request headers to forward, besides content type, language and request id. */
  readonly forwardHeaders?: readonly string[]
  /** Rate limits of the upstream account. Default none. */
  readonly limits?: RateLimitsOptions
  /** Time and timers of the rate limits. Default: the system clock. */
  readonly clock?: Clock
  readonly log?: Log
  /** Receives every call that has ended. `status` is 0 if there was no response. */
  readonly observe?: (call: UpstreamCall) => void
  /**
   * Learns of every read whose call has failed before the response: whether it was `sent` again, or `refused`, because
   * a tenth of the calls have been sent again lately.
   */
  readonly observeRetry?: (outcome: 'sent' | 'refused') => void
  /** Traces every call: `createTracing(…).traceCall` of `sluice/tracing`. Default: no traces. */
  readonly traceCall?: TraceCall
}

/** A permit and the rate limiter to return it to. */
interface HeldPermit {
  readonly limiter: RateLimiter
  readonly permit: RateLimitPermit
  /** How long the call has waited for the permit, for its trace. Undefined: there are no traces. */
  readonly queueSeconds: number | undefined
}

/**
 * Creates the client of an asset library. All calls to it go through this client.
 *
 * Throws TypeError without a kind, and for a time, size or rate limit that is not above 0.
 *
 * @example
 * const upstream = createUpstream({ kind, limits: { perSecond: { CreateAsset: 5 } } })
 */
export const createUpstream = (options: UpstreamOptions): Upstream => createClient(options)

/** The same, for one of several accounts. */
export const createClient = (options: UpstreamOptions): AccountClient => {
  const { account } = options
  const { kind, timeoutMs = 30_000, maxResponseBytes = 2 ** 26, forwardHeaders, log = noLog } = options
  const { clock = systemClock, observe, observeRetry, traceCall } = options
  checkCollaborator('kind', kind)
  checkAbove0({ timeoutMs, maxResponseBytes })
  const send = options.fetch ?? fetchOnce
  const limiterOf = createRateLimiters(options.limits && { account, ...options.limits }, {
    callMs: timeoutMs,
    clock,
    log,
  })
  const singleFlight = new SingleFlight<HeldPermit, UpstreamResponse>(
    (reason) => new UpstreamUnreachableError(reason, true),
  )
  const retries = new RetryBudget(clock)
  const deadlines = createCoarseTimers(Math.min(1_000, timeoutMs / 10))
  const containsSecret = createCredentialSearch(kind.secrets)
  const containsSecretOrAccountId = createCredentialSearch([...kind.secrets, ...(kind.accountIds ?? [])])

  const acquire = async (
    limiter: RateLimiter,
    { user, queueTime }: Caller,
    signal?: AbortSignal,
    shared?: boolean,
  ): Promise<HeldPermit> => {
    const since = traceCall && performance.now()
    const permit = await limiter.acquire(user, signal, { shared, queueTime })
    return { limiter, permit, queueSeconds: since && (performance.now() - since) / 1000 }
  }

  /** Sends one request. Returns its permit when the response starts. */
  const request = async (
    operation: Operation,
    caller: Caller,
    signal: AbortSignal,
    held?: HeldPermit,
  ): Promise<Response> => {
    let sent = false
    try {
      const built = kind.outgoing(operation)
      const outgoing = isPromise(built) ? await built : built
      sent = true
      const headers = forwardedHeaders(caller.headers, forwardHeaders)
      const response = await send(outgoing.url, init(outgoing, headers, isReadOnly(operation), signal))
      const retryAt = held && response.status === 429 ? retryTime(response.headers, clock.now()) : undefined
      if (retryAt !== undefined) await held?.limiter.slow(retryAt)
      return response
    } finally {
      held?.limiter.release(held.permit, sent)
    }
  }

  const call = async (
    operation: Operation,
    caller: Caller,
    cancellation: Cancellation,
    held?: HeldPermit,
  ): Promise<UpstreamResponse> => {
    const { signal } = cancellation
    deadlines.add(cancellation)
    const trace = traceCall?.({ action: operation.action, queueSeconds: held?.queueSeconds })
    let failure: unknown
    /**
     * Undefined if the call is not reported: the client did not send it, or all callers disconnected before the
     * response.
     */
    let status: number | undefined
    try {
      let response: Response
      try {
        retries.count()
        response = await request(operation, caller, signal, held)
      } catch (error) {
        if (error instanceof Problem || signal.aborted || !isReadOnly(operation)) throw error
        if (error instanceof CircuitOpenError) throw error
        const mayRetry = retries.take()
        observeRetry?.(mayRetry ? 'sent' : 'refused')
        if (!mayRetry) throw error
        // The connection failed before the response. A read-only operation is safe to retry, once.
        const heldForRetry = held && (await acquire(held.limiter, caller, signal))
        response = await request(operation, caller, signal, heldForRetry)
      }
      status = response.status
      const bytes = await readAtMost(response, maxResponseBytes)
      if (!bytes) throw new UpstreamInvalidError('the response is too large')
      const received = { status, headers: responseHeaders(response.headers, status), bytes }
      return checkResponse(operation, received, status < 400 ? containsSecret : containsSecretOrAccountId, log)
    } catch (error) {
      failure = error
      if (error instanceof Problem) throw error
      if (!cancellation.abandoned) status ??= 0
      throw new UpstreamUnreachableError(error, !isNeverSent(error))
    } finally {
      deadlines.delete(cancellation)
      cancellation.unfollow()
      const seconds = (performance.now() - cancellation.expiresAt + timeoutMs) / 1000
      if (status !== undefined)
        observe?.({ action: operation.action, status, seconds, ...(account !== undefined && { account }) })
      trace?.end({ status, error: failure })
    }
  }

  const startTimeout = (): Cancellation => new Cancellation(performance.now() + timeoutMs)

  /** A call for one caller. It is aborted when the caller disconnects. */
  const callAlone = (operation: Operation, caller: Caller, held?: HeldPermit): Promise<UpstreamResponse> => {
    const cancellation = startTimeout()
    cancellation.follow(caller.disconnection ?? caller.signal)
    return call(operation, caller, cancellation, held)
  }

  /**
   * One call for all callers that read the same asset at the same time. It has the headers of the caller that starts
   * it.
   */
  const callShared = (
    operation: Operation & { action: 'GetAsset' },
    caller: Caller,
    limiter?: RateLimiter,
  ): Promise<UpstreamResponse> =>
    singleFlight.run(keyOf(operation.id, caller.headers, forwardHeaders), {
      signal: caller.disconnection ?? caller.signal,
      acquire: limiter && ((signal, joined) => acquire(limiter, caller, signal, joined)),
      release: ({ permit }) => limiter?.release(permit, false),
      start(held) {
        const cancellation = startTimeout()
        return {
          result: call(operation, caller, cancellation, held),
          abandon: (reason) => cancellation.abandon(reason),
        }
      },
    })

  return {
    faceVerification: kind.faceVerification,
    waitMs: (action) => limiterOf(action)?.waitMs ?? 0,
    send(unchecked, caller = {}) {
      let operation: Operation
      try {
        operation = checkOperation(unchecked)
      } catch (error) {
        return Promise.reject(error)
      }
      const owner = accountOf(operation)
      if (owner !== account) return Promise.reject(otherAccount(owner))
      const limiter = limiterOf(rateLimitedAction(operation))
      if (operation.action === 'GetAsset') return callShared(operation, caller, limiter)
      const response = limiter
        ? acquire(limiter, caller, caller.signal).then((held) => callAlone(operation, caller, held))
        : callAlone(operation, caller)
      // After a write has returned, a caller must not join a read that started before the write.
      return isReadOnly(operation) ? response : response.finally(() => singleFlight.forgetStarted())
    },
  }
}

/**
 * The key of reads that may share a response: the asset and the headers that the response may depend on.
 *
 * The separators are unambiguous, because header values contain no control characters.
 */
const keyOf = (id: string, headers: Headers | undefined, forwardHeaders: readonly string[] = []): string => {
  let key = ''
  for (const name of negotiationHeaders) key += `${headers?.get(name) ?? '\0'}\n`
  for (const name of forwardHeaders) key += `${headers?.get(name) ?? '\0'}\n`
  return key + id
}

/** Headers of content negotiation that the client forwards. */
const negotiationHeaders = ['accept', 'accept-language']

const init = (
  outgoing: UpstreamRequest,
  headers: Record<string, string>,
  mayRepeat: boolean,
  signal: AbortSignal,
): RequestInit => {
  // The headers of the kind override the caller's. The names are in lower case, so that none occurs twice.
  for (const name in outgoing.headers) headers[name.toLowerCase()] = outgoing.headers[name] as string
  return {
    method: outgoing.method,
    headers,
    signal,
    body: outgoing.body as RequestInit['body'],
    // A redirect could send the account's credentials to another host.
    redirect: 'manual',
    // With keep-alive, a runtime may repeat a request when its idle connection turns out to be closed. Only read-only
    // operations allow that.
    keepalive: mayRepeat,
  }
}
