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

/** An asset was created at the upstream for the first time, or again, or has lost its slot to another one. */
export type SlotChange = 'created' | 'recreated' | 'evicted'

/** Options of a library that is larger than its slots. */
export interface SlotOptions {
  /** `sluice/store` has it. */
  readonly store: SlottedAssetStore
  readonly originals: Originals
  /**
   * How many assets the upstream may have at once, from 1: each account without a number of its own. `quota`: as many
   * as its `GetAssetQuota` says.
   */
  readonly slots: number | 'quota'
  /** Slots of a user, on each account, that others do not take while they can take another one. Default 0. */
  readonly floor?: number
  /**
   * Slots that a user has at most on each account, from 1. Default: all. Assets of persons have half of them at most
   * then, unless there is a floor: nobody can take those away.
   */
  readonly cap?: number
  /**
   * Receives each change at the upstream, for metrics. `account`: its name, where there are several. Default: nothing.
   */
  readonly observeChange?: ((change: SlotChange, account: string | undefined) => void) | undefined
  /**
   * Receives the counts of each account every ten seconds, in one process at a time, for metrics. `limit`: how many
   * slots there are, if that is known. `account`: its name, where there are several. Default: nothing.
   */
  readonly observeCounts?:
    | ((counts: SlotCounts & { readonly limit: number | undefined; readonly account: string | undefined }) => void)
    | undefined
}
