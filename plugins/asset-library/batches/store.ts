import type { AssetProgress } from '../watch/asset-events.ts'

/**
 * What has become of an item:
 *
 * - `waiting`: its asset is not made yet.
 * - `sending`: its call may be in progress until `leaseUntil`; then its outcome is looked for.
 * - `created`: it is the asset `asset`.
 * - `failed`: it makes no asset, for the reason in `error`.
 * - `unknown`: its response was lost, and several assets may be the one.
 * - `cancelled`: the batch was cancelled before its turn.
 */
export type AssetBatchItemState = (typeof itemStates)[number]

export const itemStates = ['waiting', 'sending', 'created', 'failed', 'unknown', 'cancelled'] as const

/** A batch of assets to create. Times are milliseconds since 1970. */
export interface AssetBatch {
  /** Ids of later batches of a user sort later. */
  readonly id: string
  readonly user: string
  /** Id of the token, if there was one. */
  readonly token?: string
  readonly group: string
  readonly groupType: string
  readonly createdAt: number
  /** When failed items of it were last tried again. */
  readonly retriedAt?: number
  /** When it was cancelled. */
  readonly cancelledAt?: number
  /** When its last item had an outcome. */
  readonly endedAt?: number
}

/** A batch with the number of its items in each state that there is. */
export interface CountedAssetBatch extends AssetBatch {
  readonly counts: Readonly<Partial<Record<AssetBatchItemState, number>>>
}

/** An item of a batch. */
export interface AssetBatchItem {
  readonly batch: string
  /** From 1. */
  readonly position: number
  readonly state: AssetBatchItemState
  /** The name of its asset, which no other item of the batch has. */
  readonly name: string
  /** The fields of the asset, as a JSON object. */
  readonly body: string
  readonly asset?: string
  /** Why it has failed: a JSON object with `code` and `message`. */
  readonly error?: string
  /** When its last call began. */
  readonly claimedAt?: number
  readonly leaseUntil?: number
  /** Number of calls. It tells a call from later ones of the same item. */
  readonly attempts: number
}

/** The outcome of an item, or that it waits again. */
export type AssetBatchOutcome =
  | { readonly state: 'created'; readonly asset: string }
  | { readonly state: 'failed' | 'unknown'; readonly error: string }
  | { readonly state: 'waiting' }

/**
 * Store port: batches of assets, and their items. Every method takes effect in one transaction, and every step names
 * the state that it expects: of two at once, the second does nothing.
 */
export interface AssetBatchStore {
  /** Adds a batch with its items, which is due at once. False: its user has `maxOpen` batches that have not ended. */
  addAssetBatch(
    batch: AssetBatch,
    items: readonly Pick<AssetBatchItem, 'name' | 'body'>[],
    maxOpen: number,
  ): Promise<boolean>
  /** Number of batches of the user that have not ended. */
  countOpenAssetBatches(user: string): Promise<number>
  /** A batch of the user. */
  assetBatch(user: string, id: string): Promise<CountedAssetBatch | undefined>
  /** Batches of the user, newest first. @param after only batches before the one with this id */
  assetBatches(
    user: string,
    page: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<readonly CountedAssetBatch[]>
  /** Items of a batch in their order. @param after only items behind this position @param state only those in it */
  assetBatchItems(
    batch: string,
    page: {
      readonly after: number
      readonly limit: number
      readonly state?: AssetBatchItemState | undefined
    },
  ): Promise<readonly AssetBatchItem[]>
  /** Cancels the waiting items of a batch of the user that has not ended, and makes it due. */
  cancelAssetBatch(user: string, id: string, at: number): Promise<void>
  /**
   * Lets failed items of a batch of the user wait again, and makes the batch due. `none`: the batch has no such items.
   * `cancelled`: nothing of it is tried again. `full`: it has ended, and its user has `maxOpen` other batches that have
   * not, or is disabled. Nothing has changed then.
   *
   * @param retry with `position`, only that item
   */
  retryAssetBatchItems(
    user: string,
    id: string,
    retry: { readonly position?: number | undefined; readonly at: number; readonly maxOpen: number },
  ): Promise<'retried' | 'none' | 'cancelled' | 'full'>
  /** Batches that are due, the longest overdue first. */
  dueAssetBatches(now: number, max: number): Promise<readonly AssetBatch[]>
  /** Sets when a batch that has not ended is due again. */
  postponeAssetBatch(id: string, dueAt: number): Promise<void>
  /** The item to work on: one whose lease has ended, else the first that waits. Undefined: there is none now. */
  nextAssetBatchItem(batch: string, now: number): Promise<AssetBatchItem | undefined>
  /** Records that the call of a waiting item begins. Undefined: it does not wait any more. */
  claimAssetBatchItem(
    item: Pick<AssetBatchItem, 'batch' | 'position'>,
    now: number,
    leaseUntil: number,
  ): Promise<AssetBatchItem | undefined>
  /**
   * Records the outcome of an item that waits or whose call has begun. An item of a cancelled batch that would wait
   * again is cancelled. False: it has another outcome, or another item has that asset.
   */
  settleAssetBatchItem(
    item: Pick<AssetBatchItem, 'batch' | 'position' | 'attempts'>,
    outcome: AssetBatchOutcome,
  ): Promise<boolean>
  /**
   * Ends a batch without open items, and adds the event that `describe` returns. Resolves with the earliest end of a
   * lease if there are calls without an outcome, with `open` if items wait, else with `ended`.
   */
  endAssetBatch(
    id: string,
    at: number,
    describe: ((batch: CountedAssetBatch) => AssetProgress) | undefined,
  ): Promise<'ended' | 'open' | number>
  /** Deletes up to `max` batches that ended before a time. Returns their number. */
  sweepAssetBatches(endedBefore: number, max: number): Promise<number>
}
