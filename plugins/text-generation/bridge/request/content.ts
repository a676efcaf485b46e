import type { Pace, SteppedWork } from '../../../shared/background/turns.ts'
import { composeArray, composeObject, type Json, nonNullMember, toJson } from '../../../shared/json/json.ts'
import { type JsonPath, otherMembers, rejectMembers, requireString } from './request-json.ts'

/** Part types of chat completions, which some clients send in Responses requests. They pass unchanged. */
const chatParts: readonly unknown[] = ['image_url', 'video_url', 'video', 'file', 'input_audio']

/** Members of the model's own text in earlier turns. A chat message does not have them. */
const outputMembers = ['annotations', 'logprobs']

/**
 * Translates the content of a message, in steps: to a string, or to parts in their order. A single text becomes a
 * string, which every upstream accepts.
 *
 * Throws TextProblem 400 for a part that chat completions do not have.
 */
export function* toContent(content: Json, path: JsonPath, pace: Pace): SteppedWork<Json> {
  if (content.isString) return content
  if (!content.isArray) throw path.invalid('must be a string or an array')
  const parts: Json[] = []
  for (const [index, part] of content.elements().entries()) {
    if (pace.isDue()) yield
    parts.push(toPart(part, path.at(index)))
  }
  return singleText(parts) ?? composeArray(parts)
}

/** The output of a tool. */
export interface ToolContent {
  /** The text, for the tool message. */
  readonly content: Json
  /** Images and files, for a message of the user: on most upstreams a tool message holds only text. */
  readonly media: readonly Json[]
}

/** Translates the output of a tool, in steps. Throws as `toContent`. */
export function* toToolContent(output: Json, path: JsonPath, pace: Pace): SteppedWork<ToolContent> {
  if (!output.isArray) return { content: yield* toContent(output, path, pace), media: [] }
  const texts: Json[] = []
  const media: Json[] = []
  for (const [index, part] of output.elements().entries()) {
    if (pace.isDue()) yield
    const parts = textTypes.includes(typeOf(part, path.at(index))) ? texts : media
    parts.push(toPart(part, path.at(index)))
  }
  if (texts.length === 0 && media.length > 0) return { content: mediaFollow, media }
  return { content: singleText(texts) ?? composeArray(texts), media }
}

/** The text of a tool message without any text of its own. */
const mediaFollow = toJson('The output is in the next message of the user.')

/** Content and refusal of an assistant message. */
export interface AssistantContent {
  readonly content: Json | undefined
  readonly refusal: string | undefined
}

/** Translates the content of an assistant message, in steps. Throws as `toContent`. */
export function* toAssistantContent(content: Json, path: JsonPath, pace: Pace): SteppedWork<AssistantContent> {
  const refusals: string[] = []
  const parts: Json[] = []
  if (!content.isArray) return { content: yield* toContent(content, path, pace), refusal: undefined }
  for (const [index, part] of content.elements().entries()) {
    if (pace.isDue()) yield
    if (typeOf(part, path.at(index)) !== 'refusal') parts.push(toPart(part, path.at(index)))
    else refusals.push(requireString(part, 'refusal', path.at(index)).string() ?? '')
  }
  return {
    content: parts.length === 0 ? undefined : (singleText(parts) ?? composeArray(parts)),
    refusal: refusals.length === 0 ? undefined : refusals.join(''),
  }
}

const textTypes: readonly string[] = ['input_text', 'output_text', 'text']

/** The type of a part. A part without a type but with `text` is text. */
const typeOf = (part: Json, path: JsonPath): string => {
  if (!part.isObject) throw path.invalid('must be an object')
  if (!nonNullMember(part, 'type') && part.get('text')) return 'text'
  return requireString(part, 'type', path).string() ?? ''
}

const toPart = (part: Json, path: JsonPath): Json => {
  const type = typeOf(part, path)
  if (chatParts.includes(type)) return part
  if (textTypes.includes(type)) {
    const text = requireString(part, 'text', path)
    return composeObject({ type: toJson('text'), text, ...otherMembers(part, ['type', 'text', ...outputMembers]) })
  }
  if (type === 'input_image') return toImage(part, path)
  if (type === 'input_file') return toFile(part, path)
  throw path.at('type').unsupported(type)
}

const toImage = (part: Json, path: JsonPath): Json => {
  rejectMembers(part, ['file_id'], path)
  const image = nonNullMember(part, 'image_url')
  const given = nonNullMember(part, 'detail')
  // Chat completions have no `original`.
  const detail = given?.string() === 'original' ? toJson('high') : given
  // Some clients send the address in the form of chat completions.
  const imageUrl = image?.isObject ? image : composeObject({ url: requireString(part, 'image_url', path) })
  return composeObject({
    type: toJson('image_url'),
    image_url: detail ? imageUrl.with('detail', detail) : imageUrl,
    ...otherMembers(part, ['type', 'image_url', 'detail', 'file_id']),
  })
}

const toFile = (part: Json, path: JsonPath): Json => {
  rejectMembers(part, ['file_url'], path)
  rejectMembers(part, ['detail'], path, ['"auto"'])
  const [data, name, id] = ['file_data', 'filename', 'file_id'].map((key) => nonNullMember(part, key))
  if (!data && !id) throw path.invalid('must have file_data or file_id')
  return composeObject({
    type: toJson('file'),
    file: composeObject({ file_data: data, filename: name, file_id: id }),
    ...otherMembers(part, ['type', 'file_data', 'filename', 'file_id', 'file_url', 'detail']),
  })
}

/** The text, if there is a single part with only a text. */
const singleText = (parts: readonly Json[]): Json | undefined => {
  const [part, ...more] = parts
  const isPlain = part && more.length === 0 && part.get('text') && part.members().length === 2
  return isPlain ? part.get('text') : undefined
}
