import { Buffer } from 'node:buffer'
import { bytesInTurn, JsonStringReader } from '../../shared/json.ts'

/** What may stand in a field that takes media. */
export interface Medium {
  /** Id of the asset that it addresses. Undefined: it addresses none. */
  readonly asset?: string
}

/**
 * Reads what stands in a field that takes media. Undefined when it may not stand there: it has to be, from its first character to its last, one of
 *
 * - `https://…` or `http://…` with a host, in up to 16,384 characters without blanks, control characters, backslashes, quotes and angle brackets, and without
 *   an asset's address behind a separator;
 * - `data:…,…` (RFC 2397);
 * - `asset://` in lower case, and an id of letters, digits and `-._~`;
 * - the content itself, in base64 (RFC 4648, section 4): an image or a video that begins as those of its format do, which no id and no path does. Where a
 *   field takes `data`, base64 of anything, though not of less than 30 bytes where that begins with a slash;
 * - nothing: an empty text.
 *
 * Schemes are those of RFC 3986, section 3.1, in ASCII. There is no list of what else could be meant by an address: whatever an upstream might decode, fold or trim
 * into another one is none of these.
 */
export const readMedium = (text: string, field: string | number): Medium | undefined => {
  const asset = assetUrl.exec(text)
  if (asset) return { asset: asset[1] }
  const isValid = text === '' || dataUrl.test(text) || isWebUrl(text) || isContent(text, field)
  return isValid ? {} : undefined
}

/** Whether a string in JSON's own text is a `data:` address, as far as that can be said by its beginning: one with an escape in it may be one too. */
export const isDataUrl = (bytes: Uint8Array): boolean =>
  /^"[Dd][Aa][Tt][Aa]:[\x20\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{0,256},/.test(latin1.decode(bytes.subarray(0, 300)))

/**
 * Whether a long string in JSON's own text may stand in a field that takes media: as `data:…,…`, or as the content itself. It is not decoded: an escape may be in the
 * beginning of a `data:` address, and in front of a slash. Step by step, so that it need not be read in one turn.
 */
export function* readLongMedium(bytes: Uint8Array, field: string | number): Generator<undefined, boolean> {
  const reader = new JsonStringReader(bytes, 1, 2_000)
  let head = ''
  while (head.length < 300) head += String.fromCodePoint(reader.next())
  if (dataUrl.test(head)) return true
  if (!mayBeContent(head, field)) return false
  const end = bytes.length - 1
  let escapes = 0
  let at = 1
  for (let stop = 1; at >= stop && stop < end; yield) {
    stop = Math.min(stop + bytesInTurn, end)
    while (at < stop) {
      const kind = base64Class[bytes[at] as number]
      if (kind === 0) break
      if (kind === 2 && bytes[++at] !== slash) return false
      if (kind === 2) escapes++
      at++
    }
  }
  return (end - 1 - escapes) % 4 === 0 && end - at <= 2 && bytes.subarray(at, end).every((code) => code === equals)
}

const slash = 0x2f
const equals = 0x3d

/** 1 for the characters of base64 but its end, 2 for a backslash, which may stand in front of one of them. */
const base64Class = new Uint8Array(256)
for (const code of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'))
  base64Class[code] = 1
base64Class[0x5c] = 2

const latin1 = new TextDecoder('latin1')

const assetUrl = /^asset:\/\/([A-Za-z0-9._~-]{1,256})$/

const dataUrl = /^[Dd][Aa][Tt][Aa]:[\x20-\x2b\x2d-\x7e]{0,256},/

const webUrl = /^[Hh][Tt][Tt][Pp][Ss]?:\/\/(?![/?#:@])[^\p{Cc}\p{Cf}\p{Cs}\p{Z}\\<>"]+$/u

/** Behind what separates addresses from each other: an upstream may take the text for several. */
const nestedAsset = /[,;|:('[{]asset:\//iu

const isWebUrl = (text: string): boolean => text.length <= 16_384 && webUrl.test(text) && !nestedAsset.test(text)

/** Padded, as every encoder pads it. Looked for is what does not belong, from the front: of megabytes nothing is read twice. */
const isBase64 = (text: string): boolean => {
  const end = text.search(/[^A-Za-z0-9+/]/)
  return text.length % 4 === 0 && (end === -1 || (end > 0 && /^={1,2}$/.test(text.slice(end))))
}

/** How base64 of a PNG, JPEG, GIF, WebP or AVI, BMP, TIFF, MP4 or its like, and Matroska begins. */
const contentStart =
  /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|Qk[0-3][A-Za-z0-9+/]{5}AAAA|SUkqA|TU0AK|AAAA[A-Za-z0-9+/]{2}Z0eX[AB]|GkXfo)/

/** The smallest image has 35 bytes. */
const minContentLength = 40

/** Fields that take data, never an address alone. */
const dataField = /data$|^(?:b64_json|base64)$/i

const isContent = (text: string, field: string | number): boolean => mayBeContent(text, field) && isBase64(text)

const mayBeContent = (text: string, field: string | number): boolean => {
  const isLong = text.length >= minContentLength
  // What is short and begins with a slash is rather a path.
  return dataField.test(String(field)) ? isLong || !text.startsWith('/') : isLong && contentStart.test(text)
}
