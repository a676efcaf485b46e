import { type TSchema, Type } from '@sinclair/typebox'
import { adviceSchema } from '../../failure-advice/index.ts'
import {
  errorResponses,
  idempotencyKeyParameter,
  jsonContent,
  jsonResponse,
  nullable,
  type OperationDescription,
  pathParameter,
  queryParameter,
  type ResponseDescription,
  type RouteOptions,
  replayedHeaders,
  routeOptions,
  type SchemaOf,
} from '../../shared/plugin/openapi.ts'
import { estimateSchema } from '../api/openapi.ts'
import type { DeletedVideo, Video, VideoPage, VideosErrorBody } from './route-types.ts'

const time = (description: string) => Type.Integer({ description: `${description}: seconds since 1970` })
const words = <Word extends string>(...all: Word[]) => Type.Union(all.map((word) => Type.Literal(word)))

const dryRun = queryParameter(
  'dry_run',
  'Only says what the task would use, cost and wait for',
  Type.Boolean({ default: false }),
)

const errorBody: SchemaOf<VideosErrorBody> = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      param: nullable(Type.String({ description: 'The wrong field' })),
      code: nullable(Type.String()),
      advice: Type.Optional(adviceSchema),
    }),
  },
  { title: 'VideosError', description: 'An error of this service' },
)

const video: SchemaOf<Video> = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('video'),
    created_at: time('When it was requested'),
    completed_at: nullable(time('When it was completed')),
    expires_at: nullable(time('When its content can no longer be downloaded')),
    status: words('queued', 'in_progress', 'completed', 'failed'),
    progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Percent. It never decreases' }),
    model: Type.String(),
    prompt: nullable(Type.String()),
    seconds: Type.String({ description: 'Its length; `0` while nobody knows it' }),
    size: Type.String({ description: 'Width and height, such as `1280x720`; `auto` while nobody knows it' }),
    remixed_from_video_id: nullable(Type.String()),
    error: nullable(
      Type.Object(
        { code: Type.String(), message: Type.String(), advice: Type.Optional(adviceSchema) },
        { description: 'Why it has failed. The code `cancelled` or `expired`: it was not generated' },
      ),
    ),
  },
  { title: 'Video' },
)

const page: SchemaOf<VideoPage> = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(video),
    first_id: nullable(Type.String()),
    last_id: nullable(Type.String()),
    has_more: Type.Boolean(),
  },
  { title: 'VideoPage' },
)

const deleted: SchemaOf<DeletedVideo> = Type.Object(
  { id: Type.String(), object: Type.Literal('video.deleted'), deleted: Type.Literal(true) },
  { title: 'DeletedVideo' },
)

const prompt = Type.String({ minLength: 1, maxLength: 32_000 })
const seconds = Type.Union([Type.String({ pattern: '^[1-9][0-9]{0,2}$' }), Type.Integer({ minimum: 1 })], {
  description: 'A whole number. Each model has its own bounds',
})
const source = Type.Object({ id: Type.String() }, { description: "One of the caller's completed videos" })
const file = Type.String({ format: 'binary' })

const createFields = {
  references: Type.Optional(
    Type.Literal('auto', {
      description:
        'An image that is refused for a person becomes an asset of the caller, and the task is sent again. Needs the scope `media`',
    }),
  ),
  prompt,
  model: Type.Optional(Type.String({ description: 'Default `sora-2`, if the operator has an alias of that name' })),
  seconds: Type.Optional(seconds),
  size: Type.Optional(
    Type.String({ default: '720x1280', description: 'Width and height that the vendor generates, such as `1280x720`' }),
  ),
}
const reference = Type.Object(
  {
    image_url: Type.String({
      description: 'An address, a `data:` URL, or the asset address of an asset of the caller',
    }),
  },
  { description: 'The first frame' },
)

/** A body in JSON, or a form with the same fields. In a form, a member of an object has a name such as `video[id]`. */
const bodyOf = (title: string, fields: Record<string, TSchema>, formFields = fields) => ({
  required: true,
  content: {
    ...jsonContent(Type.Object(fields, { title })),
    'multipart/form-data': { schema: Type.Object(formFields, { title: `${title}Form` }) },
  },
})

const route = (
  operationId: string,
  summary: string,
  responses: Readonly<Record<number, ResponseDescription>>,
  more: Partial<OperationDescription> = {},
): RouteOptions =>
  routeOptions({
    ...{ operationId, summary, tags: ['video generation'] },
    ...more,
    responses: {
      ...responses,
      ...errorResponses(errorBody, 400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 502, 503),
    },
  })

const pollHeaders = {
  'openai-poll-after-ms': {
    description: 'Of a video that is not finished: milliseconds after which to ask again',
    schema: Type.Integer({ minimum: 0 }),
  },
}
const ok = { 200: jsonResponse('The video', video, pollHeaders) }
const created = {
  200: jsonResponse('The video, or what it would be', Type.Union([video, estimateSchema]), {
    ...pollHeaders,
    ...replayedHeaders,
  }),
}
const videoId = pathParameter('video_id', "Id of one of the caller's videos, or of a task of the native API")

const contentHeaders = {
  'accept-ranges': { description: 'bytes', schema: Type.String() },
  etag: { description: 'Names the content', schema: Type.String() },
}
const range = { 'content-range': { description: 'The range, and the length of the file', schema: Type.String() } }
const content = Object.fromEntries(
  ['video/mp4', 'video/quicktime', 'image/jpeg', 'application/octet-stream'].map((type) => [type, { schema: file }]),
)

/**
 * Elysia options of each route. The handlers read and check the requests themselves; the schemas are for OpenAPI
 * documents.
 */
export const videosDocs = {
  create: route('createVideo', "Create a video, as in OpenAI's API", created, {
    parameters: [idempotencyKeyParameter, dryRun],
    requestBody: bodyOf(
      'CreateVideo',
      { ...createFields, input_reference: Type.Optional(reference) },
      { ...createFields, input_reference: Type.Optional(Type.Union([file, reference])) },
    ),
  }),
  list: route(
    'listVideos',
    "List the caller's videos",
    { 200: jsonResponse('The videos', page) },
    {
      parameters: [
        queryParameter('after', 'List the videos after this one', Type.String({ maxLength: 128 })),
        queryParameter('limit', 'Maximum number', Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
        queryParameter('order', 'By time of creation', words('asc', 'desc')),
      ],
    },
  ),
  retrieve: route('getVideo', 'Get a video', ok, { parameters: [videoId] }),
  remove: route(
    'deleteVideo',
    'Delete a video that has ended, or cancel one that has not started',
    { 200: jsonResponse('Deleted', deleted) },
    { parameters: [videoId] },
  ),
  content: route(
    'downloadVideo',
    'Download a video',
    {
      200: { description: 'The file', headers: contentHeaders, content },
      206: { description: 'A range of the file', headers: { ...contentHeaders, ...range }, content },
      304: { description: 'The file is the one that the request names', headers: contentHeaders },
      416: { description: 'The file has no such range', headers: range, content: jsonContent(errorBody) },
    },
    {
      parameters: [
        videoId,
        queryParameter('variant', 'The video, or its last frame as an image', words('video', 'thumbnail')),
      ],
    },
  ),
  remix: route('remixVideo', 'Create a video from another one and a new prompt', created, {
    parameters: [videoId, idempotencyKeyParameter, dryRun],
    requestBody: bodyOf('RemixVideo', { prompt }),
  }),
  edit: route('editVideo', 'Edit a video', created, {
    parameters: [idempotencyKeyParameter, dryRun],
    requestBody: bodyOf('EditVideo', { prompt, video: source }),
  }),
  extend: route('extendVideo', 'Continue a video', created, {
    parameters: [idempotencyKeyParameter, dryRun],
    requestBody: bodyOf('ExtendVideo', { prompt, video: source, seconds }),
  }),
}
