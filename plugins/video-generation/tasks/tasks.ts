import type { PersonAsset } from '../../shared/consent/store.ts'
import type { Identity } from '../../shared/identity/identify.ts'
import type { Json } from '../../shared/json/json.ts'
import type { JsonObject } from '../../shared/json/parsed.ts'
import type { VideoStatus } from './statuses.ts'
import type { TaskEstimate } from './task-estimate.ts'

/** The user for whom a task is created, the token, if there is one, and what it may use. */
export interface VideoCaller extends Pick<Identity, 'user' | 'token' | 'models' | 'scopes'> {
  /**
   * The name by which the caller has named the model, if the request has another one. It decides whether the token may
   * use the model, and limits of both names apply. Default: `model` of the request.
   */
  readonly modelAlias?: string | undefined
}

/** A task as its owner sees it. Times are milliseconds since 1970. */
export interface VideoTaskView {
  /** The gateway's id, which never changes. */
  readonly id: string
  readonly status: VideoStatus
  /** As the caller has named it: a model or an endpoint. */
  readonly model: string
  readonly createdAt: number
  /** Undefined: the task has not ended. */
  readonly endedAt: number | undefined
  /** The task as `GET` of the native API returns it. */
  readonly body: Json
  /** Undefined: the task does not wait in the queue of the gateway. */
  readonly queue: QueuePlace | undefined
  /** As given to `create`. Without any, `prompt` of the request. */
  readonly notes: JsonObject | undefined
  /** Undefined: the task has no result. */
  readonly result: VideoResult | undefined
  /** The assets of persons that it shows. Undefined: there are none. */
  readonly persons?: readonly PersonAsset[] | undefined
}

/** Where the files of a task are. */
export interface VideoResult {
  /** Until when they can be downloaded. */
  readonly expiresAt: number
  /** Keys of the stored copies. */
  readonly copies: Partial<Record<ResultFile, string>>
  /** The upstream's links, which need no credential. They expire 24 hours after the end of the task. */
  readonly links: Partial<Record<ResultFile, string>>
}

/** The files of a result. */
export type ResultFile = 'video' | 'lastFrame'

/** The place of a waiting task. */
export interface QueuePlace {
  /** Tasks of all users that start before it, plus one. */
  readonly position: number
  /** Estimated seconds until its start. Undefined: there is nothing to estimate from. */
  readonly seconds: number | undefined
}

/** Selects tasks. Undefined: no condition. */
export interface VideoTaskFilter {
  readonly status?: VideoStatus | undefined
  readonly ids?: readonly string[] | undefined
  /** As the caller has named it. */
  readonly model?: string | undefined
  readonly serviceTier?: 'default' | 'flex' | undefined
}

/** A page by number, or the tasks after a task. Pages by number begin with the newest task. */
export type VideoTaskPage =
  | { readonly offset: number; readonly limit: number }
  | { readonly after?: string | undefined; readonly limit: number; readonly order: 'asc' | 'desc' }

/** Tasks of one page, and the number of all that the filter selects. */
export interface VideoTaskList {
  readonly tasks: readonly VideoTaskView[]
  readonly total: number
}

/** An attempt to create a task for a request with an `Idempotency-Key`. */
export interface TaskAttempt {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** No task is stored later than that. */
  readonly leaseUntil: number
}

/** A request that creates a task. */
export interface VideoCreation {
  readonly request: Request
  readonly user: string
  /** Name of the route: each has its own keys. */
  readonly route: string
  /** The bytes that a repetition must repeat. */
  readonly body: Uint8Array
}

/** Options of `VideoTasks.create`. */
export interface CreateVideoOptions {
  /** What `once` has passed on. The id of the task comes from it. */
  readonly attempt?: TaskAttempt | undefined
  /** Kept with the task, for the API that created it. */
  readonly notes?: JsonObject
  /** The assets of persons that the result shows besides those in the request: those of the task it is derived from. */
  readonly persons?: readonly PersonAsset[] | undefined
}

/** What the caller of `remove` wants. `cancel`: only a task that has not started; `delete`: only one that has ended. */
export type RemoveMode = 'cancel' | 'delete'

/**
 * The tasks of all users: the one service behind all routes.
 *
 * Every method throws a Problem for a request that cannot be fulfilled, and TypeError before anything else for a user
 * that is no text, a page without a `limit` from 1 to 1,000, and a wrong mode. A task of another user and one that does
 * not exist are the same Problem 404.
 */
export interface VideoTasks {
  /**
   * Creates a task from the body of a native create request.
   *
   * Without a queue it resolves when the upstream has accepted the task, and throws the upstream's error. With a queue
   * it resolves at once when there is no free slot.
   *
   * @param body a JSON object
   * @param request the caller's request, for the check of assets
   */
  create(caller: VideoCaller, body: Json, request: Request, options?: CreateVideoOptions): Promise<VideoTaskView>
  /** What `create` would do: the same errors, but nothing is created, and the video upstream is not called. */
  estimate(
    caller: VideoCaller,
    body: Json,
    request: Request,
    options?: Pick<CreateVideoOptions, 'persons'>,
  ): Promise<TaskEstimate>
  find(user: string, id: string): Promise<VideoTaskView>
  list(user: string, filter: VideoTaskFilter, page: VideoTaskPage): Promise<VideoTaskList>
  /**
   * Cancels a task that has not started, or deletes one that has ended; `mode` allows only one of the two. Resolves
   * with what it did. Throws Problem 409 for a task in another state.
   */
  remove(user: string, id: string, mode?: RemoveMode): Promise<'cancelled' | 'deleted'>
}
