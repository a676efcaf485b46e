import type { OwnedGroup, Ownership } from '../../ownership/index.ts'
import type { Background } from '../../shared/background/background.ts'
import { inLanes } from '../../shared/background/in-lanes.ts'
import { Problem } from '../../shared/problem.ts'
import type { UpstreamRejectedError } from '../../upstream-proxy/index.ts'
import { rejectedPicture } from '../pictures/states.ts'
import { wholeSeconds } from './item.ts'
import type { SlotOptions } from './options.ts'
import { busyPauseMs, type SlotLibrary, type Slots } from './slots.ts'
import type { SlottedAsset } from './store.ts'

const everyMs = 2_000
/** Assets of one round. */
const maxDue = 100
/** Assets that are looked at at once. */
const lanes = 4
/** Milliseconds between two sweeps of uses that have ended without a word. */
const sweepMs = 30_000
/** Milliseconds between two counts. */
const countMs = 10_000
/** Pause after a failure. Milliseconds. */
const retryMs = 30_000

interface SlotWorkOptions extends Pick<SlotOptions, 'store' | 'originals' | 'observeCounts'> {
  readonly library: SlotLibrary
  /** Of one account: the work of another one does not wait for its calls. */
  readonly accountSlots: Slots
  readonly owners: () => Pick<Ownership, 'group'>
}

/**
 * Goes on with what has begun, in one process at a time: new assets that had no slot, assets in processing, calls whose
 * outcome was lost, deletions, and originals of assets from before.
 */
export const workOnSlots = (
  { store, originals, library, accountSlots, owners, observeCounts }: SlotWorkOptions,
  background: Background,
): void => {
  const { clock, log } = library
  const { account, accountName } = accountSlots

  const groupOf = async ({ user, group }: SlottedAsset): Promise<OwnedGroup | undefined> => {
    try {
      return await owners().group(user, group)
    } catch (error) {
      if (error instanceof Problem && error.status === 403) return undefined
      throw error
    }
  }

  /** An asset that has never been active. */
  const createFirst = async (asset: SlottedAsset, group: OwnedGroup): Promise<number | undefined> => {
    const created = await accountSlots.create(asset, group)
    if (created.state === 'present') return undefined
    if (created.state !== 'rejected') return clock.now() + busyPauseMs
    const { code, message } = codeOf(created.error)
    log.info({ asset: asset.id, code }, 'the upstream has rejected an asset')
    const item = JSON.stringify({ Error: { Code: code, Message: message } })
    await store.failSlottedAsset(asset.id, item, wholeSeconds(clock.now()))
    return undefined
  }

  const keepOriginal = async (asset: SlottedAsset): Promise<void> => {
    const response = await accountSlots.refresh(asset)
    const item = response?.json?.get('Result')
    const [url, type] = [item?.get('URL')?.string(), item?.get('AssetType')?.string()]
    if (url === undefined || (type !== 'Image' && type !== 'Video' && type !== 'Audio')) return
    const key = await originals.keepUpstream({
      url,
      name: asset.id.replace(/[^\w-]/g, '-').slice(0, 150),
      type,
      user: asset.user,
    })
    if (!(await store.keepOriginal(asset.id, key))) await originals.remove([key])
  }

  /** Resolves with when the asset is due again, unless what was done has set that. */
  const step = async (asset: SlottedAsset): Promise<{ readonly dueAt: number | undefined } | undefined> => {
    const { state, removedAt, status } = asset
    if (state === 'creating' || state === 'deleting' || removedAt !== undefined) {
      await accountSlots.settle(asset, await groupOf(asset))
      return undefined
    }
    const group = await groupOf(asset)
    if (!group) return { dueAt: clock.now() + retryMs }
    if (state === 'absent') {
      if (status !== 'Processing') return { dueAt: undefined }
      const dueAt = await createFirst(asset, group)
      return dueAt === undefined ? undefined : { dueAt }
    }
    if (status === 'Active' && asset.original === undefined) {
      await keepOriginal(asset)
      return { dueAt: undefined }
    }
    if (status === 'Processing' || !asset.isReady) await accountSlots.refresh(asset)
    return status === 'Failed' ? { dueAt: undefined } : undefined
  }

  /** What this process has last recorded. */
  let notedLimit: number | undefined
  const noteLimit = async (slots: number | undefined): Promise<void> => {
    if (slots === undefined || slots === notedLimit) return
    await store.noteSlotLimit(account, slots)
    notedLimit = slots
  }

  let [sweepAt, countAt] = [0, 0]
  background.repeat({
    ...{ everyMs, log, failure: 'assets of the slots could not be read' },
    lease: { store, name: accountName === undefined ? 'asset-slots' : `asset-slots ${accountName}`, clock },
    async run(signal) {
      if (clock.now() >= sweepAt) {
        sweepAt = clock.now() + sweepMs
        await store.sweepAssetUses(clock.now())
      }
      if (observeCounts && clock.now() >= countAt) {
        countAt = clock.now() + countMs
        const counts = await store.countSlots(account, clock.now())
        const limit = await accountSlots.limit.current()
        observeCounts({ ...counts, limit, account: accountName })
        if (accountSlots.limit.configured === undefined) await noteLimit(limit)
      }
      const due = await store.dueSlottedAssets(account, clock.now(), maxDue)
      await inLanes(due, lanes, async (asset) => {
        if (signal.aborted) return
        try {
          const next = await step(asset)
          if (next) await store.postponeSlottedAsset(asset.id, next.dueAt)
        } catch (err) {
          log.warn({ err, asset: asset.id }, 'an asset could not be brought to its slot')
          await store.postponeSlottedAsset(asset.id, clock.now() + retryMs)
        }
      })
      return due.length === maxDue ? 0 : everyMs
    },
  })
}

const codeOf = (error: UpstreamRejectedError): { readonly code: string; readonly message: string } => {
  const rejected = rejectedPicture(error)
  return rejected?.state === 'failed' ? rejected : { code: 'InternalError', message: error.message }
}
