import { Elysia } from 'elysia'
import {
  type ClaimStore,
  createOwnership,
  type Identify,
  type OwnershipStore,
  ownership,
  type RevisionClock,
} from '../plugins/ownership/index.ts'
import { paginationNormalizer } from '../plugins/pagination-normalizer/index.ts'
import { type Audit, noAudit } from '../plugins/shared/audit.ts'
import { fallbackRoutes } from '../plugins/shared/fallback-routes.ts'
import { identityOf } from '../plugins/shared/identify.ts'
import { noLog, problemBody, renderProblems } from '../plugins/shared/problem.ts'
import { seedOf } from '../plugins/shared/seed.ts'
import {
  callerOf,
  createUpstream,
  type MediaKind,
  maxQueueMs,
  type UpstreamOptions,
  UpstreamUnreachableError,
  upstreamProxy,
} from '../plugins/upstream-proxy/index.ts'
import { createAsset, deleteAsset, getAsset, listAssets, updateAsset } from './routes/assets.ts'
import { createGroup, deleteGroup, getGroup, listGroups, updateGroup } from './routes/groups.ts'
import { type Evidence, type Library, locateAsset, type Owners } from './routes/library.ts'
import { reconcileGroups } from './routes/reconcile.ts'
import { assetList, groupList } from './schema/lists.ts'
import { openapi } from './schema/openapi.ts'

export interface GatewayOptions extends Omit<UpstreamOptions, 'kind'> {
  /** The asset library's upstream. Undefined: its routes answer 502. */
  readonly kind: MediaKind | undefined
  readonly store: OwnershipStore & ClaimStore
  /** Who is calling: `identifyByToken`, or the host app's own. */
  readonly identify: Identify
  /** Sign page tokens: the first signs, all verify. The same ones for every process. */
  readonly secrets: readonly [string, ...string[]]
  /** The product word in `/api/media/…`, and in the type of errors. Default `media`. */
  readonly segment?: string
  /** Largest request body in bytes; beyond it 413. Default 1 MiB. */
  readonly maxBodyBytes?: number
  /** Milliseconds since 1970. Default the system's clock. */
  readonly now?: () => number
  /** Told of every change and refusal. Default: nobody is. */
  readonly audit?: Audit
  /** Shared with `identifyByToken`, one question to the store serves both. */
  readonly revisionClock?: RevisionClock
  /** Settles open claims at once and every minute until it is aborted. Undefined: left to the caller, see `settleGroups`. */
  readonly settleUntil?: AbortSignal
}

/** The asset library gateway, as a plugin. */
export const gateway = (options: GatewayOptions) => assetLibrary(options).gateway

/**
 * The gateway; whose assets are whose: `assets` fits `textGeneration`, which refuses the addresses of all others; and the `upstream` itself, for `faceVerification`.
 */
export const assetLibrary = (options: GatewayOptions) => {
  const { segment = 'media', log = noLog, audit = noAudit, maxBodyBytes = 2 ** 20, now = Date.now, store } = options
  const upstream = createUpstream({ ...options, kind: options.kind ?? unconfigured })
  const identify = options.kind ? options.identify : refuseAfter(options.identify)
  const rules = createOwnership<Evidence>({
    store,
    revisionClock: options.revisionClock,
    locate: (asset, request) => locateAsset(upstream, asset, request ? callerOf(request, userOf) : {}),
  })
  const claimMs = 2 * (options.timeoutMs ?? 30_000) + maxQueueMs(options.limits)
  const library: Library = { upstream, claims: store, maxBodyBytes, claimMs, now, log, audit }
  if (options.settleUntil) void reconcileGroups(library, store, options.settleUntil)

  // The chain reads as the table of contents of the document.
  const routes = new Elysia({ name: 'sluice/gateway', seed: seedOf(options), prefix: `/api/${segment}/proxy` })
    .onError(renderProblems(problemBody(`${segment}_proxy_error`), log, audit))
    .use(upstreamProxy(upstream, { userOf }))
    .use(paginationNormalizer({ secrets: options.secrets, maxBodyBytes, identify }))
    .use(ownership({ rules, identify }))
    .post('/assets/groups', createGroup(library), { caller: true, ...openapi.createGroup })
    .get('/assets/groups', listGroups(library), { caller: true, lists: groupList, ...openapi.listGroups })
    .get('/assets/groups/:group_id', getGroup(library), { ownsGroup: 'group_id', ...openapi.getGroup })
    .put('/assets/groups/:group_id', updateGroup(library, 'PUT'), { ownsGroup: 'group_id', ...openapi.updateGroup })
    .patch('/assets/groups/:group_id', updateGroup(library, 'PATCH'), { ownsGroup: 'group_id', ...openapi.updateGroup })
    .delete('/assets/groups/:group_id', deleteGroup(library), { ownsGroup: 'group_id', ...openapi.deleteGroup })
    .post('/assets', createAsset(library), { caller: true, ...openapi.createAsset })
    .get('/assets', listAssets(library), { caller: true, lists: assetList, ...openapi.listAssets })
    .get('/assets/:asset_id', getAsset, { locatesAsset: 'asset_id', ...openapi.getAsset })
    .put('/assets/:asset_id', updateAsset(library, 'PUT'), { ownsAsset: 'asset_id', ...openapi.updateAsset })
    .patch('/assets/:asset_id', updateAsset(library, 'PATCH'), { ownsAsset: 'asset_id', ...openapi.updateAsset })
    .delete('/assets/:asset_id', deleteAsset(library), { ownsAsset: 'asset_id', ...openapi.deleteAsset })
    .use(fallbackRoutes)
  const assets: Pick<Owners, 'asset'> = rules
  return { gateway: routes, upstream, assets: options.kind && assets }
}

/** Whose turn it is where calls wait for the upstream. */
const userOf = (request: Request): string | undefined => identityOf(request)?.user

const unconfigured: MediaKind = {
  secrets: [],
  outgoing() {
    throw new UpstreamUnreachableError(new Error('no upstream is configured'), false)
  },
}

/** Without an upstream whoever may call is told so, on every route. */
const refuseAfter =
  (identify: Identify): Identify =>
  async (request) => {
    if (await identify(request)) throw new UpstreamUnreachableError(new Error('no upstream is configured'), false)
    return undefined
  }
