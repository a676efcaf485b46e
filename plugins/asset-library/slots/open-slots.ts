import type { Background } from '../../shared/background/background.ts'
import { checkCollaborator } from '../../shared/plugin/options.ts'
import type { Upstream } from '../../upstream-proxy/index.ts'
import type { GatewayOptions } from '../options.ts'
import type { Owners, PersonSlots } from '../routes/library.ts'
import { createSlotAccounts } from './accounts.ts'
import { createAdoption } from './adopt.ts'
import type { SlotOptions } from './options.ts'
import type { SlotLibrary } from './slots.ts'
import { createSlottedUpstream } from './slotted-upstream.ts'
import { createUsableAssets, type UsableAssets } from './use/usable-assets.ts'
import { workOnSlots } from './work.ts'

/** What a library that is larger than its slots has instead of the client of the upstream. */
export interface OpenSlots {
  /** Takes the ids of the gateway. */
  readonly upstream: Upstream
  readonly usable: UsableAssets
  readonly persons: PersonSlots
  /** How many assets an account may have at once, as far as this process knows. */
  limitOf(account: string): number | undefined
  /** Starts the work in the background. */
  workOn(background: Background): void
}

/** Throws TypeError for wrong options. */
export const openSlots = (
  library: SlotLibrary,
  options: SlotOptions,
  { accounts, store }: Pick<GatewayOptions, 'accounts' | 'store'>,
  owners: () => Pick<Owners, 'group'>,
): OpenSlots => {
  const { slots, floor = 0, cap = Number.MAX_SAFE_INTEGER } = options
  checkCollaborator('slots.store', options.store)
  checkCollaborator('slots.originals', options.originals)
  if (slots !== 'quota' && !isCount(slots, 1)) throw new TypeError('slots.slots must be quota or an integer from 1')
  for (const { name, slots: own = 1 } of accounts ?? [])
    if (!isCount(own, 1)) throw new TypeError(`the slots of the account ${name} must be an integer from 1`)
  if (!isCount(floor, 0)) throw new TypeError('slots.floor must be an integer from 0')
  if (!isCount(cap, 1) || cap < floor) throw new TypeError('slots.cap must be an integer from 1, and not below floor')
  const slotAccounts = createSlotAccounts(library, options, accounts)
  const parts = {
    ...{ ...options, library, accounts: slotAccounts, owners },
    adoptGroups: createAdoption(library, options.store, slotAccounts),
    groupOf: (id: string) => store.group(id),
  }
  return {
    upstream: createSlottedUpstream({
      ...parts,
      noteDeleted: async (id, at) => store.markAssetDeleted?.(id, at),
    }),
    usable: createUsableAssets({ ...parts, groupOfAsset: (id) => store.groupOfAsset(id) }),
    persons: {
      async take({ user, account }, create) {
        const own = slotAccounts.of(account)
        return own ? own.persons.take(user, create) : create()
      },
    },
    limitOf: (account) => slotAccounts.of(account)?.limit.known(),
    workOn(background) {
      for (const accountSlots of slotAccounts.all) workOnSlots({ ...parts, accountSlots }, background)
    },
  }
}

const isCount = (value: number, min: number): boolean => Number.isSafeInteger(value) && value >= min
