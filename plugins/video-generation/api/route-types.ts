import type { Responses, Route } from '../../shared/plugin/plugin.ts'
import type { VideoStatus } from '../tasks/statuses.ts'

/** The body of an error, in the vendor's form. */
export interface VideoErrorBody {
  readonly error: {
    readonly code: string
    readonly message: string
    /** Path of the wrong field; empty: none. */
    readonly param: string
    readonly type: string
  }
}

/** A create request. It may have further fields, which the upstream validates. */
export interface CreateVideoTaskRequest {
  /** A model or an endpoint. */
  readonly model: string
  readonly content: readonly VideoContentItem[]
  /** Only asks what the task would use, cost and wait for: the response is a `TaskEstimate`. Default false. */
  readonly dry_run?: boolean
  /** With `auto`, pictures that are refused for a person become assets of the caller. Default: they are refused. */
  readonly references?: 'auto'
  readonly [field: string]: unknown
}

/** An item has a field that its type names, for example `image_url`. */
export interface VideoContentItem {
  readonly type: string
  readonly role?: string
  readonly [field: string]: unknown
}

/** The response to a create request. */
export interface CreatedVideoTask {
  readonly id: string
}

/** A task. The upstream may add fields. */
export interface VideoTaskObject {
  readonly id: string
  readonly model: string
  readonly status: VideoStatus
  readonly error?: { readonly code: string; readonly message: string } | null
  /** Seconds since 1970, like `updated_at`. */
  readonly created_at: number
  readonly updated_at: number
  readonly content?: { readonly video_url?: string; readonly last_frame_url?: string; readonly file_url?: string }
  readonly usage?: { readonly completion_tokens?: number; readonly total_tokens?: number }
  readonly service_tier?: string
  readonly execution_expires_after?: number
  readonly [field: string]: unknown
}

/** A page of tasks, the newest first. */
export interface VideoTaskPageBody {
  readonly items: readonly VideoTaskObject[]
  /** Number of tasks on all pages. */
  readonly total: number
}

type Failures = 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 429 | 500 | 502 | 503

interface ListVideoTasksQuery {
  readonly page_num?: number
  readonly page_size?: number
  readonly 'filter.status'?: VideoStatus
  readonly 'filter.task_ids'?: string | readonly string[]
  readonly 'filter.model'?: string
  readonly 'filter.service_tier'?: 'default' | 'flex'
}

/** The routes, for Eden. */
export type VideoRoutes = {
  contents: {
    generations: {
      tasks: {
        post: Route<Responses<CreatedVideoTask, VideoErrorBody, Failures>, { readonly body: CreateVideoTaskRequest }>
        get: Route<Responses<VideoTaskPageBody, VideoErrorBody, Failures>, { readonly query: ListVideoTasksQuery }>
        ':task_id': {
          get: Route<Responses<VideoTaskObject, VideoErrorBody, Failures>>
          delete: Route<
            Responses<Record<never, never>, VideoErrorBody, Failures>,
            { readonly query: { readonly mode?: 'cancel' | 'delete' } }
          >
        }
      }
    }
  }
}
