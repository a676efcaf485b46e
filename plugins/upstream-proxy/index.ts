import { type AnyElysia, Elysia } from 'elysia'
import { type Disconnection, disconnectionOf } from '../shared/http/disconnection.ts'
import { checkCollaborator } from '../shared/plugin/options.ts'
import type { ContextPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { createUpstream, type UpstreamOptions } from './client.ts'
import { type QueueTime, queueTimeOf } from './rate-limit/queue-time.ts'
import type { Caller, Upstream } from './upstream.ts'

export { requestHeaders, responseHeaders } from '../shared/http/headers.ts'
export {
  type Fetch,
  type RawResponse,
  toResponse,
  UpstreamInvalidError,
  UpstreamRejectedError,
  UpstreamUnreachableError,
} from '../shared/upstream/upstream-error.ts'
export { type AccountsOptions, createUpstreamOfAccounts, type MediaAccount } from './accounts.ts'
export { createUpstream, type UpstreamOptions } from './client.ts'
export { type ArkOptions, ark } from './library/ark.ts'
export { arkLimits } from './library/ark-limits.ts'
export { type ArkCredentials, arkAuthorization, arkDate, type Signable } from './library/ark-signature.ts'
export {
  describeGroups,
  findGroups,
  groupBatches,
  itemsOf,
  type ListedGroups,
  type SearchFrom,
} from './library/group-queries.ts'
export type {
  CursorMode,
  ListQuery,
  MediaKind,
  Operation,
  PageMode,
  UpstreamRequest,
  VerificationKind,
} from './library/operation.ts'
export { accountOf, maxGroupsPerCall } from './library/operation.ts'
export { type RestOptions, rest } from './library/rest.ts'
export { maxQueueMs, type RateLimitsOptions } from './rate-limit/by-action.ts'
export { UpstreamBusyError } from './rate-limit/limiter.ts'
export { memoryRateLimitStore } from './rate-limit/memory-store.ts'
export type { PermitRequest, RateLimit, RateLimitDelay, RateLimitPermit, RateLimitStore } from './rate-limit/store.ts'
export type { UpstreamResponse } from './response.ts'
export type { Caller, Upstream, UpstreamAccounts, UpstreamCall } from './upstream.ts'

/** Returns the user of a request, for the fair queue. It runs only when a call reaches a rate limiter. */
export type UserOf = (request: Request) => string | undefined

/**
 * The caller of a request: its headers, its abort signal, its user and its queue time.
 *
 * All calls of one request share one queue time, also if several callers are made for it.
 */
export const callerOf = (request: Request, user?: string | UserOf): Caller => new RequestCaller(request, user)

/** Every request creates one, but few use it. So it computes its members on access. */
class RequestCaller implements Caller {
  readonly #request: Request
  readonly #user: string | UserOf | undefined

  constructor(request: Request, user: string | UserOf | undefined) {
    this.#request = request
    this.#user = user
  }

  get headers(): Headers {
    return this.#request.headers
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }

  get disconnection(): Disconnection {
    return disconnectionOf(this.#request)
  }

  get user(): string | undefined {
    return typeof this.#user === 'function' ? this.#user(this.#request) : this.#user
  }

  get queueTime(): QueueTime {
    return queueTimeOf(this.#request)
  }
}

/** What `upstreamProxy` adds to the context. */
export type UpstreamContext = { upstream: Upstream; caller: Caller }

/**
 * Adds `upstream`, the client of the asset library, and `caller`, the caller of the request, to the context.
 *
 * A call with `caller` forwards its permitted headers and ends when the client disconnects. The errors of
 * `upstream.send` (see `Upstream`) render themselves as responses.
 *
 * `userOf` matters only with rate limits. Without it, the fair queue treats all requests as one user. Throws TypeError
 * for options that `createUpstream` rejects.
 *
 * @example
 * new Elysia().use(upstreamProxy({ kind: rest(upstream) }))
 */
export const upstreamProxy = (
  options: UpstreamOptions | Upstream,
  { userOf }: { readonly userOf?: UserOf } = {},
): ContextPlugin<UpstreamContext> => {
  checkCollaborator('options', options)
  const upstream = 'send' in options ? options : createUpstream(options)
  const seed = [seedOf(options), userOf && seedOf(userOf)]
  const plugin: AnyElysia = new Elysia({ name: 'sluice/upstream-proxy', seed })
  return plugin.derive(
    { as: 'scoped' },
    ({ request }): UpstreamContext => ({
      upstream,
      caller: callerOf(request, userOf),
    }),
  )
}
