import { Buffer } from 'node:buffer'
import type { PersonAsset } from '../../../shared/consent/store.ts'
import { FieldProblem } from '../../../shared/field-problem.ts'
import { composeArray, composeJson, composeObject, type Json, toJson } from '../../../shared/json/json.ts'
import type { JsonObject } from '../../../shared/json/parsed.ts'
import { sniffFileType } from '../../../shared/media/file-type.ts'
import { formatOf, knownSizes } from '../../tasks/request/sizes.ts'
import { maxPromptLength } from '../../tasks/request/task-request.ts'
import { type Fields, type FieldValue, type LongText, textField } from './fields.ts'

/** Names of the fields of a create request. */
export const createFields: readonly string[] = [
  ...['prompt', 'model', 'seconds', 'size'],
  ...['input_reference', 'input_reference.image_url', 'input_reference.file_id', 'references'],
]

/** What a task keeps of the request that created it, for the video object. */
export interface VideoNotes {
  readonly prompt: string
  /** As the caller has named it. */
  readonly model: string
  readonly seconds: string
  readonly size: string
  /** The id of the video of which it is a remix. */
  readonly remixedFrom?: string
}

/** A new task: the body of a native create request, and what the task keeps. */
export interface NewVideo {
  readonly body: Json
  readonly notes: VideoNotes
  /** Assets of persons that it shows besides those in the body. */
  readonly persons?: readonly PersonAsset[] | undefined
}

/** Names of models for callers, and the names under which the upstream has them. */
export type ModelAliases = Readonly<Record<string, string>>

// The defaults of the OpenAI API.
const defaultModel = 'sora-2'
const defaultSeconds = '4'
const defaultSize = '720x1280'

/** Translates `POST /videos`. Throws FieldProblem 400 for a wrong field. */
export const toTask = (fields: Fields, aliases: ModelAliases): NewVideo => {
  const prompt = promptOf(fields)
  const model = modelOf(fields, aliases)
  const seconds = secondsOf(fields) ?? defaultSeconds
  const size = textField(fields, 'size') ?? defaultSize
  const format = formatOf(size)
  if (!format) throw new FieldProblem(400, `size must be one of ${knownSizes}`, { param: 'size' })
  const image = imageOf(fields)
  const references = textField(fields, 'references')
  const text = { type: 'text', text: prompt }
  const settings = {
    resolution: format.resolution,
    // The vendor keeps the ratio of the image: the newest models accept no other with one.
    ratio: image ? 'adaptive' : format.ratio,
    duration: Number(seconds),
    // For the thumbnail.
    return_last_frame: true,
    ...(references !== undefined && { references }),
  }
  return {
    body: nativeBody(
      Object.hasOwn(aliases, model) ? (aliases[model] ?? model) : model,
      [toJson(text), ...(image ? [imageItem(image)] : [])],
      settings,
    ),
    notes: { prompt, model, seconds, size },
  }
}

/** The body of a native create request. */
export const nativeBody = (model: string, content: readonly Json[], settings: JsonObject): Json =>
  composeObject({
    model: toJson(model),
    content: composeArray(content),
    ...Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, toJson(value)])),
  })

/** The prompt. Throws FieldProblem 400 if it is absent or too long. */
export const promptOf = (fields: Fields): string => {
  const tooLong = () =>
    new FieldProblem(400, `prompt must have at most ${maxPromptLength} characters`, { param: 'prompt' })
  if (isLong(fields.get('prompt'))) throw tooLong()
  const prompt = textField(fields, 'prompt')
  if (prompt === undefined) throw new FieldProblem(400, 'prompt is required', { param: 'prompt' })
  if (prompt.length > maxPromptLength) throw tooLong()
  return prompt
}

/**
 * The length of the video; undefined if it is absent. Throws FieldProblem 400 if it is no number. Each model has its
 * own maximum.
 */
export const secondsOf = (fields: Fields): string | undefined => {
  const seconds = textField(fields, 'seconds')
  if (seconds !== undefined && !/^[1-9]\d{0,2}$/.test(seconds)) {
    throw new FieldProblem(400, 'seconds must be a whole number, such as 4', { param: 'seconds' })
  }
  return seconds
}

const modelOf = (fields: Fields, aliases: ModelAliases): string => {
  const model = textField(fields, 'model') ?? (Object.hasOwn(aliases, defaultModel) ? defaultModel : undefined)
  if (model === undefined) throw new FieldProblem(400, 'model is required', { param: 'model' })
  return model
}

/** The URL of the image, as a JSON string. */
const imageOf = (fields: Fields): Json | undefined => {
  if (fields.has('input_reference.file_id')) {
    const param = 'input_reference.file_id'
    throw new FieldProblem(400, `${param} is not supported: this gateway has no files`, { param })
  }
  const given = fields.get('input_reference.image_url')
  const url = isLong(given) ? given : textField(fields, 'input_reference.image_url')
  const file = fields.get('input_reference')
  if (file === undefined || file === '') return typeof url === 'string' ? toJson(url) : url?.json
  const param = 'input_reference'
  if (url !== undefined || !(file instanceof Uint8Array)) {
    throw new FieldProblem(400, `${param} must be one file, or an object with image_url`, { param })
  }
  if (file.length > maxImageBytes) {
    throw new FieldProblem(400, `${param} must have at most ${maxImageBytes} bytes`, { param })
  }
  const type = sniffFileType(file)
  if (type?.media !== 'image') {
    throw new FieldProblem(400, `${param} must be an image, for example JPEG or PNG`, { param })
  }
  return composeJson([
    `"data:${type.contentType};base64,`,
    { pieces: { [Symbol.iterator]: () => inBase64(file) } },
    '"',
  ])
}

/** Encodes bytes step by step, while the request is composed. */
function* inBase64(bytes: Uint8Array): Generator<string, void> {
  for (let start = 0; start < bytes.length; start += bytesPerStep)
    yield Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.min(bytesPerStep, bytes.length - start)).toString(
      'base64',
    )
}

/** A multiple of three: then no step but the last ends with padding. */
const bytesPerStep = 3 * 2 ** 14

const isLong = (value: FieldValue | undefined): value is LongText =>
  value !== undefined && typeof value !== 'string' && !(value instanceof Uint8Array)

/** The vendor's maximum. */
const maxImageBytes = 30 * 2 ** 20

const imageItem = (url: Json): Json =>
  composeObject({ type: toJson('image_url'), image_url: composeObject({ url }), role: toJson('first_frame') })
