import type { Ownership } from '../../ownership/index.ts'
import { FieldProblem } from '../../shared/field-problem.ts'
import type { PlacedAssets } from '../../shared/media/asset-ownership.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { UpstreamRejectedError } from '../../upstream-proxy/index.ts'
import { rejectedPicture } from '../pictures/states.ts'
import type { SlotOptions } from './options.ts'
import type { SlotLibrary, Slots } from './slots.ts'
import type { SlottedAsset } from './store.ts'

interface UsableAssetsOptions extends Pick<SlotOptions, 'store' | 'slots' | 'cap'> {
  readonly library: SlotLibrary
  readonly residence: Slots
  readonly owners: () => Pick<Ownership, 'group'>
}

/** Gets the assets of a task to the upstream. Each call goes on where the one before has stopped. */
export type PlaceAssets = (ids: readonly string[], task: string) => Promise<PlacedAssets | undefined>

/**
 * The ids by which the upstream knows the assets of a task. Undefined: some of them are not active there yet, and the
 * work on that has begun; the caller asks again.
 *
 * Throws FieldProblem 400 for an asset that has failed, and 429 for more assets than a user may have at the upstream.
 */
export const createPlaceAssets = (options: UsableAssetsOptions): PlaceAssets => {
  const { library, store, residence, owners, slots, cap = Number.MAX_SAFE_INTEGER } = options
  const { clock, log } = library
  const read = (ids: readonly string[]) => storeCall(store.slottedAssets(ids), 'failed to read the assets')

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

  return async (ids, task) => {
    const before = await read(ids)
    if (before.length === 0) return new Map()
    const most = Math.min(cap, slots === 'quota' ? cap : slots)
    if (before.length > most) throw tooMany(most)
    for (const asset of before) {
      if (asset.status === 'Failed') throw failed(asset)
      await advance(asset, task).catch((error: unknown) => {
        // What passes is tried again.
        if (error instanceof Problem && error.status >= 500)
          return log.warn({ err: error, asset: asset.id }, 'an asset of a task could not be created')
        throw error
      })
    }
    const after = await read(ids)
    const placed = new Map<string, string>()
    for (const { id, state, isReady, upstreamId, status } of after) {
      if (status === 'Failed') throw failed({ id })
      if (state !== 'present' || !isReady || upstreamId === undefined) return undefined
      placed.set(id, upstreamId)
    }
    await storeCall(store.touchSlottedAssets([...placed.keys()], clock.now()), 'failed to record the use of the assets')
    return placed
  }
}

const failed = ({ id }: Pick<SlottedAsset, 'id'>): FieldProblem =>
  new FieldProblem(400, `the asset ${id} has failed: its detail says why`, { param: 'content', code: 'asset_failed' })

const tooMany = (most: number): FieldProblem =>
  new FieldProblem(429, `a task may have at most ${most} assets of the asset library`, {
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
