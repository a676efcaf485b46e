import { isJson, type Reader, raise, readerOf } from './reader.ts'
import { absent, refused, wrongType, wrongValue } from './refusal.ts'

/** What a content says, and how many images, videos and files it brings. */
export interface Content {
  readonly text: string
  readonly pieces: number
}

/** What each type of part must carry: its field, which is text, an object with an address, a list of addresses, or anything. */
const PARTS: Readonly<Record<string, readonly [field: string, form: 'text' | 'address' | 'addresses' | 'any']>> = {
  text: ['text', 'text'],
  refusal: ['refusal', 'text'],
  image_url: ['image_url', 'address'],
  video_url: ['video_url', 'address'],
  video: ['video', 'addresses'],
  input_audio: ['input_audio', 'any'],
  file: ['file', 'any'],
  input_text: ['text', 'text'],
  output_text: ['text', 'text'],
  input_image: ['image_url', 'any'],
  input_video: ['video_url', 'any'],
  input_file: ['', 'any'],
}

/** The parts that each protocol has. */
const OFFERED = {
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

/** Reads a content, which is a text or an array of parts. */
export function contentOf(
  message: Reader,
  name: string,
  optional = false,
  protocol: keyof typeof OFFERED = 'chat',
): Content {
  const given = message.raw[name]
  if (given === undefined || given === null) {
    if (optional) return { text: '', pieces: 0 }
    throw absent(message.path(name))
  }
  if (typeof given === 'string') return { text: given, pieces: 0 }
  if (!Array.isArray(given)) throw wrongType(message.path(name), 'one of a string or array of objects', given)
  const parts = message.objects(name).map((part) => partOf(part, OFFERED[protocol]))
  return {
    text: parts.flatMap((part) => part ?? []).join('\n'),
    pieces: parts.filter((part) => part === undefined).length,
  }
}

function partOf(part: Reader, offered: readonly string[]): string | undefined {
  const type = part.word('type', offered) ?? raise(absent(part.path('type')))
  const [field = '', form] = PARTS[type] ?? raise(wrongValue(part.path('type'), type, offered))
  if (form === 'text') return part.needed(field)
  if (form === 'address') {
    const held = part.object(field) ?? raise(absent(part.path(field)))
    checkAddress(held.path('url'), held.needed('url'))
  }
  if (form === 'addresses') {
    const list = part.raw[field]
    if (!Array.isArray(list) || list.length === 0) throw wrongType(part.path(field), 'an array of strings', list)
    list.forEach((address, index) => {
      checkAddress(`${part.path(field)}[${index}]`, address)
    })
  }
  if (form === 'any' && type === 'input_image' && typeof part.raw[field] === 'string') {
    checkAddress(part.path(field), part.raw[field])
  }
  return undefined
}

/** Models fetch addresses themselves; what they could not fetch is refused before anything is generated. */
function checkAddress(path: string, address: unknown): void {
  const url = isJson(address) ? readerOf(address, path).needed('url') : address
  if (typeof url !== 'string') throw wrongType(path, 'a string', url)
  if (/^(https?|asset):\/\/./.test(url) || /^data:[^,]*,./s.test(url)) return
  throw refused(path, 'invalid_image_url', `Invalid '${path}': expected an address or base64-encoded content.`)
}
