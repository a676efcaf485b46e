import { Elysia } from 'elysia'
import { identity } from '../shared/identity.ts'
import { type Caller, createUpstream, type Upstream, type UpstreamOptions } from './upstream.ts'
import { type Waited, waitedOf } from './waited.ts'

export { requestHeaders, responseHeaders } from '../shared/headers.ts'
export { type Answer, Invalid, type Received, Refusal, toResponse, Unreachable } from './answer.ts'
export { type ArkOptions, ark } from './ark.ts'
export { type ArkCredentials, arkAuthorization, arkDate, type Signable } from './ark-signature.ts'
export { describeGroups, findGroups, groupsByCall, groupsPerCall, itemsOf, type ListedGroups } from './collect.ts'
export { Unsent } from './gate.ts'
export { type LimitsOptions, longestWait } from './limits.ts'
export { memoryPlaces } from './memory-places.ts'
export type { CursorMode, ListQuery, MediaKind, Operation, Outgoing, PageMode } from './operation.ts'
export type { Place, Places, Rate, Wait, Wanted } from './places.ts'
export { type RestOptions, rest } from './rest.ts'
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

  get waited(): Waited {
    return waitedOf(this.#request)
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
  const seed = [identity(options), userOf && identity(userOf)]
  return new Elysia({ name: 'sluice/upstream-proxy', seed }).derive({ as: 'scoped' }, ({ request }) => ({
    upstream,
    caller: callerOf(request, userOf),
  }))
}
