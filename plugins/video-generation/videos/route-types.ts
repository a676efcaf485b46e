import type { Responses, Route } from '../../shared/plugin/plugin.ts'
import type { DeletedVideo, Video, VideoPage, VideosErrorBody } from './openapi.ts'

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

type VideosRoute<
  Success,
  Parts extends { body?: unknown; query?: unknown; params?: unknown } = Record<never, never>,
> = Route<Responses<Success, VideosErrorBody, Failures>, Parts>

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
