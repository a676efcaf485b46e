import { inLanes } from '../../../shared/background/in-lanes.ts'
import type { AssetOwners, HeldAssets } from '../../../shared/media/asset-ownership.ts'
import { storeCall } from '../../../shared/store-call.ts'
import { newUseId } from '../new-id.ts'
import type { SlottedAsset } from '../store.ts'
import { hasFailed, isDeleted, type NeededAssets, type ParamOf, type UsableAssetsOptions } from './needed-assets.ts'
import { Pauses } from './pauses.ts'
import { UseLeases } from './use-leases.ts'

/** A request without a slot looks again within so long, also when the upstream is slow. Milliseconds. */
const waitMs = 10_000
/** Assets of a request that are brought to the upstream at once. */
const lanes = 4

type HoldAssets = NonNullable<AssetOwners['hold']>

/**
 * Gets the assets of requests to the upstream, and keeps them there as long as the requests last.
 *
 * Rejects with FieldProblem 400 for an asset that has failed or was deleted, and 429 for more assets than a user may
 * have at the upstream.
 */
export const createHoldAssets = (
  options: Pick<UsableAssetsOptions, 'store' | 'library'>,
  { slottedOf, requireSlots, bring }: NeededAssets,
): HoldAssets => {
  const { store, library } = options
  const { clock } = library
  const pauses = new Pauses(clock)
  const leases = new UseLeases(options, () => pauses.endFirst())

  return async ({ user, assets, signal }) => {
    const params = new Map(assets.map(({ id, param }) => [id, param]))
    const paramOf: ParamOf = (id) => params.get(id) ?? ''
    const known = await slottedOf([...params.keys()], paramOf)
    if (known.length === 0) return undefined
    if (known.some(({ state, isReady }) => state !== 'present' || !isReady))
      await requireSlots(known, 'a request', paramOf)
    const use = { id: newUseId(clock.now()), user, assets: known.map(({ id }) => id) }
    try {
      let before: string | undefined
      for (;;) {
        signal.throwIfAborted()
        const now = clock.now()
        const lease = { now, waitUntil: now + waitMs, leaseUntil: leases.leaseUntil(now) }
        const begun = await storeCall(
          store.beginAssetUse({ ...use, ...lease }),
          'the use of the assets could not begin',
        )
        requireUsable(use.assets, begun.assets, paramOf)
        if (begun.isHeld) return heldUntilEnd(use.id, begun.assets, leases)
        const state = stateOf(begun.assets)
        // The step before has changed nothing.
        if (state === before) {
          before = undefined
          await pauses.begin(user, signal)
          continue
        }
        before = state
        const need = { id: use.id, user, waitUntil: now + waitMs }
        const bringing = inLanes(begun.assets, lanes, (asset) => bring(asset, need, paramOf))
        await untilAborted(bringing, signal)
      }
    } catch (error) {
      leases.end(use.id)
      throw error
    }
  }
}

const heldUntilEnd = (id: string, assets: readonly SlottedAsset[], leases: UseLeases): HeldAssets => {
  leases.begin(id)
  let isOver = false
  const once = (act: () => void) => {
    if (isOver) return
    isOver = true
    act()
  }
  return {
    placed: new Map(assets.map((asset) => [asset.id, asset.upstreamId ?? asset.id])),
    end: () => once(() => leases.end(id)),
    endAt: (time) => once(() => leases.endAt(id, time)),
  }
}

const requireUsable = (ids: readonly string[], found: readonly SlottedAsset[], paramOf: ParamOf): void => {
  const byId = new Map(found.map((asset) => [asset.id, asset]))
  for (const id of ids) {
    const asset = byId.get(id)
    if (!asset || asset.removedAt !== undefined) throw isDeleted(id, paramOf(id))
    if (asset.status === 'Failed') throw hasFailed(id, paramOf(id))
  }
}

const stateOf = (assets: readonly SlottedAsset[]): string =>
  JSON.stringify(assets.map(({ state, isReady, attempts }) => [state, isReady, attempts]))

/** Rejects with the reason of the signal when that aborts. What has begun goes on: the next request may need it. */
const untilAborted = (work: Promise<void>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
