import { composeArray, composeJson, composeObject, type Json, joinStrings, toJson } from '../../../shared/json/json.ts'
import { readMediaValue } from '../../../shared/media/media-value.ts'
import { TextProblem } from '../../protocol/problem.ts'
import {
  checkArray,
  checkObject,
  checkString,
  elementsOf,
  isPresent,
  memberOf,
  type PresentField,
  rejectField,
  requireField,
  shortStringOf,
} from '../../protocol/validation.ts'

/** A part of the content of a chat message: a text, or anything else, as JSON. */
export type Part = { readonly text: Json } | { readonly media: Json }

/** The blocks of a content, which may also be a single text. Throws TextProblem 400 for anything else. */
export const blocksOf = (content: PresentField): readonly PresentField[] => {
  if (!content.json.isArray) rejectField(content.param, 'must be a string or an array of content blocks')
  return elementsOf(content)
}

/** The type of a block. Throws TextProblem 400 when it has none. */
export const blockType = (block: PresentField): string => {
  checkObject(block)
  const type = requireField(memberOf(block, 'type'))
  checkString(type)
  return shortStringOf(type.json) ?? ''
}

/** The string in a field of a block. Throws TextProblem 400 when there is none. */
export const stringIn = (object: PresentField, key: string): Json => {
  const field = requireField(memberOf(object, key))
  checkString(field)
  return field.json
}

/** The error for a block or a field that chat completions cannot express. */
export const unsupported = (param: string, value: string): never =>
  rejectField(param, `'${value.slice(0, 100)}' cannot be translated to chat completions`)

/** The error for the id of an object of the upstream account. */
export const rejectId = (param: string, kind: string): never => {
  throw new TextProblem(400, `${param} names a ${kind}, and the gateway cannot check its owner`, {
    param,
    code: 'unsupported_parameter',
  })
}

/**
 * Translates a content: a string, or blocks of text, images, documents and search results, in their order.
 *
 * Throws TextProblem 400 for any other block.
 */
export const toParts = (content: PresentField): readonly Part[] =>
  content.json.isString ? [{ text: content.json }] : blocksOf(content).flatMap((block) => toBlockParts(block))

/**
 * Translates one block of a user message or a tool result. Throws TextProblem 400 for a block that chat completions
 * cannot express.
 */
export const toBlockParts = (block: PresentField): readonly Part[] => {
  const type = blockType(block)
  switch (type) {
    case 'text':
      return [{ text: stringIn(block, 'text') }]
    case 'image':
      return [{ media: toImage(sourceOf(block)) }]
    case 'document':
      return toDocument(block)
    case 'search_result':
      return [...titled(block, ['title', 'source']), ...toParts(requireField(memberOf(block, 'content')))]
    case 'container_upload':
      return rejectId(`${block.param}.file_id`, 'file')
    default:
      return unsupported(`${block.param}.type`, type)
  }
}

/**
 * Content of a message: a string if there are only texts, which every upstream accepts; else parts. Blocks are
 * separated by an empty line.
 */
export const toMessageContent = (parts: readonly Part[]): Json => {
  const texts = parts.flatMap((part) => ('text' in part ? [part.text] : []))
  if (texts.length === parts.length) return joinTexts(texts)
  return composeArray(
    parts.map((part) => ('media' in part ? part.media : composeObject({ type: toJson('text'), text: part.text }))),
  )
}

/** One text. They are separated by an empty line. */
export const joinTexts = (texts: readonly Json[]): Json => joinStrings(texts, '\\n\\n')

const sourceOf = (block: PresentField): PresentField => {
  const source = requireField(memberOf(block, 'source'))
  checkObject(source)
  return source
}

const toImage = (source: PresentField): Json => {
  const type = blockType(source)
  if (type === 'file') return rejectId(`${source.param}.file_id`, 'file')
  if (type === 'base64') return imagePart(dataUrl(source, /^image\/[\w.+-]{1,40}$/))
  if (type !== 'url') return unsupported(`${source.param}.type`, type)
  const url = stringIn(source, 'url')
  const address = shortStringOf(url)
  // The chat request is checked too, but that error would name a field of the chat request.
  if (address !== undefined && !readMediaValue(address, 'url'))
    rejectField(
      `${source.param}.url`,
      'must be an http, https or data URL, or asset:// with the id of one of your assets',
    )
  return imagePart(url)
}

const imagePart = (url: Json): Json => composeObject({ type: toJson('image_url'), image_url: composeObject({ url }) })

/** The content of a source as a `data:` URL. It is not decoded. */
const dataUrl = (source: PresentField, mediaTypes: RegExp): Json => {
  const mediaType = shortStringOf(stringIn(source, 'media_type')) ?? ''
  if (!mediaTypes.test(mediaType)) rejectField(`${source.param}.media_type`, 'is not supported here')
  const data = stringIn(source, 'data')
  return composeJson([`"data:${mediaType};base64,`, data.bytes.subarray(1)])
}

const toDocument = (block: PresentField): readonly Part[] => {
  const source = sourceOf(block)
  const type = blockType(source)
  if (type === 'file') return rejectId(`${source.param}.file_id`, 'file')
  const heading = titled(block, ['title', 'context'])
  if (type === 'text') return [...heading, { text: stringIn(source, 'data') }]
  if (type === 'content') {
    return [...heading, ...toParts(requireField(memberOf(source, 'content')))]
  }
  if (type !== 'base64') return unsupported(`${source.param}.type`, type)
  const title = memberOf(block, 'title')
  const file = { filename: title.json ?? toJson('document.pdf'), file_data: dataUrl(source, /^application\/pdf$/) }
  return [{ media: composeObject({ type: toJson('file'), file: composeObject(file) }) }]
}

/** The members with these keys as texts, if they are present. */
const titled = (block: PresentField, keys: readonly string[]): readonly Part[] =>
  keys.flatMap((key) => {
    const field = memberOf(block, key)
    checkString(field)
    return isPresent(field) ? [{ text: field.json }] : []
  })

/**
 * The texts of a system prompt or a system message: a string, or blocks of text. Throws TextProblem 400 for any other
 * block.
 */
export const toSystemTexts = (content: PresentField): readonly Json[] => {
  if (content.json.isString) return [content.json]
  checkArray(content)
  return elementsOf(content).map((block) => {
    const type = blockType(block)
    return type === 'text' ? stringIn(block, 'text') : unsupported(`${block.param}.type`, type)
  })
}
