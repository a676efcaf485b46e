import type { SlotCounts, SlottedAssetStore } from './store.ts'

/** The originals of assets, from which they are created again. */
export interface Originals {
  /**
   * Keeps the file at an address: for an hour, and as long as the asset to which the store adds it. Resolves with its
   * key. Rejects with Problem 400 when it cannot be read, or is no file of the type.
   */
  keep(file: {
    readonly url: string
    /** The beginning of the key's name: letters, digits and `-`. */
    readonly name: string
    readonly type: AssetType
    /** Id of the owner. */
    readonly user: string
    readonly signal?: AbortSignal | undefined
  }): Promise<string>
  /** Keeps the file at an address that the upstream has given. */
  keepUpstream(file: {
    readonly url: string
    readonly name: string
    readonly type: AssetType
    readonly user: string
  }): Promise<string>
  /** A link to an original, which needs no credential, until `expiresAt`. */
  linkTo(key: string, expiresAt: number): string
  /** Removes originals of which no asset has been recorded. Never rejects. */
  remove(keys: readonly string[]): Promise<void>
}

export type AssetType = 'Image' | 'Video' | 'Audio'

/** Options of a library that is larger than its slots. */
export interface SlotOptions {
  /** `sluice/store` has it. */
  readonly store: SlottedAssetStore
  readonly originals: Originals
  /** How many assets the upstream may have at once, from 1. `quota`: as many as `GetAssetQuota` says. */
  readonly slots: number | 'quota'
  /** Slots of a user that others do not take while they can take another one. Default 0. */
  readonly floor?: number
  /** Slots that a user has at most, from 1. Default: all. */
  readonly cap?: number
  /**
   * Receives each change at the upstream, for metrics: an asset was created for the first time, or again, or has lost
   * its slot to another one. Default: nothing.
   */
  readonly observeChange?: ((change: 'created' | 'recreated' | 'evicted') => void) | undefined
  /**
   * Receives the counts every ten seconds, in one process at a time, for metrics. `limit`: how many slots there are, if
   * that is known. Default: nothing.
   */
  readonly observeCounts?: ((counts: SlotCounts & { readonly limit: number | undefined }) => void) | undefined
}
