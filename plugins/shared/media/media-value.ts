import { Buffer } from 'node:buffer'
import { bytesPerTurn, JsonStringReader } from '../json/json.ts'

/** A valid value of a media field. */
export interface MediaValue {
  /** Id of the asset. Undefined: the value is no `asset://` URL. */
  readonly asset?: string
}

/**
 * Reads the value of a media field. Undefined when it is invalid.
 *
 * A valid value is, from its first character to its last, one of
 *
 * - `https://…` or `http://…` with a host: up to 16,384 characters without spaces, control characters, backslashes,
 *   double quotes and angle brackets, and without an `asset:/` after a separator;
 * - `data:…,…` (RFC 2397);
 * - `asset://` in lower case, and an id of letters, digits and `-._~`;
 * - the content itself in base64 (RFC 4648, section 4): an image or a video with the first bytes of a known format. No
 *   id and no path begins so. A field for `data` takes base64 of anything, but less than 40 characters must not begin
 *   with a slash;
 * - an empty string.
 *
 * Schemes follow RFC 3986, section 3.1, in ASCII. This is an allow-list: a value that an upstream might decode, fold or
 * trim into another URL is never valid.
 */
export const readMediaValue = (text: string, field: string | number): MediaValue | undefined => {
  const asset = assetUrl.exec(text)
  if (asset) return { asset: asset[1] }
  const isValid = text === '' || dataUrl.test(text) || isWebUrl(text) || isContent(text, field)
  return isValid ? {} : undefined
}

/** Whether a string in JSON source begins as a `data:` URL without escapes. One with escapes may be one too. */
export const isDataUrl = (bytes: Uint8Array): boolean =>
  /^"[Dd][Aa][Tt][Aa]:[\x20\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{0,256},/.test(latin1.decode(bytes.subarray(0, 300)))

/**
 * Whether a long string in JSON source is a valid value of a media field: a `data:` URL, or the content in base64.
 *
 * It does not decode the string. Escapes are accepted in the first part of a `data:` URL and before a slash. As a
 * generator it can yield to the event loop.
 */
export function* checkLongMediaValue(bytes: Uint8Array, field: string | number): Generator<undefined, boolean> {
  const reader = new JsonStringReader(bytes, 1, 2_000)
  let head = ''
  while (head.length < 300) head += String.fromCodePoint(reader.next())
  if (dataUrl.test(head)) return true
  if (!mayBeContent(head, field)) return false
  const end = bytes.length - 1
  let escapes = 0
  let at = 1
  for (let stop = 1; at >= stop && stop < end; yield) {
    stop = Math.min(stop + bytesPerTurn, end)
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

/** 1: a base64 character other than the padding. 2: a backslash, which may escape a slash. */
const base64Class = new Uint8Array(256)
for (const code of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'))
  base64Class[code] = 1
base64Class[0x5c] = 2

const latin1 = new TextDecoder('latin1')

const assetUrl = /^asset:\/\/([A-Za-z0-9._~-]{1,256})$/

const dataUrl = /^[Dd][Aa][Tt][Aa]:[\x20-\x2b\x2d-\x7e]{0,256},/

const webUrl = /^[Hh][Tt][Tt][Pp][Ss]?:\/\/(?![/?#:@])[^\p{Cc}\p{Cf}\p{Cs}\p{Z}\\<>"]+$/u

/** After a separator, because an upstream may read the value as several URLs. */
const nestedAsset = /[,;|:('[{]asset:\//iu

const isWebUrl = (text: string): boolean => text.length <= 16_384 && webUrl.test(text) && !nestedAsset.test(text)

/** Whether a string is padded base64. The search for an invalid character reads megabytes only once. */
const isBase64 = (text: string): boolean => {
  const end = text.search(/[^A-Za-z0-9+/]/)
  return text.length % 4 === 0 && (end === -1 || (end > 0 && /^={1,2}$/.test(text.slice(end))))
}

/**
 * First characters in base64 of PNG, JPEG, GIF, RIFF (WebP, AVI), BMP, TIFF, ISO media (MP4 and similar), and Matroska.
 */
const contentStart =
  /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|Qk[0-3][A-Za-z0-9+/]{5}AAAA|SUkqA|TU0AK|AAAA[A-Za-z0-9+/]{2}Z0eX[AB]|GkXfo)/

/** In characters. The smallest image has 35 bytes. */
const minContentLength = 40

/** Fields for content, which never hold a URL only. */
const dataField = /data$|^(?:b64_json|base64)$/i

const isContent = (text: string, field: string | number): boolean => mayBeContent(text, field) && isBase64(text)

const mayBeContent = (text: string, field: string | number): boolean => {
  const isLong = text.length >= minContentLength
  // A short value that begins with a slash may be a path.
  return dataField.test(String(field)) ? isLong || !text.startsWith('/') : isLong && contentStart.test(text)
}
