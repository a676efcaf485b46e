import { Elysia } from 'elysia'
import { seedOf } from '../shared/seed.ts'
import { type QueueTime, queueTimeOf } from './rate-limit/queue-time.ts'
import { type Caller, createUpstream, type Upstream, type UpstreamOptions } from './upstream.ts'

export { requestHeaders, responseHeaders } from '../shared/headers.ts'
export { type ArkOptions, ark } from './library/ark.ts'
export { type ArkCredentials, arkAuthorization, arkDate, type Signable } from './library/ark-signature.ts'
export {
  describeGroups,
  findGroups,
  groupsByCall,
  groupsPerCall,
  itemsOf,
  type ListedGroups,
} from './library/group-queries.ts'
export type { CursorMode, ListQuery, MediaKind, Operation, PageMode, UpstreamRequest } from './library/operation.ts'
export { type RestOptions, rest } from './library/rest.ts'
export { maxQueueMs, type RateLimitsOptions } from './rate-limit/by-action.ts'
export { UpstreamBusyError } from './rate-limit/limiter.ts'
export { memoryRateLimitStore } from './rate-limit/memory-store.ts'
export type { PermitRequest, RateLimit, RateLimitDelay, RateLimitPermit, RateLimitStore } from './rate-limit/store.ts'
export {
  type RawResponse,
  toResponse,
  UpstreamInvalidError,
  UpstreamRefusedError,
  type UpstreamResponse,
  UpstreamUnreachableError,
} from './response.ts'
export { type Caller, createUpstream, type Fetch, type Upstream, type UpstreamOptions } from './upstream.ts'

/** Who a request is from, for the turns of those who wait. Asked when the upstream is, so whoever finds it out has time until then. */
export type UserOf = (request: Request) => string | undefined

/** A request's caller: its headers pass on where they may, its leaving ends the call, its user takes turns with others, and its calls share one patience. */
export const callerOf = (request: Request, userOf?: UserOf): Caller => new RequestCaller(request, userOf)

/** Made for every request, and asked by few of them. */
class RequestCaller implements Caller {
  readonly #request: Request
  readonly #userOf: UserOf | undefined

  constructor(request: Request, userOf: UserOf | undefined) {
    this.#request = request
    this.#userOf = userOf
  }

  get headers(): Headers {
    return this.#request.headers
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }

  get user(): string | undefined {
    return this.#userOf?.(this.#request)
  }

  get queueTime(): QueueTime {
    return queueTimeOf(this.#request)
  }
}

/**
 * Puts `upstream` into the context, the one way to ask a media asset library, with its authentication, deadline and header hygiene; and `caller`, with
 * which a call ends when the caller goes away.
 *
 * What it throws (Refusal, Unreachable, Invalid, Unsent) renders itself: see `createUpstream`. `userOf` matters only where there are limits: without it all
 * requests share one turn.
 */
export const upstreamProxy = (options: UpstreamOptions | Upstream, { userOf }: { readonly userOf?: UserOf } = {}) => {
  const upstream = 'send' in options ? options : createUpstream(options)
  const seed = [seedOf(options), userOf && seedOf(userOf)]
  return new Elysia({ name: 'sluice/upstream-proxy', seed }).derive({ as: 'scoped' }, ({ request }) => ({
    upstream,
    caller: callerOf(request, userOf),
  }))
}
