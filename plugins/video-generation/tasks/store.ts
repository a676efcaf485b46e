import type { VideoEventType } from './events.ts'
import type { VideoStatus, VideoTaskFilter, VideoTaskPage } from './tasks.ts'

/**
 * What the gateway does with a task:
 *
 * - `waiting`: it is in the gateway's queue.
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
  /** The model or endpoint as the caller has named it: also the name of its pool of slots. At most 256 characters. */
  readonly model: string
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
  /** When to poll the task (`submitted`), to look for it (`submitting`), or to copy its result (`copying`, `ended`). */
  readonly dueAt?: number
  /** Number of claims. It tells a claim from later ones of the same task. */
  readonly attempts: number
}

export type VideoServiceTier = 'default' | 'flex'

/** A task to add. */
export interface NewVideoTask
  extends Pick<VideoTask, 'id' | 'user' | 'token' | 'model' | 'serviceTier' | 'fields' | 'createdAt' | 'expiresAt'> {
  /** The body of the create call, JSON. The store keeps it until the upstream has accepted the task. */
  readonly request: string
  /**
   * Whether it holds parts of limits (`holderOfTask`), which stay its own until it ends: the store settles them in the
   * same transaction. Default false.
   */
  readonly holds?: boolean
}

/** A claim of a task: its create call is up to the process that holds it, until `leaseUntil`. */
export type VideoClaim = Pick<VideoTask, 'id' | 'attempts'>

/** A task that was claimed just now, and the body of its create call. */
export interface ClaimedVideoTask extends VideoTask {
  readonly request: string
  readonly nonce: number
}

/** The slots of a pool: the tasks of one model or endpoint that may run at once. */
export interface PoolLimits {
  /** Running tasks of all users. */
  readonly running: number
  /** Running tasks of one user. Default: no maximum of its own. */
  readonly runningPerUser?: number
  /** Waiting tasks of one user. Default: no maximum. */
  readonly waitingPerUser?: number
  /** Bytes of the requests of all waiting tasks of one user. Default: no maximum. */
  readonly waitingBytesPerUser?: number
  /**
   * Weight of a user: with 2, the user's share of the slots is twice that of a user with 1. Greater than 0, default 1.
   */
  readonly weightOf?: (user: string) => number
}

/** Outcome of `addVideoTask`. `waiting-full`: the user has the maximum of waiting tasks, so the task was not added. */
export type VideoAddition =
  | { readonly outcome: 'claimed'; readonly task: ClaimedVideoTask }
  | { readonly outcome: 'waiting' }
  | { readonly outcome: 'waiting-full' }

/** What the upstream's 429 says about a pool. */
export interface PoolSignal {
  /**
   * - `running`: the upstream's maximum of running tasks is reached: there are as many slots as tasks are running now.
   *   Later it is tried with one more.
   * - `queue`: the upstream's own queue is full. The pool pauses until a task of it leaves, or until the pause ends.
   * - `rate`: calls are too frequent. The pool pauses.
   */
  readonly kind: 'running' | 'queue' | 'rate'
  /** How long to pause. Default: a second, and twice as long with each further signal, up to a minute. */
  readonly pauseMs?: number
}

/** The holder of what a task has reserved of limits, see `UsageReservation.hold`. */
export const holderOfTask = (id: string): string => `task:${id}`

/** What a finished task has cost. Undefined: not reported, or without a price. */
export interface VideoUsage {
  readonly completionTokens?: number
  /** Length of the video in whole seconds. */
  readonly seconds?: number
  /** In billionths of the currency unit. */
  readonly cost?: number
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

/** How many tasks of a pool are waiting or running. */
export interface VideoTaskCount {
  /** Empty: tasks without a pool. */
  readonly pool: string
  /** `overrunning`: those that run for too long, and take no slot. */
  readonly phase: 'waiting' | 'running' | 'overrunning'
  readonly count: number
  /** When the oldest of them was created. Only of waiting tasks. */
  readonly oldestAt?: number
}

/** The place of a task in the queue. */
export interface VideoQueuePlace {
  /** Number of tasks that start before it, of all users. */
  readonly before: number
  /** Estimated milliseconds until its start. Undefined: no task of the pool has ended yet. */
  readonly startsInMs?: number
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
export interface VideoTaskStore {
  /** Sets what the events are. Absent: the store records none. */
  describeVideoEvents?(describe: DescribeVideoTask): void

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
  /** The place of a waiting task. Undefined: it does not wait. Counts of other users may be a second old. */
  videoQueuePlace(
    task: Pick<VideoTask, 'id' | 'user' | 'model'>,
    limits: PoolLimits,
    now: number,
  ): Promise<VideoQueuePlace | undefined>

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
   * The upstream has rejected the task for good: it ends as `failed`.
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

  /** Counts of the waiting and running tasks, of at most `max` pools each: those with the most. */
  countVideoTasks(max: number): Promise<readonly VideoTaskCount[]>
  videoTask(user: string, id: string): Promise<VideoTask | undefined>
  /** Tasks of a user, and the number of all that the filter selects. */
  videoTasks(
    user: string,
    filter: VideoTaskFilter,
    page: VideoTaskPage,
  ): Promise<{ readonly tasks: readonly VideoTask[]; readonly total: number }>
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
