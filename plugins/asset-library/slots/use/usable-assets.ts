import type { AssetOwners, PlacedAssets } from '../../../shared/media/asset-ownership.ts'
import { storeCall } from '../../../shared/store-call.ts'
import { createHoldAssets } from './held-assets.ts'
import { createNeededAssets, hasFailed, type UsableAssetsOptions } from './needed-assets.ts'

/**
 * Gets the assets of tasks and of requests to the upstream.
 *
 * All throw FieldProblem 400 for an asset that has failed or was deleted, and 429 for more assets than a user may have
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
  /** See `AssetOwners`. */
  readonly hold: NonNullable<AssetOwners['hold']>
}

/** A video task without a slot is looked at again within so long. Milliseconds. */
const taskWaitMs = 15_000

export const createUsableAssets = (options: UsableAssetsOptions): UsableAssets => {
  const { store } = options
  const { clock } = options.library
  const needed = createNeededAssets(options)
  const { slottedOf, requireSlots, bring } = needed
  const read = (ids: readonly string[]) => storeCall(store.slottedAssets(ids), 'failed to read the assets')

  const place: UsableAssets['place'] = async (ids, task) => {
    const before = await slottedOf(ids)
    if (before.length === 0) return new Map()
    if (before.some(({ state, isReady }) => state !== 'present' || !isReady)) await requireSlots(before, 'a task')
    for (const asset of before) await bring(asset, { id: task, waitUntil: clock.now() + taskWaitMs })
    const after = await read(before.map(({ id }) => id))
    // One was deleted meanwhile: the next call says so.
    if (after.length < before.length) return undefined
    const placed = new Map<string, string>()
    for (const { id, state, isReady, upstreamId, status } of after) {
      if (status === 'Failed') throw hasFailed(id)
      if (state !== 'present' || !isReady || upstreamId === undefined) return undefined
      placed.set(id, upstreamId)
    }
    await storeCall(store.touchSlottedAssets([...placed.keys()], clock.now()), 'failed to record the use of the assets')
    return placed
  }

  return {
    place,
    requirePlaceable: async (ids) => requireSlots(await slottedOf(ids), 'a task'),
    hold: createHoldAssets(options, needed),
  }
}
