import type { Ownership } from '../../ownership/index.ts'
import { FieldProblem } from '../../shared/field-problem.ts'
import type { PlacedAssets } from '../../shared/media/asset-ownership.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { UpstreamRejectedError } from '../../upstream-proxy/index.ts'
import { rejectedPicture } from '../pictures/states.ts'
import type { AdoptGroups } from './adopt.ts'
import { isSlotted } from './item.ts'
import type { SlotOptions } from './options.ts'
import type { SlotLibrary, Slots } from './slots.ts'
import type { SlottedAsset } from './store.ts'

interface UsableAssetsOptions extends Pick<SlotOptions, 'store' | 'slots' | 'cap'> {
  readonly library: SlotLibrary
  readonly residence: Slots
  readonly owners: () => Pick<Ownership, 'group'>
  readonly adoptGroups: AdoptGroups
  /** The group of an id, with its owner. Undefined: nobody owns it. */
  readonly groupOf: (id: string) => Promise<{ readonly user: string; readonly type: string } | undefined>
  /** The group in which an asset was recorded. */
  readonly groupOfAsset: (id: string) => Promise<string | undefined>
}

/**
 * Gets the assets of tasks to the upstream.
 *
 * Both throw FieldProblem 400 for an asset that has failed or was deleted, and 429 for more assets than a user may have
 * at the upstream.
 */
export interface UsableAssets {
  /** Throws for assets that `place` could not place now, and creates nothing. */
  requirePlaceable(ids: readonly string[]): Promise<void>
  /**
   * The ids by which the upstream knows the assets of a task. Undefined: some of them are not active there yet, and the
   * work on that has begun; the caller asks again, and it goes on where this call has stopped.
   */
  place(ids: readonly string[], task: string): Promise<PlacedAssets | undefined>
}

export const createUsableAssets = (options: UsableAssetsOptions): UsableAssets => {
  const { library, store, residence, owners, slots, cap = Number.MAX_SAFE_INTEGER } = options
  const { adoptGroups, groupOf, groupOfAsset } = options
  const { clock, log } = library
  const read = (ids: readonly string[]) => inStore(store.slottedAssets(ids))
  const inStore = <Value>(call: Promise<Value>): Promise<Value> => storeCall(call, 'failed to read the assets')

  /** Those of a task that may have to be created again. Others have one id, and are at the upstream. */
  const slottedOf = async (ids: readonly string[]): Promise<readonly SlottedAsset[]> => {
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
    if (deleted !== undefined) throw isDeleted(deleted)
    const failed = all.find(({ status }) => status === 'Failed')
    if (failed) throw hasFailed(failed)
    return all
  }

  /** Throws FieldProblem 429 for more assets than can be at the upstream at once, beside those of persons. */
  const requireSlots = async (assets: readonly SlottedAsset[]): Promise<void> => {
    const persons = await storeCall(store.personSlots(clock.now()), 'failed to read the slots')
    const bounds = [...Map.groupBy(assets, ({ user }) => user)].map(
      ([user, own]) => [own.length, cap - (persons.get(user) ?? 0)] as const,
    )
    if (slots !== 'quota') {
      const all = [...persons.values()].reduce((sum, count) => sum + count, 0)
      bounds.push([assets.length, slots - all])
    }
    for (const [count, most] of bounds) if (count > most) throw tooMany(Math.max(0, most))
  }

  /** Whether the upstream has it, and it is active there. */
  const advance = async (asset: SlottedAsset, task: string): Promise<void> => {
    if (asset.state === 'present' && asset.isReady) return
    const group = await owners().group(asset.user, asset.group)
    if (asset.state === 'present') return void (await residence.refresh(asset))
    if (asset.state !== 'absent') {
      if (clock.now() >= asset.leaseUntil) await residence.settle(asset, group)
      return
    }
    const created = await residence.create(asset, group, task)
    if (created.state === 'rejected') throw rejected(created.error)
    if (created.state !== 'present') return
    const [present] = await read([asset.id])
    if (present) await residence.refresh(present)
  }

  const place: UsableAssets['place'] = async (ids, task) => {
    const before = await slottedOf(ids)
    if (before.length === 0) return new Map()
    if (before.some(({ state, isReady }) => state !== 'present' || !isReady)) await requireSlots(before)
    for (const asset of before) {
      await advance(asset, task).catch((error: unknown) => {
        // What passes is tried again.
        if (error instanceof Problem && error.status >= 500)
          return log.warn({ err: error, asset: asset.id }, 'an asset of a task could not be created')
        throw error
      })
    }
    const after = await read(before.map(({ id }) => id))
    // One was deleted meanwhile: the next call says so.
    if (after.length < before.length) return undefined
    const placed = new Map<string, string>()
    for (const { id, state, isReady, upstreamId, status } of after) {
      if (status === 'Failed') throw hasFailed({ id })
      if (state !== 'present' || !isReady || upstreamId === undefined) return undefined
      placed.set(id, upstreamId)
    }
    await storeCall(store.touchSlottedAssets([...placed.keys()], clock.now()), 'failed to record the use of the assets')
    return placed
  }

  return {
    place,
    requirePlaceable: async (ids) => requireSlots(await slottedOf(ids)),
  }
}

const isDeleted = (id: string): FieldProblem =>
  new FieldProblem(400, `the asset ${id} has been deleted`, { param: 'content', code: 'asset_not_found' })

const hasFailed = ({ id }: Pick<SlottedAsset, 'id'>): FieldProblem =>
  new FieldProblem(400, `the asset ${id} has failed: its detail says why`, { param: 'content', code: 'asset_failed' })

const tooMany = (most: number): FieldProblem =>
  new FieldProblem(429, `a task may have at most ${most} assets of the asset library, besides those of persons`, {
    param: 'content',
    code: 'QuotaExceeded',
  })

/** The upstream has taken the asset before, and does not take it again. */
const rejected = (error: UpstreamRejectedError): FieldProblem => {
  const refusal = rejectedPicture(error)
  const code = refusal?.state === 'failed' ? refusal.code : 'asset_failed'
  const message = refusal?.state === 'failed' ? refusal.message : error.message
  return new FieldProblem(400, message, { param: 'content', code })
}
