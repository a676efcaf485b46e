import type { Identify } from '../shared/identity/identify.ts'
import {
  createUpstream,
  createUpstreamOfAccounts,
  type MediaKind,
  maxQueueMs,
  type Upstream,
  UpstreamUnreachableError,
} from '../upstream-proxy/index.ts'
import type { GatewayOptions } from './options.ts'

/**
 * The client of the upstream: one account, several, or none, which sends nothing. Throws TypeError for a kind beside
 * accounts, and as `createUpstream` and `createUpstreamOfAccounts` do.
 */
export const openUpstream = (options: GatewayOptions): Upstream => {
  const { kind, accounts } = options
  if (kind && accounts) throw new TypeError('there must be either a kind or accounts')
  return accounts
    ? createUpstreamOfAccounts(accounts, options)
    : createUpstream({ ...options, kind: kind ?? unconfigured })
}

/** Maximum milliseconds that the rate limits of an account delay a call. */
export const maxQueueMsOf = ({ accounts, limits }: Pick<GatewayOptions, 'accounts' | 'limits'>): number =>
  Math.max(
    ...(accounts ?? [{ perSecond: limits?.perSecond }]).map(({ perSecond = limits?.perSecond ?? {} }) =>
      maxQueueMs({ ...limits, perSecond }),
    ),
  )

const unconfigured: MediaKind = {
  secrets: [],
  faceVerification: 'none',
  outgoing() {
    throw new UpstreamUnreachableError(new Error('no upstream is configured'), false)
  },
}

/** Without an upstream, every route rejects identified callers with 502, and others with 401 as usual. */
export const rejectAfter =
  (identify: Identify): Identify =>
  async (request) => {
    if (await identify(request)) throw new UpstreamUnreachableError(new Error('no upstream is configured'), false)
    return undefined
  }
