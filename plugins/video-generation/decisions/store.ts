import type { VideoStatus } from '../tasks/statuses.ts'
import type { VideoTask } from '../tasks/task.ts'

/** Which tasks of all users to list. Undefined members do not filter. */
export interface VideoTasksOfAllFilter {
  /** Id of a user. */
  readonly user?: string | undefined
  /**
   * `undecided`: those whose create call has an unknown outcome, and those that run for too long. A call whose outcome
   * is unknown is settled by itself, if the upstream's lists show what became of it.
   */
  readonly status?: VideoStatus | 'undecided' | undefined
}

/** A task with the name of its user. */
export interface NamedVideoTask extends VideoTask {
  /** Undefined: a user of a host app. */
  readonly userName?: string
}

/** A page of tasks, the newest first. */
export interface VideoTasksOfAll {
  readonly tasks: readonly NamedVideoTask[]
  /** The id after which the next page begins. Undefined: this is the last page. */
  readonly next?: string
}

/**
 * Outcome of `adoptVideoTask`. `upstream-id-taken`: another task has that id of the upstream. `decided`: the task needs
 * no decision. `unknown`: there is no such task.
 */
export type VideoAdoption = 'adopted' | 'upstream-id-taken' | 'decided' | 'unknown'

/**
 * Store port for operators: the tasks of all users, and decisions about those that the gateway cannot settle itself.
 * Every method takes effect in one transaction, and rejects when the store does not respond in time.
 */
export interface VideoDecisionStore {
  /** A task of any user. */
  anyVideoTask(id: string): Promise<VideoTask | undefined>
  /**
   * A page of tasks. It costs the same wherever it begins.
   *
   * @param page.limit at least 1
   * @param page.after `next` of the page before
   */
  listVideoTasks(
    filter: VideoTasksOfAllFilter,
    page: { readonly limit: number; readonly after?: string | undefined },
    now: number,
  ): Promise<VideoTasksOfAll>
  /** A task that needs a decision is that task of the upstream: it is polled from now on, and takes a slot. */
  adoptVideoTask(id: string, upstreamId: string, at: number): Promise<VideoAdoption>
  /**
   * A task that needs a decision is given up: it ends as `failed`, if it has not ended. False: it needs no decision.
   *
   * @param task a task object with the error, JSON
   */
  abandonVideoTask(id: string, task: string, at: number): Promise<boolean>
}

/** Whether a task needs a decision. */
export const isUndecided = ({ phase, leaseUntil, undecidedAt }: VideoTask, now: number): boolean =>
  undecidedAt !== undefined || (phase === 'submitting' && leaseUntil < now)
