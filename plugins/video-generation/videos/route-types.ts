import type { FailureAdvice } from '../../failure-advice/index.ts'
import type { Responses, Route, RouteParts } from '../../shared/plugin/plugin.ts'

/** The body of an error, in the form of the OpenAI API. */
export interface VideosErrorBody {
  readonly error: {
    readonly message: string
    readonly type: string
    /** The wrong field. */
    readonly param: string | null
    readonly code: string | null
    /** What to do about it, where that is known of the code. */
    readonly advice?: FailureAdvice
  }
}

/** A video, in the form of the OpenAI API. Times are seconds since 1970. */
export interface Video {
  readonly id: string
  readonly object: 'video'
  readonly created_at: number
  readonly completed_at: number | null
  /** When the content can no longer be downloaded. */
  readonly expires_at: number | null
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed'
  /** Percent. It never decreases. */
  readonly progress: number
  readonly model: string
  readonly prompt: string | null
  /** `0` while nobody knows it. */
  readonly seconds: string
  /** Width and height, such as `1280x720`; `auto` while nobody knows it. */
  readonly size: string
  readonly remixed_from_video_id: string | null
  readonly error: VideoError | null
}

/** Why a video has failed. */
export interface VideoError {
  /** The vendor's, or `cancelled`, or `expired`. */
  readonly code: string
  readonly message: string
  /** What to do about it, where that is known of the code. */
  readonly advice?: FailureAdvice
}

/** A page of videos. */
export interface VideoPage {
  readonly object: 'list'
  readonly data: readonly Video[]
  readonly first_id: string | null
  readonly last_id: string | null
  readonly has_more: boolean
}

/** A video that was deleted. */
export interface DeletedVideo {
  readonly id: string
  readonly object: 'video.deleted'
  readonly deleted: true
}

/** The body may also be a form with the same fields. */
export interface CreateVideoRequest {
  readonly prompt: string
  /** Default `sora-2`, if that is an alias. */
  readonly model?: string
  /** Default 4. */
  readonly seconds?: string | number
  /** Default `720x1280`. */
  readonly size?: string
  /** The first frame: an image, or its address. */
  readonly input_reference?: Blob | { readonly image_url: string }
  /** With `auto`, an image that is refused for a person becomes an asset of the caller. Default: it is refused. */
  readonly references?: 'auto'
}

export interface RemixVideoRequest {
  readonly prompt: string
}

export interface EditVideoRequest {
  readonly prompt: string
  /** One of the caller's videos. */
  readonly video: { readonly id: string }
}

export interface ExtendVideoRequest extends EditVideoRequest {
  /** The length of what is added. */
  readonly seconds: string | number
}

type Failures = 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 429 | 500 | 502 | 503

type VideosRoute<Success, Parts extends RouteParts = Record<never, never>> = Route<
  Responses<Success, VideosErrorBody, Failures>,
  Parts
>

type WithVideoId = { params: { video_id: string } }

/** The routes of `openaiVideos` below its prefix, for Eden. */
export type VideosRoutes = {
  post: VideosRoute<Video, { body: CreateVideoRequest }>
  get: VideosRoute<VideoPage, { query: { after?: string; limit?: number; order?: 'asc' | 'desc' } }>
  edits: { post: VideosRoute<Video, { body: EditVideoRequest }> }
  extensions: { post: VideosRoute<Video, { body: ExtendVideoRequest }> }
  ':video_id': {
    get: VideosRoute<Video, WithVideoId>
    delete: VideosRoute<DeletedVideo, WithVideoId>
    content: { get: VideosRoute<Blob, WithVideoId & { query: { variant?: 'video' | 'thumbnail' } }> }
    remix: { post: VideosRoute<Video, WithVideoId & { body: RemixVideoRequest }> }
  }
}
