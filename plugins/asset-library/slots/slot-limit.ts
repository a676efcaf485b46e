import type { Clock } from '../../shared/clock.ts'
import { asJsonObject } from '../../shared/json/parsed.ts'
import type { Log } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { Upstream } from '../../upstream-proxy/index.ts'
import type { SlotOptions } from './options.ts'
import type { SlotAccount } from './store.ts'

/** How long a refusal of the upstream tells how many slots there are. Milliseconds. */
const refusedMs = 600_000
/** How long the answer of the upstream to how many slots there are is used. Milliseconds. */
const quotaMs = 600_000

/** How many slots an account has. */
export interface SlotLimit {
  /** The number of the options. Undefined: as many as the upstream says. */
  readonly configured: number | undefined
  /** How many there are now. Undefined: that is not known. Rejects with Problem 500 when the store fails. */
  current(): Promise<number | undefined>
  /** The same, as far as this process knows without a call, and without what refusals tell. */
  known(): number | undefined
  /**
   * The upstream had no room while `taken` slots were taken: for a while there are no more, until one is freed.
   *
   * @param freed how often a slot of the account had been freed before
   */
  noteRefusal(taken: number, freed: number): void
  /** Something that took a slot is gone: what a refusal has told holds no more, in any process. Never rejects. */
  forgetRefusal(): Promise<void>
}

interface SlotLimitOptions extends Pick<SlotOptions, 'store' | 'slots'> {
  readonly account: SlotAccount
  /** The name that ids of the account have. */
  readonly accountName: string | undefined
  readonly upstream: Upstream
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

export const createSlotLimit = (options: SlotLimitOptions): SlotLimit => {
  const { store, slots, account, accountName, upstream, clock, log } = options
  const configured = slots === 'quota' ? undefined : slots
  let refusal: { readonly slots: number; readonly freed: number; readonly until: number } | undefined
  let quota: { readonly slots: number | undefined; readonly at: number } | undefined

  /** Where the upstream does not tell, its refusals do. */
  const askQuota = async (): Promise<number | undefined> => {
    const now = clock.now()
    if (quota && now < quota.at + quotaMs) return quota.slots
    const max = await upstream
      .send({ action: 'GetAssetQuota', account: accountName })
      .then(({ fields }) => Number(asJsonObject(fields?.Result)?.max_assets))
      .catch((err: unknown) => {
        log.warn({ err, account: accountName }, 'the quota of the asset library could not be read')
        return Number.NaN
      })
    quota = { at: now, slots: Number.isSafeInteger(max) && max > 0 ? max : quota?.slots }
    return quota.slots
  }

  return {
    configured,

    async current() {
      const limit = configured ?? (await askQuota())
      const told = refusal
      if (!told || clock.now() >= told.until) return limit
      const freed = await storeCall(store.freedSlots(account), 'the slots could not be read')
      if (freed === told.freed) return Math.min(limit ?? told.slots, told.slots)
      // Another process has made room since then.
      if (refusal === told) refusal = undefined
      return limit
    },

    known: () => configured ?? quota?.slots,

    noteRefusal(taken, freed) {
      refusal = { slots: taken, freed, until: clock.now() + refusedMs }
    },

    async forgetRefusal() {
      refusal = undefined
      await store
        .noteFreedSlot(account)
        .catch((err: unknown) => log.warn({ err }, 'other processes do not learn that there is room for assets'))
    },
  }
}
