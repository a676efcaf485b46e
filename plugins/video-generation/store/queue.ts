import type { AssetUseCounts } from '../../shared/media/asset-uses.ts'
import type { VideoStatus } from '../tasks/statuses.ts'
import type { DescribeVideoTask, NewVideoTask, VideoTask, VideoUsage } from '../tasks/task.ts'
import type { VideoTaskFilter, VideoTaskPage } from '../tasks/tasks.ts'
import type { WaitingLine } from './place.ts'
import type { PoolLimits, PoolSignal, VideoQueuePlace, VideoTaskCount } from './pool.ts'

/** A claim of a task: its create call is up to the process that holds it, until `leaseUntil`. */
export type VideoClaim = Pick<VideoTask, 'id' | 'attempts'>

/** A task that was claimed just now, and the body of its create call. */
export interface ClaimedVideoTask extends VideoTask {
  readonly request: string
  readonly nonce: number
}

/** Outcome of `addVideoTask`. `waiting-full`: the user has the maximum of waiting tasks, so the task was not added. */
export type VideoAddition =
  | { readonly outcome: 'claimed'; readonly task: ClaimedVideoTask }
  | { readonly outcome: 'waiting' }
  | { readonly outcome: 'waiting-full' }

/** How a task is suspended. */
export interface VideoSuspension {
  /** Its new `fields`. */
  readonly fields: string
  /** When to look at it again. */
  readonly dueAt: number
  /**
   * `waitingPerUser` and `waitingBytesPerUser` are also the maximum of suspended tasks, of all models together. Calls
   * at the same time may exceed it by their number.
   */
  readonly limits: PoolLimits
}

/** What the upstream said about a submitted task. */
export interface VideoMove {
  readonly id: string
  readonly status: VideoStatus
  /** The upstream's task object, JSON. */
  readonly task: string
  /** Whether it runs for too long, so that its slot is free and a person must decide about it. Default false. */
  readonly overruns?: boolean
  /** Booked when the upstream has ended the task. */
  readonly usage?: VideoUsage
  /**
   * Whether to copy the result of a task that has succeeded: its phase is then `copying`, and its status stays as it is
   * until `endVideoTask`.
   */
  readonly copy?: boolean
  /** `dueAt` of the task when it was read. A callback that has arrived since then keeps its own. */
  readonly readDueAt?: number | undefined
  /** When to poll it again, unless it has ended. */
  readonly dueAt: number
}

/** A task that a call of `moveVideoTasks` has changed. */
export interface MovedVideoTask {
  readonly task: VideoTask
  /** Whether the upstream has ended it with this move: its slot is free. */
  readonly freed: boolean
  /** Whether it runs for too long since this move: its slot is free, although it has not ended. */
  readonly overruns: boolean
}

/**
 * Store port: the tasks of all users, and the queue of those that wait for a slot. All processes on one database share
 * both.
 *
 * Every method takes effect in one transaction, and every step names the state that it expects: of two concurrent ones,
 * the second does nothing. Every method rejects when the store does not respond in time; then it is unknown whether the
 * step was made.
 *
 * After `describeVideoEvents`, an event is recorded in the same transaction when the user sees a new status, and when a
 * task is deleted. Before, there are no events.
 */
export interface VideoQueue
  extends VideoClaims,
    VideoSuspensions,
    VideoMoves,
    VideoCopies,
    VideoPlaces,
    VideoLists,
    VideoEnds {
  /** Sets what the events are. Absent: the store records none. */
  describeVideoEvents?(describe: DescribeVideoTask): void
  /** Counts of the waiting and running tasks, of at most `max` pools each: those with the most. */
  countVideoTasks(max: number): Promise<readonly VideoTaskCount[]>
  /** The uses of assets by tasks. Absent: the store does not keep them. */
  readonly videoAssetUses?: VideoAssetUses
}

/** Tasks from their creation to the upstream's answer. See `VideoQueue`. */
export interface VideoClaims {
  /**
   * Adds a task. Without limits it is claimed. With limits it is claimed if a slot of its pool is free and it is its
   * turn; else it waits. Tasks with the tier `flex` need no slot: they are added without limits.
   */
  addVideoTask(task: NewVideoTask, limits: PoolLimits | undefined, leaseUntil: number): Promise<VideoAddition>
  /** Claims the task of a pool whose turn it is, if a slot is free and the pool does not pause. */
  claimVideoTask(
    pool: string,
    limits: PoolLimits,
    now: number,
    leaseUntil: number,
  ): Promise<ClaimedVideoTask | undefined>
  /** Pools with waiting tasks that do not pause now. */
  poolsWithWaiting(now: number): Promise<readonly string[]>
  /**
   * The upstream has accepted the task. It may be called again. False: the claim has ended otherwise, or another task
   * has that upstream id.
   */
  confirmVideoTask(claim: VideoClaim, upstreamId: string, at: number, dueAt: number): Promise<boolean>
  /**
   * The upstream certainly has no task of this claim: it waits again, at its old place.
   *
   * @param signal why the upstream has rejected the call
   */
  releaseVideoTask(claim: VideoClaim, at: number, signal?: PoolSignal): Promise<boolean>
  /**
   * The upstream has rejected the task for good: it ends as `failed`. Also for a suspended task.
   *
   * @param task a task object with the error, JSON
   * @param undecided whether it is not known which task of the upstream the call has made. Default false
   */
  failVideoTask(claim: VideoClaim, task: string, at: number, undecided?: boolean): Promise<boolean>
  /** The upstream has rejected the task, and its caller knows it: nothing remains of it. */
  dropVideoTask(claim: VideoClaim): Promise<boolean>
  /**
   * Claimed tasks to look for: those deferred until `now` or earlier, also within their lease, then those whose lease
   * has ended. Of each, the longest due first.
   */
  unsettledVideoTasks(now: number, max: number): Promise<readonly VideoTask[]>
  /** Defers the next look at a claimed task. */
  deferVideoClaim(claim: VideoClaim, dueAt: number): Promise<void>
  /** Those of the upstream's ids that tasks have. */
  knownUpstreamIds(ids: readonly string[]): Promise<ReadonlySet<string>>
}

/** Tasks that wait for assets, outside of the line. See `VideoQueue`. */
export interface VideoSuspensions {
  /**
   * The upstream certainly has no task of this claim, and assets must be made before the next call: the task waits
   * outside of the line and without a slot, until `resumeVideoTask`. Also for a task that is suspended already, which
   * waits on.
   *
   * `full`: its user has the maximum of suspended tasks, and nothing has changed. `ended`: the claim has ended
   * otherwise.
   */
  suspendVideoTask(
    claim: VideoClaim & Pick<VideoTask, 'user' | 'model'>,
    suspension: VideoSuspension,
    at: number,
  ): Promise<'suspended' | 'full' | 'ended'>
  /** Suspended tasks that are due, the longest overdue first. */
  suspendedVideoTasks(now: number, max: number): Promise<readonly VideoTask[]>
  /** The request of a task that is not submitted yet. Empty: there is none. */
  videoTaskRequest(id: string): Promise<string>
  /**
   * A suspended task waits in the line again, at its old place.
   *
   * @param fields its new `fields`
   * @param assets ids of assets of its user that it uses from now on, too
   */
  resumeVideoTask(
    task: VideoClaim & Pick<VideoTask, 'user' | 'model'>,
    fields: string,
    at: number,
    assets?: readonly string[],
  ): Promise<boolean>
}

/** Tasks that the upstream has. See `VideoQueue`. */
export interface VideoMoves {
  /** Submitted tasks that are due, the longest overdue first. */
  dueVideoTasks(now: number, max: number): Promise<readonly VideoTask[]>
  /** Makes a submitted task due now: a callback has arrived. False: there is no such task that has not ended. */
  hintVideoTask(id: string, at: number): Promise<boolean>
  /**
   * Moves submitted tasks on, in one transaction. A status never goes back. Returns those whose status or phase has
   * changed, and those that overrun from now on: each end is returned to exactly one caller, and its usage is booked in
   * the same transaction.
   */
  moveVideoTasks(moves: readonly VideoMove[], at: number): Promise<readonly MovedVideoTask[]>
}

/** Copies of results. See `VideoQueue`. */
export interface VideoCopies {
  /** Tasks whose results are to be copied. The longest overdue first. */
  dueVideoCopies(now: number, max: number): Promise<readonly VideoTask[]>
  /** Takes the copying of a result until `until`. Undefined: another process has it, or there is nothing to copy. */
  leaseVideoCopy(id: string, now: number, until: number): Promise<VideoTask | undefined>
  /** Extends a lease that ends at `until`. False: it has ended, or the task has been deleted. */
  extendVideoCopy(id: string, until: number, newUntil: number): Promise<boolean>
  /** Ends a copying task as `succeeded`. @param retryAt when to copy the result again, if it could not be copied */
  endVideoTask(id: string, at: number, result: string | undefined, retryAt?: number): Promise<boolean>
  /**
   * Ends a lease on a copy. With a result, it belongs to the task; else it is due again at `retryAt`, or never. False:
   * there is no such task.
   */
  releaseVideoCopy(id: string, result: string | undefined, retryAt?: number): Promise<boolean>
}

/** Places in the line, as they are if no further task is added. See `VideoQueue`. */
export interface VideoPlaces {
  /** The place of a waiting task. Undefined: it does not wait. Counts of other users may be a second old. */
  videoQueuePlace(
    task: Pick<VideoTask, 'id' | 'user' | 'model'>,
    limits: PoolLimits,
    now: number,
  ): Promise<VideoQueuePlace | undefined>
  /** The waiting tasks of a pool, for the place of one more. Counts may be a second old. */
  videoQueueLine(pool: string, now: number): Promise<WaitingLine>
}

/** What users see of their tasks. See `VideoQueue`. */
export interface VideoLists {
  videoTask(user: string, id: string): Promise<VideoTask | undefined>
  /** Tasks of a user, and the number of all that the filter selects. */
  videoTasks(
    user: string,
    filter: VideoTaskFilter,
    page: VideoTaskPage,
  ): Promise<{ readonly tasks: readonly VideoTask[]; readonly total: number }>
}

/** Ends of tasks that the upstream never saw, and the deletion of those that have ended. See `VideoQueue`. */
export interface VideoEnds {
  /** Cancels a waiting task. */
  cancelWaitingVideoTask(user: string, id: string, at: number): Promise<boolean>
  /** Deletes a task that has ended. Returns it. */
  deleteVideoTask(user: string, id: string, at: number): Promise<VideoTask | undefined>
  /** Ends waiting tasks whose time has passed as `expired`, up to `max`. Returns their number. */
  expireWaitingVideoTasks(now: number, max: number): Promise<number>
  /** Deletes up to `max` tasks that ended before a time. Returns them. */
  sweepVideoTasks(endedBefore: number, max: number): Promise<readonly VideoTask[]>
  /**
   * Removes what is left of up to `max` long requests that no task needs: a process has ended while it wrote or removed
   * them. Returns their number.
   */
  sweepVideoRequests(now: number, max: number): Promise<number>
  /** Forgets up to `max` pools that nobody has used since a time. Returns their number. */
  sweepVideoPools(unusedSince: number, max: number): Promise<number>
}

/** Which assets the tasks use. A use is added with its task, and removed with it. */
export interface VideoAssetUses {
  /** The user's tasks that use an asset, newest first. @param after only tasks before the one with this id */
  tasksWithAsset(
    user: string,
    asset: string,
    page: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<readonly VideoTask[]>
  /** Counts the user's tasks that use an asset, or any asset of a group: the newest, up to `max`. */
  countTasksWithAsset(
    user: string,
    used: { readonly asset: string } | { readonly group: string },
    max: number,
  ): Promise<AssetUseCounts>
}
