import { integer } from './environment/parsers.ts'
import type { Read } from './environment/reader.ts'
import type { MediaUpstream } from './media-upstream.ts'

/** How many assets the account of the asset library has room for. */
export interface MediaSlotsConfig {
  /** `quota`: the upstream says it. */
  readonly slots: number | 'quota'
  readonly floor: number
  /** Undefined: no limit of a user. */
  readonly cap?: number
}

/** Reads `MEDIA_ASSET_SLOTS` and what belongs to it. Undefined without it: each asset stays at the upstream. */
export const readMediaSlots = (
  read: Read,
  addProblem: (problem: string) => void,
  given: { readonly upstream: MediaUpstream | undefined; readonly hasAccounts: boolean; readonly hasStorage: boolean },
): MediaSlotsConfig | undefined => {
  const slots = read('MEDIA_ASSET_SLOTS', 'must be quota or an integer from 1', slotsIn)
  const floor = read('MEDIA_ASSET_SLOTS_FLOOR', 'must be an integer from 0', integer(0)) ?? 0
  const cap = read('MEDIA_ASSET_SLOTS_CAP', 'must be an integer from 1', integer(1))
  if (cap !== undefined && cap < floor) addProblem('MEDIA_ASSET_SLOTS_CAP must not be below MEDIA_ASSET_SLOTS_FLOOR')
  if (slots === undefined) return undefined
  if (given.hasAccounts) addProblem('MEDIA_ASSET_SLOTS and MEDIA_UPSTREAMS must not both be set')
  if (!given.hasStorage) addProblem('MEDIA_ASSET_SLOTS needs a storage: STORAGE_URL must not be none')
  if (slots === 'quota' && given.upstream?.kind === 'rest')
    addProblem('MEDIA_ASSET_SLOTS must be a number for a MEDIA_UPSTREAM_URL of kind rest')
  return { slots, floor, ...(cap !== undefined && { cap }) }
}

const slotsIn = (text: string): number | 'quota' | undefined => (text === 'quota' ? 'quota' : integer(1)(text))
