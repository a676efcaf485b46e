import type { UsedAsset } from '../../shared/media/asset-uses.ts'
import type { VideoEventType, VideoStatus } from './statuses.ts'

/**
 * What the gateway does with a task:
 *
 * - `waiting`: it is in the gateway's queue. With `dueAt` it is suspended: it waits for assets, outside of the line.
 * - `submitting`: a process has claimed it and may be sending the create call. After `leaseUntil` the outcome of that
 *   call is unknown.
 * - `submitted`: the upstream has it.
 * - `copying`: the upstream has succeeded, and the result is being copied to the storage. Its status stays `running`
 *   until then.
 * - `ended`.
 */
export type VideoPhase = 'waiting' | 'submitting' | 'submitted' | 'copying' | 'ended'

/** A task. Times are milliseconds since 1970. */
export interface VideoTask {
  /** The gateway's id. Ids sort by creation. */
  readonly id: string
  readonly user: string
  /** Id of the API token, if there was one. */
  readonly token?: string
  /** The model or endpoint as the caller has named it. At most 256 characters. */
  readonly model: string
  /** The name of its pool of slots. Undefined: that of the model. */
  readonly pool?: string
  readonly serviceTier: VideoServiceTier
  readonly phase: VideoPhase
  readonly status: VideoStatus
  /** JSON of the plugin, which the store keeps unchanged. */
  readonly fields: string
  /** The upstream's last task object, JSON. */
  readonly task?: string
  /** The upstream's task object that the task will have when its result is copied, JSON. Only of a `copying` task. */
  readonly finalTask?: string
  /** Where the copies of the result are, JSON. */
  readonly result?: string
  /** `execution_expires_after` of the create call: unique among the claims of the user whose outcome is unknown. */
  readonly nonce?: number
  readonly upstreamId?: string
  readonly createdAt: number
  /** When a task that still waits expires. */
  readonly expiresAt: number
  /** Time of the last claim: a task that its create call has made is not older. */
  readonly claimedAt?: number
  readonly submittedAt?: number
  /** When the upstream was first seen to run it. */
  readonly runningAt?: number
  /**
   * Since when it needs a decision of a person: it runs for too long (`submitted`), or has failed because it is not
   * known which task its create call has made (`ended`). The former takes no slot.
   */
  readonly undecidedAt?: number
  readonly endedAt?: number
  readonly leaseUntil: number
  /**
   * When to poll the task (`submitted`), to look for it (`submitting`), to make its assets (`waiting`), or to copy its
   * result (`copying`, `ended`).
   */
  readonly dueAt?: number
  /** Number of claims. It tells a claim from later ones of the same task. */
  readonly attempts: number
}

export type VideoServiceTier = 'default' | 'flex'

/** The name of the pool of slots of a task that needs one. */
export const poolOf = ({ model, pool = model }: Pick<VideoTask, 'model' | 'pool'>): string => pool

/** A task to add. */
export interface NewVideoTask
  extends Pick<
    VideoTask,
    'id' | 'user' | 'token' | 'model' | 'pool' | 'serviceTier' | 'fields' | 'createdAt' | 'expiresAt'
  > {
  /** The body of the create call, JSON. The store keeps it until the upstream has accepted the task. */
  readonly request: string
  /**
   * Whether it holds parts of limits (`holderOfTask`), which stay its own until it ends: the store settles them in the
   * same transaction. Default false.
   */
  readonly holds?: boolean
  /** The assets of its user that it names, each once. A store with `videoAssetUses` keeps them as long as the task. */
  readonly assets?: readonly UsedAsset[]
}

/** What a finished task has cost. Undefined: not reported, or without a price. */
export interface VideoUsage {
  readonly completionTokens?: number
  /** Length of the video in whole seconds. */
  readonly seconds?: number
  /** In billionths of the currency unit. */
  readonly cost?: number
}

/** The holder of what a task has reserved of limits, see `UsageReservation.hold`. */
export const holderOfTask = (id: string): string => `task:${id}`

/** What the user of a task is told about its new state. */
export interface VideoNotice {
  readonly type: VideoEventType
  /** The data of the event, JSON. */
  readonly data: string
  /** The address that the caller has given for the task, and what is sent there, JSON. */
  readonly callback?: { readonly url: string; readonly body: string }
}

/**
 * Describes a task in its new state, or as deleted. Called in the transaction that changes the task, so it must be
 * quick.
 */
export type DescribeVideoTask = (task: VideoTask, isDeleted?: boolean) => VideoNotice
