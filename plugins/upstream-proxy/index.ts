import { Elysia } from 'elysia'
import { identity } from '../shared/identity.ts'
import { type Caller, createUpstream, type Upstream, type UpstreamOptions } from './upstream.ts'

export { type ArkOptions, ark } from './ark.ts'
export { type ArkCredentials, arkAuthorization, arkDate, type Signable } from './ark-signature.ts'
export { collectItems, findGroups, type Listed } from './collect.ts'
export { requestHeaders, responseHeaders } from './headers.ts'
export type { ListQuery, MediaKind, Operation, Outgoing } from './operation.ts'
export { type RestOptions, rest } from './rest.ts'
export {
  type Answer,
  type Caller,
  createUpstream,
  type Fetch,
  Invalid,
  Refusal,
  toResponse,
  Unreachable,
  type Upstream,
  type UpstreamOptions,
} from './upstream.ts'

/**
 * Puts `upstream` into the context, the one way to ask a media asset library, with its authentication, deadline and header hygiene; and `caller`, with
 * which a call ends when the caller goes away.
 *
 * What it throws (Refusal, Unreachable, Invalid) renders itself: see `createUpstream`.
 */
export const upstreamProxy = (options: UpstreamOptions | Upstream) => {
  const upstream = 'send' in options ? options : createUpstream(options)
  return new Elysia({ name: 'sluice/upstream-proxy', seed: identity(options) }).derive(
    { as: 'scoped' },
    ({ request }) => ({
      upstream,
      caller: { headers: request.headers, signal: request.signal } satisfies Caller,
    }),
  )
}
