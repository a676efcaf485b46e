import { Problem } from '../shared/problem.ts'
import type { PageOf } from './store.ts'

/** A video task, as operators see it. Times are milliseconds since 1970. */
export interface AdminVideo {
  readonly id: string
  /** Id of the user. */
  readonly user: string
  /** Undefined: a user of a host app. */
  readonly userName?: string
  /** Id of the token. Undefined: there was none. */
  readonly token?: string
  readonly model: string
  readonly status: VideoTaskStatus
  /** What the gateway does with it: `waiting`, `submitting`, `submitted`, `copying` or `ended`. */
  readonly phase: string
  readonly createdAt: number
  readonly endedAt?: number
  readonly upstreamId?: string
  /** Code of the error of a failed task. */
  readonly errorCode?: string
  /** Why the task needs the decision of a person. Undefined: it needs none. */
  readonly undecided?: 'create_outcome_unknown' | 'running_too_long'
}

export const videoTaskStatuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired'] as const
export type VideoTaskStatus = (typeof videoTaskStatuses)[number]

/** Which tasks to list. Undefined members do not filter. */
export interface AdminVideoFilter {
  /** Id of a user. */
  readonly user?: string | undefined
  /** `undecided`: those that need a decision. */
  readonly status?: VideoTaskStatus | 'undecided' | undefined
}

/** For an app without videos. */
export const noVideos: AdminVideos = {
  list: async () => ({ items: [] }),
  adopt: () => Promise.reject(new Problem(404, 'there are no video tasks')),
  release: () => Promise.reject(new Problem(404, 'there are no video tasks')),
}

/** The video tasks of all users, and decisions about those that the gateway cannot settle itself. */
export interface AdminVideos {
  /** Lists tasks, the newest first. A page costs the same wherever it begins. */
  list(
    filter: AdminVideoFilter,
    page: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<Pick<PageOf<AdminVideo>, 'items'> & { readonly next?: string }>
  /**
   * Decides that a task is a certain task of the upstream. Resolves with its user. Throws Problem 404 for an unknown
   * task, 409 for one that needs no decision or if another task has that id, and 400 for a text that is no id.
   */
  adopt(id: string, upstreamId: string): Promise<Pick<AdminVideo, 'user'>>
  /** Gives a task up: it fails. Resolves with its user. Throws Problem 404 and 409 as `adopt` does. */
  release(id: string): Promise<Pick<AdminVideo, 'user'>>
}
