import type { OwnedAsset, OwnedGroup } from '../../plugins/ownership/index.ts'
import type { Listing } from '../../plugins/pagination-normalizer/index.ts'
import { readJsonBody } from '../../plugins/shared/body.ts'
import {
  type Caller,
  toResponse,
  UpstreamRefusedError,
  type UpstreamResponse,
} from '../../plugins/upstream-proxy/index.ts'
import { groupsNamed, readAssetChange, readNewAsset, withoutGroupType } from '../schema/asset.ts'
import { type AssetRow, assetSources } from './asset-sources.ts'
import { envelope } from './envelope.ts'
import { createdId, type Evidence, type Library, type Owners } from './library.ts'

interface Creation {
  readonly request: Request
  readonly user: string
  readonly owners: Owners
}

/** "create asset". The upstream is asked to the end even when the caller leaves. */
export const createAsset =
  ({ upstream, maxBodyBytes, log, audit }: Library) =>
  async ({ request, user, owners }: Creation): Promise<Response> => {
    const body = await readJsonBody(request, maxBodyBytes)
    const { group: id, groupType } = readNewAsset(body)
    const group = await owners.group(user, id, groupType)
    for (const named of groupsNamed(body)) await owners.group(user, named)
    const answer = await upstream.send(
      { action: 'CreateAsset', group, body: withoutGroupType(body) },
      { headers: request.headers, user },
    )
    const asset = createdId(answer)
    audit.note({ action: 'asset.create', target: { kind: 'asset', id: asset } }, request)
    // The asset exists, and its group can be asked for again: a record that cannot be written is no reason to call this a failure.
    await owners.record(asset, group).catch((err: unknown) => log.warn({ err, asset }, 'asset could not be recorded'))
    return toResponse(answer)
  }

interface Listed {
  readonly user: string
  readonly owners: Owners
  readonly listing: Listing
  readonly caller: Caller
}

/** "list assets": always within the caller's groups, and never more than the filters let through, whatever the upstream answers. */
export const listAssets =
  ({ upstream, log }: Library) =>
  async ({ user, owners, listing, caller }: Listed): Promise<Response> => {
    const { GroupType: type, GroupIds: ids, Name: name } = listing.filter
    const groups = await owners.select(user, String(type), ids as readonly string[] | undefined)
    const answers: UpstreamResponse[] = []
    const onAnswer = (answer: UpstreamResponse) => answers.push(answer)
    const sources = assetSources({ upstream, log, groups, listing, caller, onAsset: owners.learn, onAnswer })
    // The upstream matches names loosely; everything else it filters exactly.
    const matches = name === undefined ? undefined : (row: AssetRow) => row.item.get('Name')?.string() === name
    return envelope(await listing.pageOf(sources, user, matches), ({ item }) => item, answers)
  }

/** "asset detail": one call to the upstream, whose answer is both the proof of ownership and what is forwarded. */
export const getAsset = ({ asset }: { asset: OwnedAsset<Evidence> }): Response => {
  const { evidence } = asset
  if (!evidence || evidence instanceof UpstreamRefusedError) throw evidence ?? new Error('examined without evidence')
  return toResponse(evidence)
}

interface Changed {
  readonly request: Request
  readonly user: string
  readonly owners: Owners
  readonly asset: OwnedAsset<Evidence>
  readonly caller: Caller
}

/** "modify asset". A group that the body names has to be the caller's too: the asset may be moved there. */
export const updateAsset =
  ({ upstream, maxBodyBytes, audit }: Library, method: 'PUT' | 'PATCH') =>
  async ({ request, user, owners, asset, caller }: Changed): Promise<Response> => {
    const body = await readJsonBody(request, maxBodyBytes)
    readAssetChange(body, asset.id)
    const named: OwnedGroup[] = []
    for (const id of groupsNamed(body)) named.push(await owners.group(user, id))
    const answer = await upstream.send({ action: 'UpdateAsset', asset, method, body }, caller)
    if (named.length > 0) owners.moved(asset)
    audit.note({ action: 'asset.update', target: { kind: 'asset', id: asset.id } }, request)
    return toResponse(answer)
  }

/** "delete asset". */
export const deleteAsset =
  ({ upstream, audit }: Library) =>
  async ({ request, asset, caller }: Pick<Changed, 'request' | 'asset' | 'caller'>): Promise<Response> => {
    const answer = await upstream.send({ action: 'DeleteAsset', asset }, caller)
    audit.note({ action: 'asset.delete', target: { kind: 'asset', id: asset.id } }, request)
    return toResponse(answer)
  }
