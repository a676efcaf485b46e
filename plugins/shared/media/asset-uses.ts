import type { Json } from '../json/json.ts'

/** An asset that a video task uses. */
export interface UsedAsset {
  readonly id: string
  /** Its group, where it is known. */
  readonly group?: string
  /** Whether another user lends the group. Default false. */
  readonly isLent?: boolean
  /** Whether its group shows a person, who may withdraw the consent to its use. Default false. */
  readonly showsPerson?: boolean
  /** The account that has it. Undefined: there is one. */
  readonly account?: string
}

/** How many of a user's video tasks use an asset, or an asset of a group. */
export interface AssetUseCounts {
  /** Each task counts once. At most 10,000: the newest are counted. */
  readonly total: number
  /** Those of them that have not started, with the status `queued`: most fail when the asset is gone. */
  readonly waiting: number
}

/** Which assets the video tasks of users use. `createVideoService` makes it, and `assetLibrary` asks it. */
export interface AssetUses {
  /**
   * The user's tasks that use an asset, newest first. Throws Problem 400 for an `after` that is no id of a task.
   *
   * @param after the last task of the page before
   */
  tasks(
    user: string,
    asset: string,
    page: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<AssetUsePage>
  /** Counts the user's tasks that use an asset, or any asset of a group. */
  count(user: string, used: { readonly asset: string } | { readonly group: string }): Promise<AssetUseCounts>
  /**
   * Deletes a task of the user that has ended, with its result, also at the upstream. False: it has not ended. A task
   * that is gone counts as deleted.
   */
  remove(user: string, task: string): Promise<boolean>
}

/** A page of tasks. */
export interface AssetUsePage {
  /** The tasks as the native API of video generation returns them. */
  readonly tasks: readonly Json[]
  /** The id of the last one, if there are more. */
  readonly next: string | undefined
}
