import { type Static, type TObject, Type } from '@sinclair/typebox'
import { addressInput } from './inputs.ts'

const address = 'asset://ID of an own asset that is Active, or a public address'
const addresses = (maxItems: number, what: string) =>
  Type.Optional(Type.Array(addressInput(address), { maxItems, description: `${what}: each ${address}` }))

/** Characters of a prompt. */
const maxPromptLength = 32_000

/** The fields of a video. The vendor's rules for the model decide which it may have. */
export const videoFields = (models: readonly string[]) => ({
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

export type VideoFields = Static<TObject<ReturnType<typeof videoFields>>>

/** The request for `POST …/contents/generations/tasks`. The same fields give the same JSON. */
export const videoRequestOf = (fields: VideoFields) => {
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
