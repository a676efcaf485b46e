import { raise } from '../../shared/raise.ts'
import { isJson, type Reader } from '../../shared/reader.ts'
import { badRequest, missingField, wrongType, wrongValue } from '../openai-error.ts'
import { readerOf } from '../reader.ts'

/** Message content: its text, and the number of images, videos and files in it. */
export interface Content {
  readonly text: string
  readonly attachments: number
}

/** The required field of each type of content part: a text, an object with a URL, a list of URLs, or any value. */
const partFields: Readonly<Record<string, readonly [field: string, format: 'text' | 'url' | 'urls' | 'any']>> = {
  text: ['text', 'text'],
  refusal: ['refusal', 'text'],
  image_url: ['image_url', 'url'],
  video_url: ['video_url', 'url'],
  video: ['video', 'urls'],
  input_audio: ['input_audio', 'any'],
  file: ['file', 'any'],
  input_text: ['text', 'text'],
  output_text: ['text', 'text'],
  input_image: ['image_url', 'any'],
  input_video: ['video_url', 'any'],
  input_file: ['', 'any'],
}

/** The types of content parts of each API. */
const partTypes = {
  chat: ['text', 'refusal', 'image_url', 'video_url', 'video', 'input_audio', 'file'],
  responses: [
    'input_text',
    'output_text',
    'text',
    'refusal',
    'input_image',
    'input_video',
    'input_audio',
    'input_file',
  ],
} as const

/** Reads message content: a string or an array of content parts. */
export const contentOf = (
  message: Reader,
  name: string,
  optional = false,
  protocol: keyof typeof partTypes = 'chat',
): Content => {
  const given = message.raw[name]
  if (given === undefined || given === null) {
    if (optional) return { text: '', attachments: 0 }
    throw missingField(message.path(name))
  }
  if (typeof given === 'string') return { text: given, attachments: 0 }
  if (!Array.isArray(given)) throw wrongType(message.path(name), 'one of a string or array of objects', given)
  const parts = message.objects(name).map((part) => partOf(part, partTypes[protocol]))
  return {
    text: parts.flatMap((part) => part ?? []).join('\n'),
    attachments: parts.filter((part) => part === undefined).length,
  }
}

const partOf = (part: Reader, types: readonly string[]): string | undefined => {
  const type = part.oneOf('type', types) ?? raise(missingField(part.path('type')))
  const [field = '', format] = partFields[type] ?? raise(wrongValue(part.path('type'), type, types))
  if (format === 'text') return part.required(field)
  if (format === 'url') {
    const value = part.object(field) ?? raise(missingField(part.path(field)))
    checkUrl(value.path('url'), value.required('url'))
  }
  if (format === 'urls') {
    const list = part.raw[field]
    if (!Array.isArray(list) || list.length === 0) throw wrongType(part.path(field), 'an array of strings', list)
    list.forEach((url, index) => {
      checkUrl(`${part.path(field)}[${index}]`, url)
    })
  }
  if (format === 'any' && type === 'input_image' && typeof part.raw[field] === 'string') {
    checkUrl(part.path(field), part.raw[field])
  }
  return undefined
}

/** Rejects a URL that the upstream cannot fetch. It accepts http, https, asset and data URLs. */
const checkUrl = (path: string, value: unknown): void => {
  const url = isJson(value) ? readerOf(value, path).required('url') : value
  if (typeof url !== 'string') throw wrongType(path, 'a string', url)
  if (/^(https?|asset):\/\/./.test(url) || /^data:[^,]*,./s.test(url)) return
  throw badRequest(path, 'invalid_image_url', `Invalid '${path}': expected a URL or base64-encoded content.`)
}
