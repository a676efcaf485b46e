import { type AnyElysia, Elysia } from 'elysia'
import { ownership } from '../ownership/index.ts'
import { paginationNormalizer } from '../pagination-normalizer/index.ts'
import type { Awaitable } from '../shared/awaitable.ts'
import { createErrorHandler, type ErrorHandler, type HandlerContext } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { identityOf } from '../shared/identity/identify.ts'
import { checkIdentify, checkPath } from '../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { problemBody } from '../shared/problem.ts'
import { upstreamProxy } from '../upstream-proxy/index.ts'
import { batchRoutes } from './batches/batch-routes.ts'
import { batchDocs } from './batches/openapi.ts'
import { consentRoutes } from './consent/consent-routes.ts'
import { consentDocs } from './consent/openapi.ts'
import { type LibraryParts, openLibrary } from './open-library.ts'
import type { GatewayOptions } from './options.ts'
import { createAsset, deleteAsset, getAsset, listAssets, updateAsset } from './routes/assets.ts'
import { createGroup, deleteGroup, getGroup, listGroups, updateGroup } from './routes/groups.ts'
import { createShare, deleteShare, listSharedUses, listShares, returnGroup } from './routes/shares.ts'
import { countGroupUses, listUses } from './routes/uses.ts'
import { assetList, groupList, withScope } from './schema/lists.ts'
import { docs } from './schema/openapi.ts'
import type { LibraryRoutes } from './schema/types.ts'

export type * from './accounts/store.ts'
export type * from './batches/store.ts'
export type * from './batches/view.ts'
export type { ConsentOptions } from './consent/consent-routes.ts'
export type { GatewayOptions } from './options.ts'
export type { DigestOf } from './pictures/digest.ts'
export type { PictureOptions } from './pictures/picture-assets.ts'
export type * from './pictures/store.ts'
export type { ShareOptions } from './routes/shares.ts'
export type * from './schema/types.ts'
export type { AssetType, Originals, SlotOptions } from './slots/options.ts'
export type * from './slots/store.ts'
export type { AssetEvents, AssetProgress, AssetWatch, AssetWatchStore } from './watch/asset-events.ts'

/**
 * The asset library gateway as an Elysia plugin. Throws TypeError for a wrong `prefix`, `segment` or `secrets`, and
 * without `identify`.
 *
 * @example
 * new Elysia().use(gateway({ kind: rest(upstream), store, identify, secrets, background: true }))
 */
export const gateway = <const Segment extends string = 'media', const Prefix extends string = PrefixOf<Segment>>(
  options: GatewayOptions & LibraryPath<Segment, Prefix>,
): RoutesPlugin<RoutesAt<Prefix, LibraryRoutes>> => assetLibrary(options).gateway

/** The options that decide the path of the routes, with their literal types, for Eden. */
interface LibraryPath<Segment extends string, Prefix extends string> {
  readonly segment?: Segment
  readonly prefix?: Prefix
}

type PrefixOf<Segment extends string> = string extends Segment ? string : `/api/${Segment}/proxy`

/** The result of `assetLibrary`. */
export interface AssetLibrary<Prefix extends string> extends LibraryParts {
  readonly gateway: RoutesPlugin<RoutesAt<Prefix, LibraryRoutes>>
}

/**
 * The gateway plugin, and the parts of it that other plugins need.
 *
 * @example
 * const { gateway, assets } = assetLibrary({ kind, store, identify, secrets })
 * new Elysia().use(gateway).use(textGeneration({ upstreams: [upstream], identify, assets }))
 */
export const assetLibrary = <const Segment extends string = 'media', const Prefix extends string = PrefixOf<Segment>>(
  options: GatewayOptions & LibraryPath<Segment, Prefix>,
): AssetLibrary<Prefix> => {
  const { segment = 'media', log, audit } = options
  if (!/^[\w-]+$/.test(segment)) throw new TypeError('segment must consist of letters, digits, _ and -')
  const prefix = checkPath('prefix', options.prefix ?? `/api/${segment}/proxy`)
  checkIdentify(options.identify)
  const errors = options.errors ?? problemBody(`${segment}_proxy_error`)
  const { library, owners, identify, parts, wakeBatches, wakeDeletions } = openLibrary(options)
  const { maxBodyBytes } = library

  const handler = createErrorHandler({ errors, log, audit })
  const route = handlerOf(handler)
  const { shares, uses, batches, consents } = options
  const hasShares = shares !== undefined
  const [groupLists, assetLists] = hasShares ? [withScope(groupList), withScope(assetList)] : [groupList, assetList]

  // The chain is the route table: each route with its guard.
  const chain = new Elysia({ name: 'sluice/gateway', seed: seedOf(options), prefix })
    .use(upstreamProxy(parts.upstream, { userOf }))
    .use(paginationNormalizer({ secrets: options.secrets, maxBodyBytes, identify, errors, log }))
    .use(ownership({ rules: owners, identify, errors, log, audit }))
    .post('/assets/groups', route(createGroup(library)), { caller: true, ...docs.createGroup })
    .get('/assets/groups', route(listGroups(library)), {
      caller: true,
      lists: groupLists,
      ...docs.listGroups(hasShares),
    })
    .get('/assets/groups/:group_id', route(getGroup(library)), { readsGroup: 'group_id', ...docs.getGroup })
    .put('/assets/groups/:group_id', route(updateGroup(library, 'PUT')), {
      ownsGroup: 'group_id',
      ...docs.updateGroup('PUT'),
    })
    .patch('/assets/groups/:group_id', route(updateGroup(library, 'PATCH')), {
      ownsGroup: 'group_id',
      ...docs.updateGroup('PATCH'),
    })
    .delete('/assets/groups/:group_id', route(deleteGroup(library)), { ownsGroup: 'group_id', ...docs.deleteGroup })
    .post('/assets', route(createAsset(library)), { caller: true, ...docs.createAsset })
    .get('/assets', route(listAssets(library)), {
      caller: true,
      lists: assetLists,
      ...docs.listAssets(hasShares),
    })
    .get('/assets/:asset_id', route(getAsset), { readsAsset: 'asset_id', ...docs.getAsset })
    .put('/assets/:asset_id', route(updateAsset(library, 'PUT')), {
      ownsAsset: 'asset_id',
      ...docs.updateAsset('PUT'),
    })
    .patch('/assets/:asset_id', route(updateAsset(library, 'PATCH')), {
      ownsAsset: 'asset_id',
      ...docs.updateAsset('PATCH'),
    })
    .delete('/assets/:asset_id', route(deleteAsset(library)), { ownsAsset: 'asset_id', ...docs.deleteAsset })
  if (shares) {
    chain
      .post('/assets/groups/:group_id/shares', route(createShare(library, shares)), {
        ownsGroup: 'group_id',
        ...docs.createShare,
      })
      .get('/assets/groups/:group_id/shares', route(listShares(library, shares)), {
        ownsGroup: 'group_id',
        ...docs.listShares,
      })
      .delete('/assets/groups/:group_id/shares/:share_id', route(deleteShare(library, shares)), {
        ownsGroup: 'group_id',
        ...docs.deleteShare,
      })
      .get('/assets/groups/:group_id/shares/uses', route(listSharedUses(library, shares)), {
        ownsGroup: 'group_id',
        ...docs.listSharedUses,
      })
      .post('/assets/groups/:group_id/return', route(returnGroup(library, shares)), {
        readsGroup: 'group_id',
        ...docs.returnGroup,
      })
  }
  if (uses) {
    chain
      .get('/assets/:asset_id/uses', route(listUses(uses)), { ownsAsset: 'asset_id', ...docs.listUses })
      .get('/assets/groups/:group_id/uses', route(countGroupUses(uses)), {
        ownsGroup: 'group_id',
        ...docs.countGroupUses,
      })
  }
  if (batches) {
    const stored = { store: batches, files: options.batchFiles }
    const { create, list, get, items, cancel, retry } = batchRoutes(library, stored, wakeBatches)
    chain
      .post('/assets/batches', route(create), { caller: true, ...batchDocs.createBatch })
      .get('/assets/batches', route(list), { caller: true, ...batchDocs.listBatches })
      .get('/assets/batches/:batch_id', route(get), { caller: true, ...batchDocs.getBatch })
      .get('/assets/batches/:batch_id/items', route(items), { caller: true, ...batchDocs.listBatchItems })
      .post('/assets/batches/:batch_id/cancel', route(cancel), { caller: true, ...batchDocs.cancelBatch })
      .post('/assets/batches/:batch_id/retry', route(retry), { caller: true, ...batchDocs.retryBatch })
      .post('/assets/batches/:batch_id/items/:position/retry', route(retry), {
        caller: true,
        ...batchDocs.retryBatchItem,
      })
  }
  if (consents) {
    const routes = consentRoutes(library, consents, options.secrets, wakeDeletions)
    const { get, uses, withdraw, remove, addLink, ...others } = routes
    chain
      .get('/assets/groups/:group_id/consent', route(get), { caller: true, ...consentDocs.get })
      .get('/assets/groups/:group_id/consent/uses', route(uses), { caller: true, ...consentDocs.uses })
      .get('/assets/groups/:group_id/consent/export', route(others.export), { caller: true, ...consentDocs.export })
      .post('/assets/groups/:group_id/consent/withdraw', route(withdraw), { caller: true, ...consentDocs.withdraw })
      .post('/assets/groups/:group_id/consent/delete', route(remove), { caller: true, ...consentDocs.remove })
      .post('/assets/groups/:group_id/consent/links', route(addLink), { caller: true, ...consentDocs.addLink })
  }
  const gateway: AnyElysia = chain.use(fallbackRoutes(handler))
  return { gateway, ...parts }
}

/** Creates the handler of a route from a function that may throw. */
const handlerOf =
  ({ respond }: ErrorHandler) =>
  <Context>(handle: (context: Context) => Awaitable<Response>) =>
  // The names are spelled out, because Elysia reads them in the source of a handler to find what the handler uses of
  // the context.
  async ({
    request,
    params,
    set,
    user,
    owners,
    caller,
    listing,
    group,
    asset,
  }: Context & HandlerContext & PossibleContext) => {
    try {
      return await handle({ request, params, user, owners, caller, listing, group, asset } as Context)
    } catch (error) {
      return respond(error, { request, set })
    }
  }

/** What the guards add to the context; each route has a part of it. */
type PossibleContext = Partial<Record<'params' | 'user' | 'owners' | 'caller' | 'listing' | 'group' | 'asset', unknown>>

/**
 * The user under whom the upstream client queues a call, so that its rate limit is shared fairly.
 *
 * Elysia derives `caller` before a guard identifies the user, so `caller` cannot hold the user. It asks for the user
 * when it sends a call.
 */
const userOf = (request: Request): string | undefined => identityOf(request)?.user
