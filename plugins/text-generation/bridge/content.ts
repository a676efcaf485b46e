import { type Json, toJson } from '../../shared/json.ts'
import { array, given, object, others, refuse, stringAt } from './json-builder.ts'
import type { JsonPath } from './json-path.ts'

/** Parts that chat completions have by the same name, as their callers write them: they pass unchanged. */
const chatParts: readonly unknown[] = ['image_url', 'video_url', 'video', 'file', 'input_audio']

/** Said of text that came out of a model: where it found it, and how sure it was. No model reads them. */
const outputNotes = ['annotations', 'logprobs']

/**
 * Content of a message as a chat message has it: a string, or parts in their order. A single text is a string, which every upstream understands.
 *
 * Throws TextProblem 400 for a part that chat completions do not have.
 */
export const toContent = (content: Json, place: JsonPath): Json => {
  if (content.isString) return content
  if (!content.isArray) throw place.invalid('must be a string or an array')
  const parts = content.elements().map((part, nth) => toPart(part, place.at(nth)))
  return plain(parts) ?? array(parts)
}

/** Content of a tool's answer, which is text. Throws TextProblem 400 for anything else. */
export const toToolContent = (content: Json, place: JsonPath): Json => {
  content.elements().forEach((part, nth) => {
    const type = typeOf(part, place.at(nth))
    if (!texts.includes(type)) throw place.at(nth).at('type').unsupported(type)
  })
  return toContent(content, place)
}

/** What an assistant said: its text, and what it refused to say. */
export interface Said {
  readonly content: Json | undefined
  readonly refusal: string | undefined
}

/** Content of an assistant's message. Throws as `toContent`. */
export const toSaid = (content: Json, place: JsonPath): Said => {
  const refusals: string[] = []
  const parts: Json[] = []
  if (!content.isArray) return { content: toContent(content, place), refusal: undefined }
  content.elements().forEach((part, nth) => {
    if (typeOf(part, place.at(nth)) !== 'refusal') parts.push(toPart(part, place.at(nth)))
    else refusals.push(stringAt(part, 'refusal', place.at(nth)).string() ?? '')
  })
  return {
    content: parts.length === 0 ? undefined : (plain(parts) ?? array(parts)),
    refusal: refusals.length === 0 ? undefined : refusals.join(''),
  }
}

const texts: readonly string[] = ['input_text', 'output_text', 'text']

/** The type of a part; one without a type that has a text is text. */
const typeOf = (part: Json, place: JsonPath): string => {
  if (!part.isObject) throw place.invalid('must be an object')
  if (!given(part, 'type') && part.get('text')) return 'text'
  return stringAt(part, 'type', place).string() ?? ''
}

const toPart = (part: Json, place: JsonPath): Json => {
  const type = typeOf(part, place)
  if (chatParts.includes(type)) return part
  if (texts.includes(type)) {
    const text = stringAt(part, 'text', place)
    return object({ type: toJson('text'), text, ...others(part, ['type', 'text', ...outputNotes]) })
  }
  if (type === 'input_image') return toImage(part, place)
  if (type === 'input_file') return toFile(part, place)
  throw place.at('type').unsupported(type)
}

const toImage = (part: Json, place: JsonPath): Json => {
  refuse(part, ['file_id'], place)
  const image = given(part, 'image_url')
  const detail = given(part, 'detail')
  // Some callers write the address as chat completions have it.
  const address = image?.isObject ? image : object({ url: stringAt(part, 'image_url', place) })
  return object({
    type: toJson('image_url'),
    image_url: detail ? address.with('detail', detail) : address,
    ...others(part, ['type', 'image_url', 'detail', 'file_id']),
  })
}

const toFile = (part: Json, place: JsonPath): Json => {
  refuse(part, ['file_url'], place)
  refuse(part, ['detail'], place, ['"auto"'])
  const [data, name, id] = ['file_data', 'filename', 'file_id'].map((key) => given(part, key))
  if (!data && !id) throw place.invalid('must have file_data or file_id')
  return object({
    type: toJson('file'),
    file: object({ file_data: data, filename: name, file_id: id }),
    ...others(part, ['type', 'file_data', 'filename', 'file_id', 'file_url', 'detail']),
  })
}

/** The text of a single part that is nothing but text. */
const plain = (parts: readonly Json[]): Json | undefined => {
  const [part, ...more] = parts
  const isPlain = part && more.length === 0 && part.get('text') && part.members().length === 2
  return isPlain ? part.get('text') : undefined
}
