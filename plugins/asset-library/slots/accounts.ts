import { type MediaAccount, UpstreamUnreachableError } from '../../upstream-proxy/index.ts'
import type { SlotOptions } from './options.ts'
import { createSlots, type SlotLibrary, type Slots } from './slots.ts'
import type { SlottedAsset } from './store.ts'

/** The slots of each account of a library. An asset lives on the account of its group, and so does its slot. */
export interface SlotAccounts {
  readonly all: readonly Slots[]
  /** Those of an account, by the name that ids have. Undefined: this server does not have the account (any more). */
  of(name: string | undefined): Slots | undefined
  /** Those of an asset. Throws UpstreamUnreachableError without its account. */
  ofRecord(asset: Pick<SlottedAsset, 'account'>): Slots
}

/**
 * Creates the slots of the only account, or of each of several. Each has its own number of slots, and knows its own
 * quota and refusals, so an account that does not respond takes nothing from another one.
 */
export const createSlotAccounts = (
  library: SlotLibrary,
  options: SlotOptions,
  accounts: readonly Pick<MediaAccount, 'name' | 'slots'>[] | undefined,
): SlotAccounts => {
  const all = accounts
    ? accounts.map(({ name, slots = options.slots }, index) =>
        createSlots(library, { ...options, slots }, { key: index === 0 ? '' : name, name }),
      )
    : [createSlots(library, options, { key: '', name: '' })]
  const byName = new Map(all.map((slots) => [slots.account.name, slots]))
  const byKey = new Map(all.map((slots) => [slots.account.key, slots]))
  return {
    all,
    of: (name) => byName.get(name ?? ''),
    ofRecord({ account }) {
      const slots = byKey.get(account)
      if (!slots) throw new UpstreamUnreachableError(new Error(`the account ${account} is not configured`), false)
      return slots
    },
  }
}
