import { createHash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import type { CreatedVideoTask, TaskEstimate } from '../../video-generation/index.ts'
import { type Confirmations, maxConfirmationLength } from '../confirmation.ts'
import { ConfirmationNeeded, defineTool, type McpTool, type ToolCall } from '../tool.ts'
import { type VideoFields, videoFields, videoRequestOf } from './video-request.ts'

/** What the tools that price and create videos need of the server. */
export interface VideoToolsOptions {
  /** Base path of video generation. */
  readonly videos: string
  /** Names of models to suggest. */
  readonly models: readonly string[]
  /** Above this cost a creation must be confirmed. Null: none must. */
  readonly confirmAbove: number | null
  readonly confirmations: Confirmations
}

/** Tools that price and create videos. */
export const videoTools = (options: VideoToolsOptions): readonly McpTool[] => {
  const fields = videoFields(options.models)
  const createInput = Type.Object(
    {
      ...fields,
      confirm: Type.Optional(
        Type.String({
          maxLength: maxConfirmationLength,
          description: 'The confirmation of an earlier answer, after the person has agreed to its price',
        }),
      ),
      idempotency_key: Type.Optional(
        Type.String({
          ...{ minLength: 1, maxLength: 200, pattern: '^[!-~]+$' },
          description: 'A text of your choice. A repetition with the same key creates nothing, and has the same answer',
        }),
      ),
    },
    { additionalProperties: false },
  )
  return [
    defineTool({
      name: 'price_video',
      title: 'Price a video',
      description:
        'Says what a video would cost, what is left of the limits, whether its references are usable, and how long it would wait. Creates nothing. Takes the same fields as create_video.',
      ...{ scope: 'video', onlyReads: false, input: Type.Object(fields, { additionalProperties: false }) },
      run: (input, { api }) => priceOf(api, videoRequestOf(input), options.videos),
    }),
    defineTool({
      name: 'create_video',
      title: 'Create a video',
      description:
        'Creates a video from a prompt, pictures, videos and audio files. It costs money. The answer has a video_id for wait_for_video. Above an amount the answer has a price and a confirmation instead: show the price to the person, and repeat the call with it.',
      ...{ scope: 'video', onlyReads: false, input: createInput },
      run: (input, call) => createVideo(input, call, options),
    }),
  ]
}

const tasksAt = (videos: string) => `${videos}/contents/generations/tasks`

const priceOf = (api: ToolCall['api'], request: object, videos: string): Promise<TaskEstimate> =>
  api.call<TaskEstimate>('POST', tasksAt(videos), { json: { ...request, dry_run: true } })

const createVideo = async (
  {
    confirm,
    idempotency_key,
    ...fields
  }: VideoFields & { readonly confirm?: string; readonly idempotency_key?: string },
  call: ToolCall,
  { videos, confirmAbove, confirmations }: VideoToolsOptions,
): Promise<object> => {
  const request = videoRequestOf(fields)
  const price = await priceOf(call.api, request, videos)
  const needed = confirmAbove !== null && (price.cost === null || price.cost > confirmAbove)
  const confirmation = call.confirmed ?? confirm
  if (needed) {
    const confirmed = { user: call.user, body: JSON.stringify(request), now: call.clock.now() }
    if (confirmation === undefined || !confirmations.isValid(confirmation, confirmed, price.cost))
      throw new ConfirmationNeeded(questionFor(price), confirmations.issue(confirmed, price.cost), price)
  }
  const key = idempotency_key ?? (confirmation === undefined ? undefined : keyOf(confirmation))
  const { id } = await call.api.call<CreatedVideoTask>('POST', tasksAt(videos), {
    json: request,
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  })
  return { video_id: id, status: 'queued', cost: price.cost, usage: price.usage, queue: price.queue }
}

const questionFor = ({ cost, usage, model }: TaskEstimate): string => {
  const { completion_tokens, seconds, exact } = usage
  const price = cost === null ? 'The price is not known' : `It costs ${exact ? '' : 'at most '}${cost}`
  return `Create a video with ${model}? ${price}: ${seconds} seconds, ${completion_tokens} tokens.`
}

/** One confirmation makes one video: a repetition with it has the answer of the first. */
const keyOf = (confirmation: string): string => `mcp-${createHash('sha256').update(confirmation).digest('base64url')}`
