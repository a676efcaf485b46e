import type { OwnedGroup } from '../../ownership/index.ts'
import { KeyedSemaphore } from '../../shared/background/keyed-semaphore.ts'
import { JsonBody } from '../../shared/http/body/body.ts'
import { type Json, readJson, toJson } from '../../shared/json/json.ts'
import { declareOwned } from '../../shared/owned-id.ts'
import { storeCall } from '../../shared/store-call.ts'
import { type Caller, type Upstream, UpstreamRejectedError, type UpstreamResponse } from '../../upstream-proxy/index.ts'
import { assetsNamed } from '../creation/named-assets.ts'
import { isUsable, rejectedPicture } from '../pictures/states.ts'
import { createdId, effectOf, type Library } from '../routes/library.ts'
import { upstreamNameOf } from './item.ts'
import type { SlotChange, SlotOptions } from './options.ts'
import { createPersonSlots, maxEvictions, type PersonSlotsOfAccount } from './person-slots.ts'
import { createSlotLimit, type SlotLimit } from './slot-limit.ts'
import type { SlotAccount, SlotNeed, SlottedAsset } from './store.ts'

/** How long the link to an original is valid that the upstream gets. Milliseconds. */
const sourceMs = 3_600_000
/** Pause before the upstream is asked again about an asset that it processes. Milliseconds. */
export const processingPauseMs = 2_000
/** Pause before an asset is created again for which there was no slot, or no call. Milliseconds. */
export const busyPauseMs = 10_000
/** Assets that one process creates at once on an account: each may have taken the slot of another one. */
const atOnce = 4

/** The parts of the library on which the slots depend. */
export type SlotLibrary = Pick<Library, 'claimMs' | 'clock' | 'log'> & {
  /** The client of the upstream, which takes the ids of the upstream. */
  readonly upstream: Upstream
}

/**
 * What became of an attempt to create an asset.
 *
 * - `present`: the upstream has it. It may still process it.
 * - `waiting`: not now. There is no slot, the upstream is busy, or the outcome of a call is not known yet.
 * - `capped`: its user has as many slots as a user may have, and uses them all.
 * - `rejected`: the upstream does not take it.
 */
export type SlotCreation =
  | { readonly state: 'present' | 'waiting' | 'capped' }
  | { readonly state: 'rejected'; readonly error: UpstreamRejectedError }

/** Creates and deletes assets at one account of the upstream, so that no more exist than it has slots. */
export interface Slots {
  readonly account: SlotAccount
  /** The name that ids of the account have. Undefined: the only account. */
  readonly accountName: string | undefined
  readonly limit: SlotLimit
  /**
   * Creates an absent asset, in the place of others if there is no room. Never throws what the upstream says.
   *
   * @param need what waits for it
   */
  create(asset: SlottedAsset, group: OwnedGroup, need?: SlotNeed, caller?: Caller): Promise<SlotCreation>
  /** Finds out what has become of a call without an outcome, and deletes what is to be deleted. */
  settle(asset: SlottedAsset, group: OwnedGroup | undefined): Promise<void>
  /** Asks the upstream about an asset that it has, and records what it says. */
  refresh(asset: SlottedAsset, caller?: Caller): Promise<UpstreamResponse | undefined>
  /** Sends a call that makes something which takes a slot; makes room when the upstream has none. */
  withRoom(user: string, send: () => Promise<UpstreamResponse>): Promise<UpstreamResponse>
  readonly persons: PersonSlotsOfAccount
}

export const createSlots = (library: SlotLibrary, options: SlotOptions, account: SlotAccount): Slots => {
  const { upstream, claimMs, clock, log } = library
  const { store, originals, floor = 0, cap = Number.MAX_SAFE_INTEGER } = options
  const accountName = account.name === '' ? undefined : account.name
  const observeChange = (change: SlotChange) => options.observeChange?.(change, accountName)
  const inStore = <Value>(call: Promise<Value>): Promise<Value> => storeCall(call, 'the asset could not be recorded')
  const creations = new KeyedSemaphore(atOnce)
  /** Assets that this process is creating. Another attempt meanwhile would delete one more asset to make room. */
  const inCreation = new Set<string>()
  const limit = createSlotLimit({ ...options, account, accountName, upstream, clock, log })
  const slotCount = async (): Promise<number> => (await limit.current()) ?? unlimited

  /** Deletes an asset at the upstream. Rejects when that is not certain: it is tried again later. */
  const remove = async (marked: SlottedAsset): Promise<void> => {
    const { user, upstreamId } = marked
    if (upstreamId === undefined) return
    if (marked.account !== account.key) throw new Error('an asset of another account cannot be deleted here')
    const asset = declareOwned('asset', { id: upstreamId, account: accountName })
    try {
      await upstream.send({ action: 'DeleteAsset', asset }, { user })
    } catch (error) {
      if (!(error instanceof UpstreamRejectedError && error.status === 404)) throw error
    }
    await inStore(store.confirmDeleted(marked, clock.now()))
  }

  /** Deletes an asset that has lost its slot to another one. Rejects as `remove` does. */
  const evict = async (victim: SlottedAsset): Promise<void> => {
    await remove(victim)
    observeChange('evicted')
  }

  const bodyOf = (asset: SlottedAsset): JsonBody => {
    const { group, original } = asset
    if (original === undefined) throw new Error('an asset without an original cannot be created')
    return new JsonBody(
      readJson(asset.body).edit([
        ['GroupId', toJson(group)],
        ['Name', toJson(upstreamNameOf(asset))],
        ['URL', toJson(originals.linkTo(original, clock.now() + sourceMs))],
      ]),
    )
  }

  /** Sends the call that creates an asset. Undefined: there is no room at the upstream. */
  const send = async (claimed: SlottedAsset, group: OwnedGroup, caller: Caller): Promise<SlotCreation | undefined> => {
    // This process was suspended: the call would not end before another one settles the claim.
    if (clock.now() > claimed.leaseUntil - (3 * claimMs) / 4) {
      await inStore(store.releaseSlot(claimed, clock.now(), clock.now()))
      return { state: 'waiting' }
    }
    let upstreamId: string
    try {
      upstreamId = createdId(await upstream.send({ action: 'CreateAsset', group, body: bodyOf(claimed) }, caller))
    } catch (error) {
      if (effectOf(error) !== 'none') {
        log.info({ err: error, asset: claimed.id }, 'the response to the creation of an asset was lost')
        return { state: 'waiting' }
      }
      const isFull = isQuotaRefusal(error)
      await inStore(store.releaseSlot(claimed, clock.now(), clock.now() + busyPauseMs))
      if (isFull) return undefined
      return error instanceof UpstreamRejectedError && rejectedPicture(error)?.state === 'failed'
        ? { state: 'rejected', error }
        : { state: 'waiting' }
    }
    await confirm(claimed, upstreamId)
    observeChange(claimed.status === 'Processing' ? 'created' : 'recreated')
    return { state: 'present' }
  }

  const confirm = async (claimed: SlottedAsset, upstreamId: string): Promise<void> => {
    if (await inStore(store.confirmCreated(claimed, upstreamId, clock.now() + processingPauseMs))) return
    // The asset has been forgotten with its group, or the claim was settled by another process.
    log.error({ asset: claimed.id, upstreamId }, 'an asset may have been created twice: its record has changed')
  }

  const createInTurn = async (
    asset: SlottedAsset,
    group: OwnedGroup,
    need: SlotNeed | undefined,
    caller: Caller,
  ): Promise<SlotCreation> => {
    for (let evictions = 0; ; evictions++) {
      const now = clock.now()
      const slots = await slotCount()
      const lease = { now, leaseUntil: now + claimMs }
      const claim = await inStore(store.claimSlot({ id: asset.id, account, slots, floor, cap, need, ...lease }))
      if (claim.outcome === 'evict') {
        if (evictions >= maxEvictions) return { state: 'waiting' }
        try {
          await evict(claim.victim)
        } catch (err) {
          log.warn({ err, asset: claim.victim.id }, 'an asset could not be deleted to make room')
          return { state: 'waiting' }
        }
        continue
      }
      if (claim.outcome !== 'claimed') return { state: claim.outcome === 'capped' ? 'capped' : 'waiting' }
      const created = await send(claim.asset, group, caller)
      if (created) return created
      limit.noteRefusal(claim.occupied - 1, claim.freed)
      if (evictions >= maxEvictions) return { state: 'waiting' }
    }
  }

  return {
    ...{ account, accountName, limit },

    async create(asset, group, need, caller = { user: asset.user }) {
      if (inCreation.has(asset.id)) return { state: 'waiting' }
      inCreation.add(asset.id)
      try {
        return await creations.run('', () => createInTurn(asset, group, need, caller))
      } finally {
        inCreation.delete(asset.id)
      }
    },

    async settle(asset, group) {
      const now = clock.now()
      if (!(await inStore(store.takeOver(asset, now, now + claimMs)))) return
      if (asset.state !== 'creating') return remove(asset)
      if (!group) return
      for await (const { id } of assetsNamed({ upstream }, group, upstreamNameOf(asset), asset.user)) {
        log.info({ asset: asset.id }, 'found the asset of a lost response')
        return confirm(asset, id)
      }
      await inStore(store.releaseSlot(asset, now, now))
    },

    async refresh(asset, caller = { user: asset.user }) {
      const { upstreamId: id } = asset
      if (id === undefined) return undefined
      let response: UpstreamResponse
      try {
        response = await upstream.send({ action: 'GetAsset', id, account: accountName }, caller)
      } catch (error) {
        if (!(error instanceof UpstreamRejectedError && error.status === 404)) throw error
        // Somebody has deleted it at the upstream. It is created again when it is needed.
        log.warn({ asset: asset.id }, 'the upstream has lost an asset')
        await inStore(store.confirmDeleted(asset, clock.now()))
        return undefined
      }
      const item = response.json?.get('Result')
      if (item) await note(asset, item)
      return response
    },

    async withRoom(user, sendCall) {
      for (let evictions = 0; ; evictions++) {
        try {
          return await sendCall()
        } catch (error) {
          if (!isQuotaRefusal(error) || evictions >= maxEvictions) throw error
          const now = clock.now()
          const victim = await inStore(store.claimVictim({ user, account, floor, now, leaseUntil: now + claimMs }))
          if (!victim) throw error
          await evict(victim)
        }
      }
    },

    persons: createPersonSlots({ ...options, account, claimMs, clock, log, slotCount, evict }),
  }

  async function note(asset: SlottedAsset, item: Json): Promise<void> {
    const now = clock.now()
    const status = item.get('Status')?.string()
    const ended = status === 'Active' || status === 'Failed'
    // An asset that has been active stays so when the upstream could not read its original this time.
    const code = item.get('Error')?.get('Code')?.string() ?? ''
    if (status === 'Failed' && asset.status === 'Active' && !isUsable({ state: 'failed', code, message: '' })) {
      log.warn({ asset: asset.id, code }, 'an asset could not be created again')
      if (await inStore(store.takeOver(asset, now, now + claimMs))) await remove(asset)
      return
    }
    await inStore(
      store.noteUpstreamItem(asset, {
        status: ended ? status : asset.status,
        isReady: status === 'Active',
        item: item.raw,
        at: Math.floor(now / 1000) * 1000,
        dueAt: ended ? undefined : now + processingPauseMs,
      }),
    )
  }
}

/** Of an account whose limit is not known. */
const unlimited = 1_000_000

/** Whether the upstream has no room. */
const isQuotaRefusal = (error: unknown): boolean => {
  if (!(error instanceof UpstreamRejectedError)) return false
  const refusal = rejectedPicture(error)
  return refusal?.state === 'failed' && refusal.code.startsWith('Quota')
}
