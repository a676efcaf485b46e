import { type AnyElysia, Elysia } from 'elysia'
import { createIdempotency } from '../idempotency/index.ts'
import { createOwnership, ownership } from '../ownership/index.ts'
import { paginationNormalizer } from '../pagination-normalizer/index.ts'
import { noAudit } from '../shared/audit.ts'
import type { Awaitable } from '../shared/awaitable.ts'
import { backgroundOf } from '../shared/background/background.ts'
import { systemClock } from '../shared/clock.ts'
import { createErrorHandler, type ErrorHandler, type HandlerContext } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { identifySameOrigin } from '../shared/http/origin.ts'
import { identityOf } from '../shared/identity/identify.ts'
import type { AssetOwners } from '../shared/media/asset-ownership.ts'
import type { PictureAssets } from '../shared/media/picture-assets.ts'
import { checkIdentify, checkPath } from '../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { noLog, problemBody } from '../shared/problem.ts'
import { type Upstream, upstreamProxy } from '../upstream-proxy/index.ts'
import { createLocate } from './accounts/locate.ts'
import { createPlacement, oneAccount } from './accounts/placement.ts'
import { batchRoutes } from './batches/batch-routes.ts'
import { batchDocs } from './batches/openapi.ts'
import { runBatches } from './batches/run-batches.ts'
import { consentRoutes } from './consent/consent-routes.ts'
import { deleteConsents } from './consent/delete-consents.ts'
import { consentDocs } from './consent/openapi.ts'
import { FilterCheck } from './lists/filter-check.ts'
import type { GatewayOptions } from './options.ts'
import { createPictureAssets } from './pictures/picture-assets.ts'
import { createAsset, deleteAsset, getAsset, listAssets, updateAsset } from './routes/assets.ts'
import { createGroup, deleteGroup, getGroup, listGroups, updateGroup } from './routes/groups.ts'
import type { Evidence, Library, Owners } from './routes/library.ts'
import { assetsOfFirst, assetsOfPersons, authorizedAssets, consentedAssets } from './routes/person-assets.ts'
import { reconcileGroups } from './routes/reconcile.ts'
import { createShare, deleteShare, listSharedUses, listShares, returnGroup } from './routes/shares.ts'
import { countGroupUses, listUses } from './routes/uses.ts'
import { assetList, groupList, withScope } from './schema/lists.ts'
import { docs } from './schema/openapi.ts'
import type { LibraryRoutes } from './schema/types.ts'
import { openSlots } from './slots/open-slots.ts'
import { maxQueueMsOf, openUpstream, rejectAfter } from './upstream.ts'
import { keepWhileFull } from './watch/asset-event-queue.ts'
import { watchAssets } from './watch/asset-watch.ts'

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
export interface AssetLibrary<Prefix extends string> {
  readonly gateway: RoutesPlugin<RoutesAt<Prefix, LibraryRoutes>>
  /** The client of the upstream, for `faceVerification`. */
  readonly upstream: Upstream
  /** The account for a face verification of a user, for `faceVerification`. Undefined: there is one account. */
  readonly accountFor: ((user: string) => Promise<string | undefined>) | undefined
  /**
   * Checks the owner of an asset, for `textGeneration`: with several accounts, its upstream is one of the first.
   * Undefined without an upstream.
   */
  readonly assets: Pick<Owners, 'asset'> | undefined
  /** The same, for uses that show a person: `videoGeneration`. Undefined without an upstream. */
  readonly authorizedAssets: AssetOwners | undefined
  /**
   * Makes assets of pictures, for `videoGeneration`. Undefined without an upstream, and without the option `pictures`.
   */
  readonly pictures: PictureAssets | undefined
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
  const { segment = 'media', log = noLog, audit = noAudit, clock = systemClock, store } = options
  const { maxBodyBytes = 2 ** 20 } = options
  if (!/^[\w-]+$/.test(segment)) throw new TypeError('segment must consist of letters, digits, _ and -')
  const prefix = checkPath('prefix', options.prefix ?? `/api/${segment}/proxy`)
  checkIdentify(options.identify)
  const errors = options.errors ?? problemBody(`${segment}_proxy_error`)
  const { accounts } = options
  const hasUpstream = options.kind ?? accounts
  const opened = openUpstream(options)
  const claimMs = 2 * (options.timeoutMs ?? 30_000) + maxQueueMsOf(options)
  const slots =
    options.slots && openSlots({ upstream: opened, claimMs, clock, log }, options.slots, options, () => rules)
  const upstream = slots?.upstream ?? opened
  const guarded = identifySameOrigin(options.identify, options.requireSameOrigin)
  const identify = hasUpstream ? guarded : rejectAfter(guarded)
  const rules: Owners = createOwnership<Evidence>({
    store,
    revisionClock: options.revisionClock,
    ...{ shares: options.shares?.store, clock, defaultAccount: upstream.accounts?.names[0] },
    locate: createLocate({ upstream, owners: () => rules, store }),
  })
  const idempotency = options.idempotency && createIdempotency({ store: options.idempotency, clock, log })
  const library: Library = {
    ...{
      upstream,
      placement: accounts ? createPlacement({ accounts, upstream, owners: rules, store, clock, log }) : oneAccount,
      filterCheck: new FilterCheck(upstream, clock),
      claims: store,
      assets: store,
      idempotency,
      events: options.events && keepWhileFull(options.events, { clock, log }),
      consents: options.consents?.store,
    },
    ...{ usageLimits: options.usageLimits, maxBodyBytes, claimMs, clock, log, audit },
  }
  const background = backgroundOf(options.background)
  if (background) reconcileGroups(library, store, background)
  if (background && hasUpstream) slots?.workOn(background)
  const { batches } = options
  const running = background && batches && hasUpstream && runBatches(library, rules, batches, background)
  if (background && options.events && hasUpstream) watchAssets(library, options.events, rules, background)
  const { consents } = options
  const deletions =
    background &&
    consents &&
    hasUpstream &&
    deleteConsents(library, rules, { store: consents.store, uses: options.uses }, background)

  const handler = createErrorHandler({ errors, log, audit })
  const route = handlerOf(handler)
  const { shares, uses } = options
  const hasShares = shares !== undefined
  const [groupLists, assetLists] = hasShares ? [withScope(groupList), withScope(assetList)] : [groupList, assetList]

  // The chain is the route table: each route with its guard.
  const chain = new Elysia({ name: 'sluice/gateway', seed: seedOf(options), prefix })
    .use(upstreamProxy(upstream, { userOf }))
    .use(paginationNormalizer({ secrets: options.secrets, maxBodyBytes, identify, errors, log }))
    .use(ownership({ rules, identify, errors, log, audit }))
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
    const { create, list, get, items, cancel, retry } = batchRoutes(
      library,
      { store: batches, files: options.batchFiles },
      () => running?.wake(),
    )
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
    const { get, uses, withdraw, remove, addLink, ...others } = consentRoutes(library, consents, options.secrets, () =>
      deletions?.wake(),
    )
    chain
      .get('/assets/groups/:group_id/consent', route(get), { caller: true, ...consentDocs.get })
      .get('/assets/groups/:group_id/consent/uses', route(uses), { caller: true, ...consentDocs.uses })
      .get('/assets/groups/:group_id/consent/export', route(others.export), { caller: true, ...consentDocs.export })
      .post('/assets/groups/:group_id/consent/withdraw', route(withdraw), { caller: true, ...consentDocs.withdraw })
      .post('/assets/groups/:group_id/consent/delete', route(remove), { caller: true, ...consentDocs.remove })
      .post('/assets/groups/:group_id/consent/links', route(addLink), { caller: true, ...consentDocs.addLink })
  }
  const routes: AnyElysia = chain.use(fallbackRoutes(handler))
  const assets = hasUpstream ? rules : undefined
  const pictures = assets && options.pictures && createPictureAssets(library, rules, options.pictures)
  return {
    ...{ gateway: routes, upstream, pictures },
    assets: assets && textAssetsOf(assets, { consents, slots, upstream }),
    authorizedAssets: assets && authorizedAssets(assets, consents?.store, clock, slots?.place),
    accountFor: accounts && library.placement.accountFor,
  }
}

/** The assets that text requests may name. */
const textAssetsOf = (
  assets: Owners,
  {
    consents,
    slots,
    upstream,
  }: Pick<GatewayOptions, 'consents'> & { readonly slots: unknown; readonly upstream: Upstream },
): Pick<Owners, 'asset'> => {
  const consented = consents ? consentedAssets(assets, consents.store) : assets
  return slots ? assetsOfPersons(consented) : assetsOfFirst(consented, upstream)
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
