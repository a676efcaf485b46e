import type { OwnedGroup, Ownership } from '../../ownership/index.ts'
import { readJson, toJson } from '../../shared/json/json.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import {
  accountOf,
  type Caller,
  type ListQuery,
  type Operation,
  type Upstream,
  UpstreamBusyError,
  UpstreamRejectedError,
  type UpstreamResponse,
} from '../../upstream-proxy/index.ts'
import type { SlotAccounts } from './accounts.ts'
import type { AdoptGroups } from './adopt.ts'
import { isSlotted, itemOf, noSuchAsset, toUpstreamResponse, wholeSeconds } from './item.ts'
import { newAssetId } from './new-id.ts'
import type { AssetType, SlotOptions } from './options.ts'
import type { SlotLibrary, Slots } from './slots.ts'
import type { SlottedAsset, SlottedList } from './store.ts'

interface SlottedUpstreamOptions extends Pick<SlotOptions, 'store' | 'originals'> {
  readonly library: SlotLibrary
  readonly accounts: SlotAccounts
  readonly adoptGroups: AdoptGroups
  readonly owners: () => Pick<Ownership, 'group'>
  /** The group of an id, with its owner. Undefined: nobody owns it. */
  readonly groupOf: (
    id: string,
  ) => Promise<{ readonly user: string; readonly type: string; readonly account?: string } | undefined>
  /** Records that the upstream does not have an asset any more: it takes no slot. */
  readonly noteDeleted: (id: string, at: number) => Promise<void>
}

/**
 * A client with the ids of the gateway, over the client with those of the upstream. No other part of the library
 * translates ids, so none of the upstream reaches a caller.
 *
 * Assets in groups of the type `AIGC` are answered from the records, whether the upstream has them or not. All else
 * passes.
 */
export const createSlottedUpstream = (options: SlottedUpstreamOptions): Upstream => {
  const { library, store, originals, accounts, adoptGroups, owners, groupOf, noteDeleted } = options
  const { upstream, clock, log } = library
  const inStore = <Value>(call: Promise<Value>): Promise<Value> => storeCall(call, 'the asset could not be recorded')

  /** The asset of an account. One of another account is none here: this account may have something else with its id. */
  const find = async (id: string, { account }: Slots): Promise<SlottedAsset | undefined> => {
    const [found] = await inStore(store.slottedAssets([id]))
    return found?.removedAt === undefined && found?.account === account.key ? found : undefined
  }

  const shown = (asset: SlottedAsset): UpstreamResponse => toUpstreamResponse(itemOf(asset, originals, clock.now()))

  const createAsset = async (
    { group: { id }, body }: Operation & { action: 'CreateAsset' },
    caller: Caller,
    group: OwnedGroup,
    accountSlots: Slots,
  ): Promise<UpstreamResponse> => {
    const { user } = group
    const now = clock.now()
    await adoptGroups([group], caller)
    const { json } = body
    const url = json.get('URL')?.string()
    const type = json.get('AssetType')?.string()
    if (url === undefined || !isAssetType(type))
      throw new Problem(400, 'URL must be an address, and AssetType one of Image, Video, Audio')
    const name = json.get('Name')?.string() ?? ''
    if ([...name].length > maxNameLength) throw new Problem(400, `Name must have at most ${maxNameLength} characters`)
    const rest = json.without((key) => hidden.has(key.toLowerCase()))
    if (rest.byteLength > maxBodyBytes)
      throw new Problem(400, `an asset must have at most ${maxBodyBytes} bytes of fields`)
    let own = newAssetId(now)
    const original = await originals.keep({ url, name: own, type, user, signal: caller.signal }).catch(notKept)
    try {
      const account = accountSlots.account.key
      const added = { user, group: id, account, name, createdAt: wholeSeconds(now), body: rest.raw, original }
      while (!(await inStore(store.addSlottedAsset({ ...added, id: own })))) own = newAssetId(now)
    } catch (error) {
      await originals.remove([original])
      throw error
    }
    const [asset] = await inStore(store.slottedAssets([own]))
    const created = asset && (await accountSlots.create(asset, group, undefined, caller))
    if (created?.state === 'rejected') {
      await inStore(store.removeSlottedAsset(own, clock.now()))
      throw created.error
    }
    // Whatever else has happened: the asset has a record and an original, and is created as soon as there is a slot.
    return toUpstreamResponse(toJson({ Id: own }))
  }

  const getAsset = async (
    operation: Operation & { action: 'GetAsset' },
    caller: Caller,
    accountSlots: Slots,
  ): Promise<UpstreamResponse> => {
    const { id } = operation
    const asset = await find(id, accountSlots)
    if (asset) {
      if (asset.state === 'present' && (asset.status === 'Processing' || asset.original === undefined)) {
        const fresh = await accountSlots.refresh(asset, caller)
        const [noted = asset] = fresh ? await inStore(store.slottedAssets([id])) : []
        return shown(noted)
      }
      return shown(asset)
    }
    // The upstream's id of one of them is no id of an asset here.
    if (await inStore(store.isHiddenId(id, accountSlots.account))) throw noSuchAsset(id)
    const response = await noticing(id, upstream.send(operation, caller))
    const group = response.json?.get('Result')?.get('GroupId')?.string()
    const owner = group === undefined ? undefined : await inStore(groupOf(group))
    // Two accounts may have groups with the same id.
    if (!owner || !isSlotted(owner) || !isOn(accountSlots, owner)) return response
    await adoptGroups([await owners().group(owner.user, group)], caller)
    const adopted = await find(id, accountSlots)
    if (!adopted) throw noSuchAsset(id)
    return shown(adopted)
  }

  const listAssets = async (query: ListQuery, caller: Caller): Promise<UpstreamResponse> => {
    const ids = query.groups.map(({ id }) => id)
    await adoptAll(ids, caller)
    const { name, statuses, sortOrder, paging } = query
    const list = {
      ...{ groups: ids, name, statuses, sortBy: sortOf(query.sortBy), descending: sortOrder === 'Desc' },
    }
    if ('pageNumber' in paging) {
      const { pageNumber, pageSize } = paging
      const page = { ...list, limit: pageSize, offset: (pageNumber - 1) * pageSize }
      const { assets, total } = await inStore(store.listSlottedAssets(page))
      return listed(assets, { TotalCount: total, PageNumber: pageNumber, PageSize: pageSize })
    }
    const { maxResults, nextToken } = paging
    const after = nextToken === undefined || nextToken === '' ? undefined : positionIn(nextToken)
    const { assets } = await inStore(store.listSlottedAssets({ ...list, limit: maxResults + 1, after }))
    const page = assets.slice(0, maxResults)
    const last = page.at(-1)
    return listed(page, assets.length > maxResults && last ? { NextToken: tokenOf(list, last) } : {})
  }

  /** Groups that are lent to the caller are those of their owners. */
  const adoptAll = async (ids: readonly string[], caller: Caller): Promise<void> => {
    const unknown = await inStore(store.unadoptedGroups(ids))
    for (const id of unknown) {
      const owner = await inStore(groupOf(id))
      if (owner) await adoptGroups([await owners().group(owner.user, id)], caller)
    }
  }

  const listed = (assets: readonly SlottedAsset[], counts: object): UpstreamResponse => {
    const now = clock.now()
    const items = assets.map((asset) => itemOf(asset, originals, now).raw).join(',')
    const rest = JSON.stringify(counts).slice(1, -1)
    return toUpstreamResponse(readJson(`{"Items":[${items}]${rest && `,${rest}`}}`))
  }

  /** A call for an asset of a person, which may be gone with the person's authorization. */
  const noticing = (id: string, call: Promise<UpstreamResponse>): Promise<UpstreamResponse> =>
    call.catch(async (error: unknown) => {
      if (error instanceof UpstreamRejectedError && error.status === 404)
        await noteDeleted(id, clock.now()).catch((err: unknown) =>
          log.warn({ err, asset: id }, 'the end of an asset could not be noted'),
        )
      throw error
    })

  /** A call that makes room at an account of the upstream. */
  const freeing = async <Result>(accountSlots: Slots, call: Promise<Result>): Promise<Result> => {
    const result = await call
    await accountSlots.limit.forgetRefusal()
    return result
  }

  return {
    ...upstream,
    async send(operation, caller = {}) {
      const accountSlots = accounts.of(accountOf(operation))
      // The client rejects what is of no account.
      if (!accountSlots) return upstream.send(operation, caller)
      switch (operation.action) {
        case 'CreateAssetGroup':
        case 'CreateVisualValidateSession':
          return accountSlots.withRoom(caller.user ?? '', () => upstream.send(operation, caller))
        case 'CreateAsset': {
          const group = await owners().group(caller.user ?? '', operation.group.id)
          if (isSlotted(group)) return createAsset(operation, caller, group, accountSlots)
          return accountSlots.withRoom(group.user, () => upstream.send(operation, caller))
        }
        case 'GetAsset':
          return getAsset(operation, caller, accountSlots)
        case 'ListAssets':
          return operation.query.groupType === 'AIGC'
            ? listAssets(operation.query, caller)
            : upstream.send(operation, caller)
        case 'UpdateAsset': {
          const asset = await find(operation.asset.id, accountSlots)
          if (!asset) return upstream.send(operation, caller)
          const name = operation.body.json.get('Name')
          if (!name?.isString || [...(name.string() ?? '')].length > maxNameLength)
            throw new Problem(400, `Name must be a text of at most ${maxNameLength} characters`)
          await inStore(store.renameSlottedAsset(asset.id, name.string() ?? '', wholeSeconds(clock.now())))
          return toUpstreamResponse(toJson({ Id: asset.id }))
        }
        case 'DeleteAsset': {
          const asset = await find(operation.asset.id, accountSlots)
          if (!asset) return freeing(accountSlots, noticing(operation.asset.id, upstream.send(operation, caller)))
          if (!(await inStore(store.removeSlottedAsset(asset.id, clock.now())))) throw noSuchAsset(asset.id)
          // It has left the lists. What fails here is done in the background.
          if (asset.state === 'present')
            await freeing(accountSlots, accountSlots.settle(asset, undefined)).catch((err: unknown) =>
              log.warn({ err, asset: asset.id }, 'a deleted asset is still at the upstream'),
            )
          return toUpstreamResponse(toJson({}))
        }
        case 'DeleteAssetGroup':
          return freeing(accountSlots, upstream.send(operation, caller))
        default:
          return upstream.send(operation, caller)
      }
    },
  }
}

/** Without its original, nothing of an asset exists: the same call may be sent again. */
const notKept = (error: unknown): never => {
  if (!(error instanceof Problem) || error.status < 500) throw error
  throw new UpstreamBusyError(error.status, error.message, { cause: error, headers: { ...error.headers } })
}

/** Whether a record of a group is of an account. */
const isOn = ({ account }: Slots, group: { readonly account?: string }): boolean =>
  group.account === undefined ? account.key === '' : group.account === account.name

const maxNameLength = 64
/** What is kept of the request that creates an asset, in bytes: it is sent again. */
const maxBodyBytes = 16_384

/** Members of a creation that are not those of the asset. */
const hidden: ReadonlySet<string> = new Set(['groupid', 'url', 'name', 'id', 'projectname'])

const isAssetType = (type: string | undefined): type is AssetType =>
  type === 'Image' || type === 'Video' || type === 'Audio'

const sortOf = (sortBy: string): SlottedList['sortBy'] =>
  sortBy === 'UpdateTime' || sortBy === 'GroupId' ? sortBy : 'CreateTime'

/** Only this gateway reads it: it is the cursor of one list, and no credential. */
const tokenOf = ({ sortBy }: Pick<SlottedList, 'sortBy'>, asset: SlottedAsset): string => {
  const keys = { CreateTime: asset.createdAt, UpdateTime: asset.updatedAt, GroupId: asset.group }
  return JSON.stringify([keys[sortBy], asset.id])
}

const positionIn = (token: string): SlottedList['after'] => {
  const [key, id] = JSON.parse(token) as [string | number, string]
  return { key, id }
}
