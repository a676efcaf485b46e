/** A kind of file that may be uploaded: image, video or audio, as CreateAsset takes them. */
export interface FileType {
  readonly contentType: string
  /** Of the file's name, without the dot. */
  readonly extension: string
  readonly media: 'image' | 'video' | 'audio'
}

const fileTypes = [
  { contentType: 'image/jpeg', extension: 'jpeg', media: 'image' },
  { contentType: 'image/png', extension: 'png', media: 'image' },
  { contentType: 'image/webp', extension: 'webp', media: 'image' },
  { contentType: 'image/bmp', extension: 'bmp', media: 'image' },
  { contentType: 'image/tiff', extension: 'tiff', media: 'image' },
  { contentType: 'image/gif', extension: 'gif', media: 'image' },
  { contentType: 'image/heic', extension: 'heic', media: 'image' },
  { contentType: 'image/heif', extension: 'heif', media: 'image' },
  { contentType: 'video/mp4', extension: 'mp4', media: 'video' },
  { contentType: 'video/quicktime', extension: 'mov', media: 'video' },
  { contentType: 'audio/wav', extension: 'wav', media: 'audio' },
  { contentType: 'audio/mpeg', extension: 'mp3', media: 'audio' },
] as const satisfies readonly FileType[]

type Extension = (typeof fileTypes)[number]['extension']

const byExtension: ReadonlyMap<string, FileType> = new Map(fileTypes.map((type) => [type.extension, type]))

/** The names of all types, for messages. */
export const acceptedExtensions: string = fileTypes.map(({ extension }) => extension).join(', ')

/** The content types of all types. */
export const fileContentTypes: readonly string[] = fileTypes.map(({ contentType }) => contentType)

/** The content type of a key, by the extension that the gateway has given it. */
export const contentTypeOf = (key: string): string | undefined =>
  byExtension.get(key.slice(key.lastIndexOf('.') + 1))?.contentType

/** How many bytes `sniffFileType` needs. */
export const sniffBytes = 64

/**
 * Recognizes a file by its first bytes: what its sender says about it does not count.
 *
 * Signatures: https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern and the following sections, and the
 * brands of https://mp4ra.org
 */
export const sniffFileType = (bytes: Uint8Array): FileType | undefined => {
  const extension = extensionOf(bytes)
  return extension && byExtension.get(extension)
}

const extensionOf = (bytes: Uint8Array): Extension | undefined => {
  const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to))
  if (text(0, 3) === '\xff\xd8\xff') return 'jpeg'
  if (text(0, 8) === '\x89PNG\r\n\x1a\n') return 'png'
  if (text(0, 4) === 'GIF8' && /^[79]a$/.test(text(4, 6))) return 'gif'
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WEBP') return 'webp'
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WAVE') return 'wav'
  if (text(0, 4) === 'II*\0' || text(0, 4) === 'MM\0*') return 'tiff'
  // The reserved fields are zero, and the header has one of the known lengths.
  if (text(0, 2) === 'BM' && text(6, 10) === '\0\0\0\0' && bmpHeaders.has(bytes[14] ?? 0)) return 'bmp'
  if (text(4, 8) === 'ftyp') return extensionOfBrand(text(8, 12))
  // QuickTime files older than `ftyp` begin with another box.
  if (['moov', 'mdat', 'wide', 'free', 'skip'].includes(text(4, 8))) return 'mov'
  if (text(0, 3) === 'ID3' || isMp3Frame(bytes)) return 'mp3'
  return undefined
}

const bmpHeaders: ReadonlySet<number> = new Set([12, 40, 52, 56, 64, 108, 124])

const extensionOfBrand = (brand: string): Extension | undefined => {
  if (brand === 'qt  ') return 'mov'
  if (/^(?:hei[cxms]|hev[cxms])$/.test(brand)) return 'heic'
  if (brand === 'mif1' || brand === 'msf1') return 'heif'
  // No video: M4A (audio), AVIF, JPEG 2000 and Canon's raw images.
  return /^(?:M4[AB]|avi[fs]|jp[2xm]|crx)/.test(brand) ? undefined : 'mp4'
}

/** An MPEG audio header: layer III, with a valid bitrate and sample rate. */
const isMp3Frame = ([first = 0, second = 0, third = 0]: Uint8Array): boolean =>
  first === 0xff &&
  (second & 0xe6) === 0xe2 &&
  (second & 0x18) !== 0x08 &&
  ![0, 15].includes(third >> 4) &&
  (third & 0x0c) !== 0x0c
