import { integer } from './environment/parsers.ts'
import type { Read } from './environment/reader.ts'
import type { MediaAccountConfig } from './media-accounts.ts'
import type { MediaUpstream } from './media-upstream.ts'

/** How many assets each account of the asset library has room for. */
export interface MediaSlotsConfig {
  /** Of each account without a number of its own. `quota`: the upstream says it. */
  readonly slots: number | 'quota'
  readonly floor: number
  /** Undefined: no limit of a user. */
  readonly cap?: number
}

/** Reads `MEDIA_ASSET_SLOTS` and what belongs to it. Undefined without it: each asset stays at the upstream. */
export const readMediaSlots = (
  read: Read,
  addProblem: (problem: string) => void,
  given: {
    readonly upstream: MediaUpstream | undefined
    readonly accounts: readonly MediaAccountConfig[] | undefined
    readonly hasStorage: boolean
  },
): MediaSlotsConfig | undefined => {
  const slots = read('MEDIA_ASSET_SLOTS', 'must be quota or an integer from 1', slotsIn)
  const floor = read('MEDIA_ASSET_SLOTS_FLOOR', 'must be an integer from 0', integer(0)) ?? 0
  const cap = read('MEDIA_ASSET_SLOTS_CAP', 'must be an integer from 1', integer(1))
  if (cap !== undefined && cap < floor) addProblem('MEDIA_ASSET_SLOTS_CAP must not be below MEDIA_ASSET_SLOTS_FLOOR')
  if (slots === undefined) {
    if (floor > 0 || cap !== undefined)
      addProblem('MEDIA_ASSET_SLOTS is required for MEDIA_ASSET_SLOTS_FLOOR and MEDIA_ASSET_SLOTS_CAP')
    return undefined
  }
  if (!given.hasStorage) addProblem('MEDIA_ASSET_SLOTS needs a storage: STORAGE_URL must not be none')
  if (slots === 'quota' && given.upstream?.kind === 'rest')
    addProblem('MEDIA_ASSET_SLOTS must be a number for a MEDIA_UPSTREAM_URL of kind rest')
  for (const [index, { upstream, slots: own }] of given.accounts?.entries() ?? [])
    if (slots === 'quota' && own === undefined && upstream.kind === 'rest')
      addProblem(`MEDIA_UPSTREAMS[${index}].slots is required: the kind rest has no quota for MEDIA_ASSET_SLOTS`)
  return { slots, floor, ...(cap !== undefined && { cap }) }
}

const slotsIn = (text: string): number | 'quota' | undefined => (text === 'quota' ? 'quota' : integer(1)(text))
