import { createHash } from 'node:crypto'
import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { CreatedVideoTask, TaskEstimate } from '../../video-generation/index.ts'
import { type Confirmations, maxConfirmationLength } from '../confirmation.ts'
import { ConfirmationNeeded, defineTool, type McpTool, type ToolCall } from '../tool.ts'
import { addressInput } from './inputs.ts'

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

const address = 'asset://ID of an own asset that is Active, or a public address'
const addresses = (maxItems: number, what: string) =>
  Type.Optional(Type.Array(addressInput(address), { maxItems, description: `${what}: each ${address}` }))

/** Characters of a prompt. */
const maxPromptLength = 32_000

/** The fields of a video. The vendor's rules for the model decide which it may have. */
const videoFields = (models: readonly string[]) => ({
  model: Type.String({
    ...{ minLength: 1, maxLength: 256 },
    description:
      models.length > 0 ? `A model or endpoint, such as ${models.join(', ')}` : 'A model or endpoint of the account',
  }),
  prompt: Type.Optional(Type.String({ maxLength: maxPromptLength, description: 'What the video shows' })),
  first_frame: Type.Optional(addressInput(`The picture that the video begins with: ${address}`)),
  last_frame: Type.Optional(addressInput(`The picture that it ends with, beside first_frame: ${address}`)),
  reference_images: addresses(30, 'Pictures of what the video shows, instead of frames'),
  reference_videos: addresses(10, 'Videos to follow, edit or extend'),
  reference_audios: addresses(10, 'Audio files to use'),
  duration: Type.Optional(Type.Integer({ minimum: -1, maximum: 60, description: 'Seconds; -1: the model decides' })),
  resolution: Type.Optional(Type.String({ maxLength: 16, description: '480p, 720p, 1080p or 4k, by model' })),
  ratio: Type.Optional(Type.String({ maxLength: 16, description: '16:9, 4:3, 1:1, 3:4, 9:16, 21:9 or adaptive' })),
  generate_audio: Type.Optional(Type.Boolean({ description: 'Whether the video has sound. Default true' })),
  watermark: Type.Optional(Type.Boolean({ description: 'Default false' })),
  seed: Type.Optional(Type.Integer({ minimum: -1, maximum: 2 ** 31 - 1 })),
  auto_references: Type.Optional(
    Type.Boolean({
      description:
        'Whether a picture at a public address that the vendor refuses for the person in it becomes an asset of the caller, with which the video is tried again. Only for persons who do not exist. Needs the scope media. Default false',
    }),
  ),
  return_last_frame: Type.Optional(Type.Boolean({ description: 'Also keep the last picture. Default false' })),
})

type VideoFields = Static<TObject<ReturnType<typeof videoFields>>>

/** The request for `POST …/contents/generations/tasks`. The same fields give the same JSON. */
const videoRequestOf = (fields: VideoFields) => {
  const { model, prompt, first_frame, last_frame, reference_images, reference_videos, reference_audios } = fields
  return {
    model,
    content: [
      ...(prompt === undefined ? [] : [{ type: 'text', text: prompt }]),
      ...mediaOf('image_url', 'first_frame', first_frame),
      ...mediaOf('image_url', 'last_frame', last_frame),
      ...mediaOf('image_url', 'reference_image', ...(reference_images ?? [])),
      ...mediaOf('video_url', 'reference_video', ...(reference_videos ?? [])),
      ...mediaOf('audio_url', 'reference_audio', ...(reference_audios ?? [])),
    ],
    ...(fields.auto_references === true && { references: 'auto' }),
    ...Object.fromEntries(parameters.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]]))),
  }
}

const parameters = [
  ...['duration', 'resolution', 'ratio', 'generate_audio', 'watermark', 'seed', 'return_last_frame'],
] as const satisfies readonly string[]

const mediaOf = (type: string, role: string, ...urls: readonly (string | undefined)[]) =>
  urls.flatMap((url) => (url === undefined ? [] : [{ type, [type]: { url }, role }]))
