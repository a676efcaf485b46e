import { createReaderOf, type Json, type Reader } from '../../shared/reader.ts'
import { families, type Ratio, type Resolution, ratios, type VideoModel } from '../models.ts'
import { invalidField, missingField, taskTypeConstraint, unsupportedField, VideoError } from '../video-error.ts'
import { type Content, contentOf, type KnownObjects } from './content.ts'

/** A validated create request, with all defaults applied. */
export interface VideoRequest {
  readonly prompt: string
  readonly mode: Content['mode']
  readonly resolution: Resolution
  readonly ratio: Ratio
  /** seconds; -1: the model decides */
  readonly duration: number
  readonly frames?: number
  /** -1: the model decides */
  readonly seed: number
  readonly generateAudio?: boolean
  readonly outputFormat?: 'mp4' | 'mov'
  readonly returnLastFrame: boolean
  readonly draft: boolean
  readonly draftTaskId?: string
  readonly serviceTier: 'default' | 'flex'
  readonly callbackUrl?: string
  /** seconds from the creation */
  readonly expiresAfter: number
  /** absent where the model has no priorities */
  readonly priority?: number
  readonly safetyIdentifier?: string
  readonly tools: readonly string[]
  /** length of all input videos together */
  readonly inputSeconds: number
  /** an error that only the generation notices: the task fails with it */
  readonly laterError?: { readonly code: string; readonly message: string }
}

const familyFields = [...new Set(Object.values(families).flatMap(({ fields }) => fields))]
const maxExpirySeconds = 259_200

/** Reads a create request. Throws 400 for an invalid field. The vendor ignores unknown fields, so this does too. */
export const readRequest = (body: Json, model: VideoModel, known: KnownObjects): VideoRequest => {
  const request = readerOf(body)
  const family = families[model.family]
  const unsupported = familyFields.find((name) => request.has(name) && !family.fields.includes(name))
  if (unsupported !== undefined) throw unsupportedField(unsupported, model.id)
  const content = contentOf(request, model, known)
  const { prompt, values } = promptParameters(content.text)
  const rejection = prompt.match(/\breject with ([A-Za-z.]+[A-Za-z])/)?.[1]
  if (rejection !== undefined)
    throw new VideoError(400, rejection, 'The request failed because the input may contain sensitive information.')
  const draft = request.boolean('draft') ?? false
  const parameters = { ...readParameters(readerOf(weakly(values, model)), model), ...readParameters(request, model) }
  const read: VideoRequest = {
    ...{ prompt, mode: content.mode, draft, tools: toolsOf(request) },
    ...{ resolution: model.defaultResolution ?? '720p', ratio: defaultRatio(model, content) },
    ...{ duration: family.defaultDuration, seed: -1, ...parameters, ...(draft && { resolution: '480p' }) },
    ...(family.fields.includes('generate_audio') && { generateAudio: request.boolean('generate_audio') ?? true }),
    ...(family.fields.includes('output_format') && {
      outputFormat: request.oneOf('output_format', ['mp4', 'mov']) ?? 'mp4',
    }),
    returnLastFrame: request.boolean('return_last_frame') ?? false,
    ...(content.draftTaskId !== undefined && { draftTaskId: content.draftTaskId }),
    ...delivery(request, model),
    inputSeconds: content.videos.reduce((sum, { seconds }) => sum + seconds, 0),
  }
  return { ...read, ...checkTaskType(request, read, content, model) }
}

/** Parameters of the prompt are checked weakly: those that the model does not accept are ignored. */
const weakly = (values: Json, model: VideoModel): Json =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => {
      if (familyFields.includes(name) && !families[model.family].fields.includes(name)) return false
      try {
        readParameters(readerOf({ [name]: value }), model)
        return true
      } catch {
        return false
      }
    }),
  )

/** The parameters of the video that the request names. */
const readParameters = (request: Reader, model: VideoModel) => {
  const { minSeconds, maxSeconds, defaultDuration } = families[model.family]
  const automatic = model.family !== '1.0'
  const duration = request.integer('duration', automatic ? -1 : minSeconds, maxSeconds) ?? defaultDuration
  if (duration !== -1 && duration < minSeconds)
    throw invalidField('duration', `it must be -1 or from ${minSeconds} to ${maxSeconds}`)
  const frames = request.integer('frames', 29, 289)
  if (frames !== undefined && (frames - 25) % 4 !== 0) throw invalidField('frames', 'it must be of the form 25 + 4n')
  request.boolean('watermark')
  request.boolean('camera_fixed')
  const parameters = {
    resolution: request.oneOf('resolution', model.resolutions),
    ratio: request.oneOf('ratio', ratios),
    duration: request.has('duration') ? duration : undefined,
    frames,
    seed: request.integer('seed', -1, 2 ** 31 - 1),
  }
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined)) as {
    resolution?: Resolution
    ratio?: Ratio
    duration?: number
    frames?: number
    seed?: number
  }
}

const defaultRatio = ({ family }: VideoModel, { mode }: Content): Ratio =>
  family === '1.0' && mode === 'text' ? '16:9' : 'adaptive'

const toolsOf = (request: Reader): string[] =>
  request.objects('tools').map((tool) => tool.oneOf('type', ['web_search']) ?? tool.required('type'))

/** The fields that say when and to whom the result is delivered. */
const delivery = (request: Reader, model: VideoModel) => {
  const serviceTier = request.oneOf('service_tier', ['default', 'flex']) ?? 'default'
  const priority = request.integer('priority', 0, 9)
  const callbackUrl = request.text('callback_url')
  const safetyIdentifier = request.text('safety_identifier')
  if (safetyIdentifier !== undefined && safetyIdentifier.length > 64)
    throw invalidField('safety_identifier', 'it must have at most 64 characters')
  if (serviceTier === 'flex' && model.family !== '1.0') throw unsupportedField('service_tier', model.id)
  if (callbackUrl !== undefined && !(URL.canParse(callbackUrl) && /^https?:$/.test(new URL(callbackUrl).protocol)))
    throw invalidField('callback_url', 'invalid url specified')
  return {
    serviceTier,
    expiresAfter: request.integer('execution_expires_after', 3600, maxExpirySeconds) ?? 172_800,
    ...(callbackUrl !== undefined && { callbackUrl }),
    ...(safetyIdentifier !== undefined && { safetyIdentifier }),
    ...(model.family !== '1.0' && { priority: priority ?? 0 }),
  }
}

/**
 * The rules of the task types of 2.5. A named type is checked at once; one that the prompt implies fails the task
 * later.
 */
const checkTaskType = (
  request: Reader,
  { prompt, ratio, duration }: VideoRequest,
  { mode, videos }: Content,
  { family }: VideoModel,
): Pick<VideoRequest, 'laterError'> => {
  if (family !== '2.5') return {}
  if (mode === 'frames' && ratio !== 'adaptive')
    throw taskTypeConstraint('ratio', 'first frame generation', 'ratio must be adaptive')
  const named = request.oneOf('omni_reference_task_type', ['auto', 'reference', 'edit', 'extend']) ?? 'auto'
  const implied = impliedType(prompt, videos.length)
  const type = named === 'auto' ? implied : named
  const error = constraintError(type, ratio, duration, videos)
  if (error === undefined && (named === 'auto' || implied === 'reference' || implied === named)) return {}
  if (error !== undefined && named !== 'auto') throw error
  const { code, message } = error ?? {
    code: 'InvalidParameter.TaskTypeMismatch',
    message: `The task type ${named} does not match the prompt, which asks for ${implied}.`,
  }
  return { laterError: { code, message } }
}

const impliedType = (prompt: string, videos: number): 'reference' | 'edit' | 'extend' => {
  if (videos === 0) return 'reference'
  if (/\bextend\b/i.test(prompt)) return 'extend'
  return /\b(?:edit|replace|remove)\b/i.test(prompt) ? 'edit' : 'reference'
}

const constraintError = (
  type: 'reference' | 'edit' | 'extend',
  ratio: Ratio,
  duration: number,
  videos: Content['videos'],
): VideoError | undefined => {
  if (type === 'reference') return undefined
  const name = type === 'edit' ? 'video editing' : 'video extension'
  if (videos.length === 0) return taskTypeConstraint('content', name, 'a reference_video is required')
  if (ratio !== 'adaptive') return taskTypeConstraint('ratio', name, 'ratio must be adaptive')
  if (type === 'extend') return undefined
  if (duration !== -1) return taskTypeConstraint('duration', name, 'duration must be -1')
  const wrong = videos.find(({ seconds }) => seconds < 4 || seconds > 30)
  return wrong && taskTypeConstraint(wrong.path, name, `\`${wrong.path}\` is ${wrong.seconds} seconds`)
}

const names: Readonly<Record<string, string>> = {
  ...{ rs: 'resolution', resolution: 'resolution', rt: 'ratio', ratio: 'ratio', dur: 'duration', duration: 'duration' },
  ...{ frames: 'frames', seed: 'seed', cf: 'camera_fixed', camerafixed: 'camera_fixed' },
  ...{ wm: 'watermark', watermark: 'watermark' },
}

const pattern = /\s+--(\w+)[ =]+(\S+)/g

/**
 * The older form of parameters: `--rs 720p --dur 5` at the end of the prompt. Returns the prompt without them, and
 * their values.
 */
const promptParameters = (text: string) => {
  const values: Record<string, unknown> = {}
  const prompt = ` ${text}`.replace(pattern, (whole: string, flag: string, value: string) => {
    const name = Object.hasOwn(names, flag) ? names[flag] : undefined
    if (name === undefined) return whole
    values[name] = /^-?\d+$/.test(value) ? Number(value) : value === 'true' || (value === 'false' ? false : value)
    return ''
  })
  return { prompt: prompt.trim(), values }
}

/** Reads a request of video generation. */
export const readerOf = createReaderOf({
  missing: missingField,
  wrongType: (path, expected) => invalidField(path, `it must be ${expected}`),
  wrongWord: (path, _, words) => invalidField(path, `it must be one of ${words.join(', ')}`),
  outOfRange: (path, { min, max }) => invalidField(path, `it must be from ${min} to ${max}`),
  emptyIsMissing: true,
})
