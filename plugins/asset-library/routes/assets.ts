import type { OwnedAsset, OwnedGroup, ReadableAsset } from '../../ownership/index.ts'
import type { Listing } from '../../pagination-normalizer/index.ts'
import { readJsonBody } from '../../shared/http/body/body.ts'
import { Problem } from '../../shared/problem.ts'
import { type Caller, toResponse, UpstreamRejectedError, type UpstreamResponse } from '../../upstream-proxy/index.ts'
import { requireSameAccount } from '../accounts/same-account.ts'
import { addAsset } from '../creation/add-asset.ts'
import { type AssetRow, assetSources } from '../lists/asset-sources.ts'
import { envelope } from '../lists/envelope.ts'
import { assetSearch } from '../lists/search.ts'
import { groupsNamed, readAssetChange, readNewAsset, withoutGroupType } from '../schema/asset.ts'
import { scopeOf } from '../schema/lists.ts'
import { tellDeletedAsset } from '../watch/asset-watch.ts'
import { createOnce, creatorOf, type Evidence, type Library, type Owners } from './library.ts'
import { settleAsset } from './settle.ts'

interface CreateContext {
  readonly request: Request
  readonly user: string
  readonly owners: Owners
}

/**
 * `POST /assets`. The upstream call continues even when the caller disconnects, so that the gateway can record the new
 * asset.
 */
export const createAsset =
  (library: Library) =>
  async ({ request, user, owners }: CreateContext): Promise<Response> => {
    const { audit } = library
    const body = await readJsonBody(request, library.maxBodyBytes)
    const { group: id, groupType } = readNewAsset(body)
    const caller = { headers: request.headers, user }
    const creation = {
      ...{ user, route: 'createAsset', body: body.bytes },
      settle: async ({ startedAt }: { readonly startedAt: number }) =>
        settleAsset(library, await owners.group(user, id, groupType), startedAt, caller),
    }
    return createOnce(library, request, creation, async (attempt) => {
      const group = await owners.group(user, id, groupType)
      for (const named of groupsNamed(body)) requireSameAccount(group, await owners.group(user, named))
      if (attempt && library.clock.now() >= attempt.leaseUntil) throw tookTooLong()
      const { headers } = request
      let kept: Response | undefined
      await addAsset(library, owners, creatorOf(request, user), {
        ...{ group, headers, begin: async () => withoutGroupType(body) },
        created: async (asset, response) => {
          audit.note({ action: 'asset.create', target: { kind: 'asset', id: asset } }, request)
          kept = toResponse(response)
          // `settleAsset` takes a recorded asset for that of another request, so this one must not be recorded unless
          // its response is kept.
          return !attempt || attempt.remember(kept)
        },
      })
      return kept as Response
    })
  }

const tookTooLong = () => new Problem(503, 'the request took too long', { headers: { 'retry-after': '1' } })

interface ListContext {
  readonly user: string
  readonly owners: Owners
  readonly listing: Listing
  readonly caller: Caller
}

/**
 * `GET /assets`: lists only assets in groups that the caller may see, and that match the filters, even when the
 * upstream lists others.
 */
export const listAssets =
  ({ upstream, log, filterCheck }: Library) =>
  async ({ user, owners, listing, caller }: ListContext): Promise<Response> => {
    const { GroupType: type, GroupIds: ids, Name: name } = listing.filter
    const selected = ids as readonly string[] | undefined
    const groups = await owners.selectReadable(user, String(type), selected, scopeOf(listing))
    const responses: UpstreamResponse[] = []
    const onResponse = (response: UpstreamResponse) => responses.push(response)
    const sources = assetSources({
      upstream,
      log,
      filterCheck,
      groups,
      listing,
      caller,
      onAsset: owners.cacheGroup,
      onResponse,
    })
    const search = assetSearch(listing)
    if (search) return envelope(await listing.searchOf(sources, user, search), ({ item }) => item, responses)
    // The upstream matches names loosely, and all other filters exactly.
    const matches = name === undefined ? undefined : (row: AssetRow) => row.item.get('Name')?.string() === name
    return envelope(await listing.pageOf(sources, user, matches), ({ item }) => item, responses)
  }

/**
 * `GET /assets/{id}`: forwards the upstream response that proved ownership, so that the route costs one upstream call.
 */
export const getAsset = ({ asset }: { asset: ReadableAsset<Evidence> }): Response => {
  const { evidence } = asset
  if (!evidence || evidence instanceof UpstreamRejectedError)
    throw evidence ?? new Error('the asset was located without evidence')
  return toResponse(evidence)
}

interface ChangeContext {
  readonly request: Request
  readonly user: string
  readonly owners: Owners
  readonly asset: OwnedAsset<Evidence>
  readonly caller: Caller
}

/**
 * `PUT` and `PATCH /assets/{id}`. The caller must also own a group that the body names, because the update may move the
 * asset there.
 */
export const updateAsset =
  ({ upstream, maxBodyBytes, audit }: Library, method: 'PUT' | 'PATCH') =>
  async ({ request, user, owners, asset, caller }: ChangeContext): Promise<Response> => {
    const body = await readJsonBody(request, maxBodyBytes)
    readAssetChange(body, asset.id)
    const named: OwnedGroup[] = []
    for (const id of groupsNamed(body)) {
      const group = await owners.group(user, id)
      requireSameAccount(asset, group)
      named.push(group)
    }
    const response = await upstream.send({ action: 'UpdateAsset', asset, method, body }, caller)
    if (named.length > 0) owners.moved(asset)
    audit.note({ action: 'asset.update', target: { kind: 'asset', id: asset.id } }, request)
    return toResponse(response)
  }

/** `DELETE /assets/{id}`. */
export const deleteAsset =
  (library: Library) =>
  async ({ request, user, owners, asset, caller }: ChangeContext): Promise<Response> => {
    const { upstream, clock, log, audit } = library
    const response = await upstream.send({ action: 'DeleteAsset', asset }, caller)
    audit.note({ action: 'asset.delete', target: { kind: 'asset', id: asset.id } }, request)
    // A failure is only logged: the asset is deleted, and counts until its group is.
    const noted = owners
      .deleted(asset, clock.now())
      .catch((err: unknown) => log.warn({ err, asset: asset.id }, 'the deletion of an asset could not be noted'))
    await Promise.all([noted, tellDeletedAsset(library, asset.id, user)])
    return toResponse(response)
  }
