import { Type } from '@sinclair/typebox'
import {
  forwardedErrors,
  idempotencyKeyParameter,
  jsonBody,
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
import type { NeededLimit, TaskEstimate } from '../tasks/task-estimate.ts'
import type {
  CreatedVideoTask,
  CreateVideoTaskRequest,
  VideoErrorBody,
  VideoTaskObject,
  VideoTaskPageBody,
} from './route-types.ts'

/** An error of video generation. */
export const videoErrorBody: SchemaOf<VideoErrorBody> = Type.Object(
  {
    error: Type.Object({
      code: Type.String(),
      message: Type.String(),
      param: Type.String({ description: 'Path of the wrong field; empty: none' }),
      type: Type.String(),
    }),
  },
  { title: 'VideoError', description: 'An error of video generation' },
)

const words = <Word extends string>(...all: Word[]) => Type.Union(all.map((word) => Type.Literal(word)))

const status = Type.Union(
  (['queued', 'running', 'succeeded', 'failed', 'expired', 'cancelled'] as const).map((word) => Type.Literal(word)),
)
const serviceTier = Type.Union([Type.Literal('default'), Type.Literal('flex')], { default: 'default' })

const createRequest: SchemaOf<CreateVideoTaskRequest> = Type.Unsafe<CreateVideoTaskRequest>(
  Type.Object(
    {
      model: Type.String({ description: 'A model or an endpoint', maxLength: 256 }),
      content: Type.Array(Type.Object({ type: Type.String() }, { additionalProperties: true }), {
        description:
          'Texts, images, videos, audios, or a draft task. An address with the scheme `asset` names an asset of the caller',
      }),
      service_tier: Type.Optional(serviceTier),
      callback_url: Type.Optional(Type.String({ maxLength: 2_048 })),
      priority: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 9, description: 'At most what the operator allows' }),
      ),
      execution_expires_after: Type.Optional(
        Type.Integer({ minimum: 3_600, maximum: 259_200, description: 'Seconds' }),
      ),
      dry_run: Type.Optional(
        Type.Boolean({
          description: 'Only says what the task would use, cost and wait for. It never reaches the upstream',
        }),
      ),
      references: Type.Optional(
        Type.Literal('auto', {
          description:
            'Pictures that are refused for a person become assets of the caller, and the task is sent again. Needs the scope `media`. It never reaches the upstream',
        }),
      ),
      safety_identifier: Type.Optional(
        Type.String({ maxLength: 64, description: 'Repeated in the task; the upstream gets one of the gateway' }),
      ),
    },
    { title: 'CreateVideoTaskRequest', additionalProperties: true },
  ),
)

const created: SchemaOf<CreatedVideoTask> = Type.Object({ id: Type.String() }, { title: 'CreatedVideoTask' })

/** The response to a dry run. */
export const estimateSchema: SchemaOf<TaskEstimate> = Type.Object(
  {
    dry_run: Type.Literal(true),
    model: Type.String(),
    usage: Type.Object({
      completion_tokens: Type.Integer({ minimum: 0 }),
      seconds: Type.Integer({ minimum: 0, description: 'Of the video' }),
      exact: Type.Boolean({ description: 'False: the task uses at most that' }),
    }),
    cost: nullable(Type.Number({ description: 'In currency units. Null: the model has no price' })),
    limits: Type.Array(
      Type.Unsafe<NeededLimit>(
        Type.Object(
          {
            unit: Type.String(),
            amount: Type.Number(),
            remaining: Type.Number(),
            needed: Type.Number({ description: 'What the task needs of it' }),
          },
          { additionalProperties: true },
        ),
      ),
      { description: 'The limits that the task would use, as `GET /api/limits` shows them' },
    ),
    references: Type.Array(
      Type.Object({
        param: Type.String({ description: 'Path of the item' }),
        kind: words('asset', 'address', 'data', 'draft'),
        id: nullable(Type.String({ description: "Of the caller's asset or draft" })),
      }),
    ),
    violations: Type.Array(Type.Object({ param: Type.String(), message: Type.String() }), {
      description: "What the vendor's published rules for the model do not allow",
    }),
    queue: nullable(
      Type.Object(
        {
          position: Type.Integer({ minimum: 1 }),
          seconds: nullable(Type.Integer({ minimum: 0, description: 'Estimated, until the start' })),
        },
        { description: 'Null: the task would start at once, or there is no queue for the model' },
      ),
    ),
  },
  { title: 'VideoTaskEstimate' },
)

const createdOrEstimate = Type.Union([created, estimateSchema])

const task: SchemaOf<VideoTaskObject> = Type.Unsafe<VideoTaskObject>(
  Type.Object(
    {
      id: Type.String(),
      model: Type.String(),
      status,
      error: Type.Optional(
        nullable(Type.Object({ code: Type.String(), message: Type.String() }), {
          description: 'Why the task has failed',
        }),
      ),
      created_at: Type.Integer({ description: 'Seconds since 1970' }),
      updated_at: Type.Integer({ description: 'Seconds since 1970' }),
      content: Type.Optional(
        Type.Object(
          { video_url: Type.Optional(Type.String()), last_frame_url: Type.Optional(Type.String()) },
          { description: 'Links to the result, which need no credential and expire', additionalProperties: true },
        ),
      ),
      usage: Type.Optional(Type.Object({}, { additionalProperties: true })),
      service_tier: Type.Optional(Type.String()),
      execution_expires_after: Type.Optional(Type.Integer()),
    },
    { title: 'VideoTask', additionalProperties: true },
  ),
)

const page: SchemaOf<VideoTaskPageBody> = Type.Object(
  { items: Type.Array(task), total: Type.Integer({ description: 'Number of tasks on all pages' }) },
  { title: 'VideoTaskPage' },
)

const queueHeaders = {
  'x-queue-position': {
    description: 'Of a task that waits in the queue of the gateway: 1 is the next that starts',
    schema: Type.Integer({ minimum: 1 }),
  },
  'x-queue-seconds': {
    description: 'Estimated seconds until the start of such a task',
    schema: Type.Integer({ minimum: 0 }),
  },
}

const route = (
  operationId: string,
  summary: string,
  success: ResponseDescription,
  more: Partial<OperationDescription> = {},
): RouteOptions =>
  routeOptions({
    ...{ operationId, summary, tags: ['video generation'] },
    ...more,
    responses: {
      200: success,
      ...forwardedErrors(videoErrorBody, 400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 502, 503),
    },
  })

const taskId = pathParameter('task_id', "Id of one of the caller's tasks")

/**
 * Elysia options of each route. The handlers read and check the requests themselves; the schemas are for OpenAPI
 * documents.
 */
export const videoDocs = {
  createVideoTask: route(
    'createVideoTask',
    'Create a video generation task',
    jsonResponse(
      'The task is stored, and goes to the upstream when it is its turn; or what it would be',
      createdOrEstimate,
      {
        ...queueHeaders,
        ...replayedHeaders,
      },
    ),
    { parameters: [idempotencyKeyParameter], requestBody: jsonBody(createRequest) },
  ),
  listVideoTasks: route(
    'listVideoTasks',
    "List the caller's video generation tasks",
    jsonResponse('The tasks, the newest first', page),
    {
      parameters: [
        queryParameter('page_num', 'Number of the page', Type.Integer({ minimum: 1, default: 1 })),
        queryParameter('page_size', 'Tasks on a page', Type.Integer({ minimum: 1, maximum: 500, default: 20 })),
        queryParameter('filter.status', 'Only tasks with this status', status),
        queryParameter('filter.task_ids', 'Only these tasks; may be repeated', Type.Array(Type.String())),
        queryParameter('filter.model', 'Only tasks of this model or endpoint, as the request named it'),
        queryParameter('filter.service_tier', 'Only tasks of this tier', serviceTier),
      ],
    },
  ),
  getVideoTask: route('getVideoTask', 'Get a video generation task', jsonResponse('The task', task, queueHeaders), {
    parameters: [taskId],
  }),
  deleteVideoTask: route(
    'deleteVideoTask',
    'Cancel a video generation task that has not started, or delete one that has ended',
    jsonResponse('Done', Type.Object({}, { title: 'RemovedVideoTask' })),
    {
      parameters: [
        taskId,
        queryParameter(
          'mode',
          'Only this of the two. With `delete`, the record of the upstream is deleted too',
          Type.Union([Type.Literal('cancel'), Type.Literal('delete')]),
        ),
      ],
    },
  ),
  receiveVideoCallback: routeOptions({
    operationId: 'receiveVideoCallback',
    summary: 'Callback of the upstream about a task',
    description: 'The gateway then asks the upstream for the task. It ignores the body.',
    tags: ['video generation'],
    security: [],
    parameters: [
      pathParameter('task_id', 'Id of the task'),
      pathParameter('key', 'Key of the task, which only the upstream knows'),
    ],
    responses: {
      200: jsonResponse('Noted', Type.Object({}, { title: 'NotedCallback' })),
      404: { description: 'Not found', content: jsonContent(videoErrorBody) },
      ...forwardedErrors(videoErrorBody, 400, 408, 413, 429, 500, 503),
    },
  }),
}
