import type { Ownership } from '../../../ownership/index.ts'
import { FieldProblem } from '../../../shared/field-problem.ts'
import { Problem } from '../../../shared/problem.ts'
import { storeCall } from '../../../shared/store-call.ts'
import type { UpstreamRejectedError } from '../../../upstream-proxy/index.ts'
import { rejectedPicture } from '../../pictures/states.ts'
import type { SlotAccounts } from '../accounts.ts'
import type { AdoptGroups } from '../adopt.ts'
import { isSlotted } from '../item.ts'
import type { SlotOptions } from '../options.ts'
import type { SlotLibrary, Slots } from '../slots.ts'
import type { SlotNeed, SlottedAsset } from '../store.ts'

export interface UsableAssetsOptions extends Pick<SlotOptions, 'store' | 'cap'> {
  readonly library: SlotLibrary
  readonly accounts: SlotAccounts
  readonly owners: () => Pick<Ownership, 'group'>
  readonly adoptGroups: AdoptGroups
  /** The group of an id, with its owner. Undefined: nobody owns it. */
  readonly groupOf: (id: string) => Promise<{ readonly user: string; readonly type: string } | undefined>
  /** The group in which an asset was recorded. */
  readonly groupOfAsset: (id: string) => Promise<string | undefined>
}

/** The steps of all that need assets. `param`: the field of the request, for errors. Default `content`. */
export interface NeededAssets {
  /** Those that may have to be created again. Others have one id, and are at the upstream. */
  slottedOf(ids: readonly string[], paramOf?: ParamOf): Promise<readonly SlottedAsset[]>
  /**
   * Throws FieldProblem 429 for more assets than can be at the upstream at once, beside those of persons: on one of
   * their accounts.
   */
  requireSlots(assets: readonly SlottedAsset[], what: 'a task' | 'a request', paramOf?: ParamOf): Promise<void>
  /**
   * Takes an asset one step nearer to being active at the upstream. What passes is logged, and tried again by the next
   * call.
   */
  bring(asset: SlottedAsset, need: SlotNeed, paramOf?: ParamOf): Promise<void>
}

/** The path of the field that names an asset. */
export type ParamOf = (id: string) => string

const ofTask: ParamOf = () => 'content'

export const createNeededAssets = (options: UsableAssetsOptions): NeededAssets => {
  const { library, store, accounts, owners, cap = Number.MAX_SAFE_INTEGER } = options
  const { adoptGroups, groupOf, groupOfAsset } = options
  const { clock, log } = library
  const read = (ids: readonly string[]) => inStore(store.slottedAssets(ids))
  const inStore = <Value>(call: Promise<Value>): Promise<Value> => storeCall(call, 'failed to read the assets')

  const slottedOf: NeededAssets['slottedOf'] = async (ids, paramOf = ofTask) => {
    const found = await read(ids)
    const known = new Set(found.map(({ id }) => id))
    const adopted: string[] = []
    for (const id of new Set(ids)) {
      if (known.has(id)) continue
      const group = await inStore(groupOfAsset(id))
      const owner = group === undefined ? undefined : await inStore(groupOf(group))
      if (!owner || !isSlotted(owner)) continue
      // It is from before the library had slots, or its user has deleted it.
      await adoptGroups([await owners().group(owner.user, group)], { user: owner.user })
      adopted.push(id)
    }
    const all = adopted.length === 0 ? found : [...found, ...(await read(adopted))]
    const deleted =
      all.find(({ removedAt }) => removedAt !== undefined)?.id ??
      adopted.find((id) => !all.some((asset) => asset.id === id))
    if (deleted !== undefined) throw isDeleted(deleted, paramOf(deleted))
    const failed = all.find(({ status }) => status === 'Failed')
    if (failed) throw hasFailed(failed.id, paramOf(failed.id))
    return all
  }

  const requireSlots: NeededAssets['requireSlots'] = async (all, what, paramOf) => {
    for (const assets of Map.groupBy(all, ({ account }) => account).values())
      await requireSlotsOf(accounts.ofRecord(assets[0] as SlottedAsset), assets, what, paramOf)
  }

  const requireSlotsOf = async (
    { account, limit }: Slots,
    assets: readonly SlottedAsset[],
    what: 'a task' | 'a request',
    paramOf: ParamOf = ofTask,
  ): Promise<void> => {
    const persons = await storeCall(store.personSlots(account, clock.now()), 'failed to read the slots')
    const bounds = [...Map.groupBy(assets, ({ user }) => user)].map(
      ([user, own]) => [own.length, cap - (persons.get(user) ?? 0)] as const,
    )
    if (limit.configured !== undefined) {
      const all = [...persons.values()].reduce((sum, count) => sum + count, 0)
      bounds.push([assets.length, limit.configured - all])
    }
    for (const [count, most] of bounds)
      if (count > most) throw tooMany(what, Math.max(0, most), paramOf(assets[most]?.id ?? ''))
  }

  const advance = async (asset: SlottedAsset, need: SlotNeed, paramOf: ParamOf): Promise<void> => {
    if (asset.state === 'present' && asset.isReady) return
    const accountSlots = accounts.ofRecord(asset)
    const group = await owners().group(asset.user, asset.group)
    if (asset.state === 'present') return void (await accountSlots.refresh(asset))
    if (asset.state !== 'absent') {
      if (clock.now() >= asset.leaseUntil) await accountSlots.settle(asset, group)
      return
    }
    const created = await accountSlots.create(asset, group, need)
    if (created.state === 'rejected') throw rejected(created.error, paramOf(asset.id))
    if (created.state !== 'present') return
    const [present] = await read([asset.id])
    if (present) await accountSlots.refresh(present)
  }

  return {
    slottedOf,
    requireSlots,
    async bring(asset, need, paramOf = ofTask) {
      try {
        await advance(asset, need, paramOf)
      } catch (error) {
        if (!(error instanceof Problem && error.status >= 500)) throw error
        log.warn({ err: error, asset: asset.id }, 'an asset that is needed could not be created')
      }
    },
  }
}

export const isDeleted = (id: string, param = 'content'): FieldProblem =>
  new FieldProblem(400, `the asset ${id} has been deleted`, { param, code: 'asset_not_found' })

export const hasFailed = (id: string, param = 'content'): FieldProblem =>
  new FieldProblem(400, `the asset ${id} has failed: its detail says why`, { param, code: 'asset_failed' })

const tooMany = (what: string, most: number, param: string): FieldProblem =>
  new FieldProblem(429, `${what} may have at most ${most} assets of the asset library, besides those of persons`, {
    param,
    code: 'QuotaExceeded',
  })

/** The upstream has taken the asset before, and does not take it again. */
const rejected = (error: UpstreamRejectedError, param: string): FieldProblem => {
  const refusal = rejectedPicture(error)
  const code = refusal?.state === 'failed' ? refusal.code : 'asset_failed'
  const message = refusal?.state === 'failed' ? refusal.message : error.message
  return new FieldProblem(400, message, { param, code })
}
