import type { Library } from '../../library/library.ts'
import type { AssetType } from '../../library/records.ts'
import { raise } from '../../shared/raise.ts'
import type { Reader } from '../../shared/reader.ts'
import { families, type VideoModel } from '../models.ts'
import { invalidField, missingField, VideoError } from '../video-error.ts'

/** An asset of the vendor's library that every account may use, such as a virtual portrait. */
export interface PresetAsset {
  readonly id: string
  readonly type: AssetType
}

/** What the account has that a request can refer to. */
export interface KnownObjects {
  readonly library: Library
  /** the project of the API key; assets of other projects do not exist for it */
  readonly project: string
  readonly presetAssets: readonly PresetAsset[]
}

/** The inputs of a request. */
export interface Content {
  /** the texts, without parameters at their end */
  readonly text: string
  /** the file of each input video, with its path in the request and its length */
  readonly videos: readonly { readonly path: string; readonly seconds: number }[]
  readonly draftTaskId?: string
  /** `frames`: first frame, or first and last one; `references`; `text` only; `draft`: those of the draft */
  readonly mode: 'frames' | 'references' | 'text' | 'draft'
}

interface Media {
  readonly type: 'image_url' | 'video_url' | 'audio_url'
  readonly role: string | undefined
  readonly path: string
  readonly seconds: number
}

const types = ['text', 'image_url', 'video_url', 'audio_url', 'draft_task'] as const
const assetTypes = { image_url: 'Image', video_url: 'Video', audio_url: 'Audio' } as const
const roles = {
  image_url: ['first_frame', 'last_frame', 'reference_image'],
  video_url: ['reference_video'],
  audio_url: ['reference_audio'],
} as const
/** `data:` URIs; videos have none. Sizes in bytes */
const dataUris = {
  image_url: { pattern: /^data:image\/[a-z+.-]+;base64,([A-Za-z0-9+/]+={0,2})$/, maxBytes: 30 * 2 ** 20 },
  audio_url: { pattern: /^data:audio\/[a-z0-9+.-]+;base64,([A-Za-z0-9+/]+={0,2})$/, maxBytes: 15 * 2 ** 20 },
}

/**
 * Reads `content`. Throws 400 for items that the model does not accept, and for assets that the account does not have.
 */
export const contentOf = (request: Reader, model: VideoModel, known: KnownObjects): Content => {
  const items = request.objects('content')
  if (items.length === 0) throw missingField('content')
  const texts: string[] = []
  const media: Media[] = []
  for (const item of items) {
    const type = item.oneOf('type', types)
    if (type === undefined) throw missingField(item.path('type'))
    if (type === 'text') texts.push(item.required('text'))
    else if (type === 'draft_task') return draftOf(item, items.length, model)
    else media.push(mediaOf(item, type, known))
  }
  const mode = modeOf(media)
  if (mode === 'frames') checkFrames(media, model)
  else checkReferences(media, model)
  const videos = media.filter(({ type }) => type === 'video_url')
  return { text: texts.join('\n'), videos, mode }
}

const objectIn = (item: Reader, name: string): Reader => item.object(name) ?? raise(missingField(item.path(name)))

const draftOf = (item: Reader, count: number, { id, family }: VideoModel): Content => {
  const draftTaskId = objectIn(item, 'draft_task').required('id')
  if (family !== '2.5') throw invalidField(item.path('type'), `the model ${id} has no drafts`)
  if (count > 1) throw invalidField('content', 'draft_task cannot be mixed with other content')
  return { text: '', videos: [], mode: 'draft', draftTaskId }
}

const mediaOf = (item: Reader, type: Media['type'], known: KnownObjects): Media => {
  const url = objectIn(item, type).required('url')
  const role = item.text('role')
  const path = item.path(type)
  const allowed: readonly string[] = roles[type]
  if (role !== undefined && !allowed.includes(role))
    throw invalidField(item.path('role'), `invalid role specified for ${type.replace('_url', '')} content`)
  return { type, role, path, seconds: secondsOf(locationOf(url, type, path, known)) }
}

/** The URL of the file. Throws 400 when the vendor could not read it. */
const locationOf = (url: string, type: Media['type'], path: string, known: KnownObjects): string => {
  const id = url.match(/^asset:\/\/(.*)$/s)?.[1]
  if (id !== undefined) return assetUrlOf(id, assetTypes[type], path, known)
  if (url.startsWith('data:')) return checkDataUri(url, type, path)
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw invalidField(path, 'invalid url specified')
  // the emulator fetches nothing: a path says what the vendor would see
  if (type !== 'audio_url' && url.includes(`/${personMark}`)) throw showsPerson(type, path)
  return url
}

/** In the path of an address, or in the bytes of a picture: it shows a real person. */
const personMark = 'real-face'

/** As recorded of the vendor: the message names the item, and `param` is empty. */
const showsPerson = (type: Media['type'], path: string): VideoError => {
  const kind = type === 'image_url' ? 'Image' : 'Video'
  const item = path.slice(0, path.lastIndexOf('.'))
  return new VideoError(
    400,
    `Input${kind}SensitiveContentDetected.PrivacyInformation`,
    `The request failed because the input ${kind.toLowerCase()} '${item}' may contain real person.`,
  )
}

const assetUrlOf = (id: string, type: AssetType, path: string, { library, project, presetAssets }: KnownObjects) => {
  const preset = presetAssets.find((one) => one.id === id)
  const asset = library.asset(id)
  const found = preset ?? (asset?.project === project ? asset : undefined)
  if (found === undefined) throw invalidField(path, `the asset ${id} is not found`)
  if (found.type !== type) throw invalidField(path, `the asset ${id} is of type ${found.type}`)
  if (preset === undefined && asset?.status !== 'Active')
    throw invalidField(path, `the asset ${id} is in status ${asset?.status}, not Active`)
  return asset?.url ?? ''
}

const checkDataUri = (url: string, type: Media['type'], path: string): string => {
  if (type === 'video_url') throw invalidField(path, 'base64 is not supported for video content')
  const { pattern, maxBytes } = dataUris[type]
  const [, base64] = url.match(pattern) ?? []
  if (base64 === undefined) throw invalidField(path, 'invalid base64 data')
  if (base64.length * 0.75 > maxBytes) throw invalidField(path, 'the file is too large')
  if (type === 'image_url' && Buffer.from(base64, 'base64').includes(personMark)) throw showsPerson(type, path)
  return ''
}

/** The length of a video or audio. The emulator fetches no files: `clip-12s.mp4` has 12 seconds, any other name 5. */
const secondsOf = (url: string): number => Number(url.match(/(\d+(?:\.\d+)?)s(?:\.\w+)?(?:[?#].*)?$/)?.[1] ?? 5)

/** The vendor sorts requests by the roles of their items. An image without a role is a first frame. */
const modeOf = (media: readonly Media[]): 'frames' | 'references' | 'text' => {
  const isFrame = ({ type, role }: Media) => type === 'image_url' && role !== 'reference_image'
  const frames = media.filter(isFrame).length
  if (frames === 0) return media.length === 0 ? 'text' : 'references'
  if (frames === media.length) return 'frames'
  throw invalidField('content', 'first/last frame content cannot be mixed with reference media content')
}

const checkFrames = (media: readonly Media[], { id, lastFrame = true }: VideoModel): void => {
  const last = media.filter(({ role }) => role === 'last_frame').length
  const first = media.length - last
  if (last > 0 && !lastFrame) throw invalidField('content', `the model ${id} does not support last frame image`)
  if (first === 0) throw invalidField('content', 'a last frame requires a first frame')
  if (first > 1 || last > 1) throw invalidField('content', 'there can be one first frame and one last frame')
}

const checkReferences = (media: readonly Media[], model: VideoModel): void => {
  const family = families[model.family]
  for (const [type, max, kind] of [
    ['image_url', model.maxImages ?? family.maxImages, 'image'],
    ['video_url', family.maxVideos, 'video'],
    ['audio_url', family.maxAudios, 'audio'],
  ] as const) {
    const items = media.filter((one) => one.type === type)
    if (items.length > 0 && max === 0)
      throw invalidField('content', `the model ${model.id} does not support reference ${kind}`)
    if (items.length > max) throw invalidField('content', `there can be at most ${max} reference ${kind}s`)
    if (items.some(({ role }) => role === undefined))
      throw invalidField('content', `reference media mode requires ${kind} role to be reference_${kind}`)
    const seconds = items.reduce((sum, item) => sum + item.seconds, 0)
    if (type !== 'image_url' && seconds > family.maxInputSeconds)
      throw invalidField('content', `the ${kind}s together must have at most ${family.maxInputSeconds} seconds`)
  }
  const onlyAudio = media.length > 0 && media.every(({ type }) => type === 'audio_url')
  if (onlyAudio && !family.audioAlone) throw invalidField('content', 'an audio requires an image or a video')
}
