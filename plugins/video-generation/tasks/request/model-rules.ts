import type { Json } from '../../../shared/json/json.ts'
import { familyFields, familyOf, type VideoFamily } from './families.ts'

/** A field of a request that the vendor's published rules do not allow. */
export interface RuleViolation {
  /** Path of the field. */
  readonly param: string
  readonly message: string
}

/**
 * Holds a native create request against the vendor's rules for its model
 * (https://www.volcengine.com/docs/82379/1520757). The vendor changes them, so nothing is refused by them: they say
 * beforehand what would probably be. Empty for an endpoint, whose model nobody knows.
 */
export const violationsOf = (request: Json, model: string): readonly RuleViolation[] => {
  const family = familyOf(model)
  if (!family) return []
  const found: RuleViolation[] = []
  const report = (param: string, message: string) => {
    if (found.length < maxViolations) found.push({ param, message })
  }
  checkFields(request, family, report)
  checkParameters(request, family, report)
  checkContent(request, family, report)
  return found
}

const maxViolations = 50

type Report = (param: string, message: string) => void

const checkFields = (request: Json, { fields }: VideoFamily, report: Report): void => {
  for (const name of familyFields)
    if (!fields.includes(name) && isGiven(request, name)) report(name, 'is not a field of this model')
}

/** `null` counts as absent; `service_tier` as absent where it names the default. */
const isGiven = (request: Json, name: string): boolean => {
  const value = request.get(name)
  if (value === undefined || value.is('null')) return false
  return name !== 'service_tier' || shortTextOf(value) !== 'default'
}

const ratios = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive']

const checkParameters = (request: Json, family: VideoFamily, report: Report): void => {
  const { minSeconds, maxSeconds, defaultSeconds, resolutions, fields } = family
  const resolution = shortTextOf(request.get('resolution'))
  if (resolution !== undefined && !resolutions.includes(resolution))
    report('resolution', `must be one of ${resolutions.join(', ')}`)
  const ratio = shortTextOf(request.get('ratio'))
  if (ratio !== undefined && !ratios.includes(ratio)) report('ratio', `must be one of ${ratios.join(', ')}`)
  const duration = numberOf(request.get('duration'))
  // Models that have frames do not decide the duration themselves.
  const decides = defaultSeconds === -1 || !fields.includes('frames')
  const isAllowed = (seconds: number) =>
    Number.isInteger(seconds) && ((decides && seconds === -1) || (seconds >= minSeconds && seconds <= maxSeconds))
  if (duration !== undefined && !isAllowed(duration))
    report('duration', `must be ${decides ? '-1 or ' : ''}an integer from ${minSeconds} to ${maxSeconds}`)
  const frames = numberOf(request.get('frames'))
  if (frames !== undefined && !(frames >= 29 && frames <= 289 && (frames - 25) % 4 === 0))
    report('frames', 'must be from 29 to 289, and 25 + 4n')
}

/** An item of `content` that is a file. */
interface MediaItem {
  readonly type: 'image_url' | 'video_url' | 'audio_url'
  readonly role: string | undefined
  readonly url: Json | undefined
  readonly param: string
}

const roles: Readonly<Record<MediaItem['type'], readonly string[]>> = {
  image_url: ['first_frame', 'last_frame', 'reference_image'],
  video_url: ['reference_video'],
  audio_url: ['reference_audio'],
}

const isMediaType = (type: string | undefined): type is MediaItem['type'] => type !== undefined && type in roles

const checkContent = (request: Json, family: VideoFamily, report: Report): void => {
  const items = request.get('content')?.elements() ?? []
  if (items.length === 0) report('content', 'must not be empty')
  const media: MediaItem[] = []
  for (const [index, item] of items.entries()) {
    const type = shortTextOf(item.get('type'))
    const param = `content[${index}]`
    if (type === undefined) report(`${param}.type`, 'is required')
    if (!isMediaType(type)) continue
    media.push({ type, role: shortTextOf(item.get('role')), url: item.get(type)?.get('url'), param })
  }
  for (const item of media) checkItem(item, report)
  checkModes(media, family, report)
  checkCounts(media, family, report)
  if (family.fields.includes('omni_reference_task_type')) checkTaskType(request, media, report)
  const drafts = items.filter((item) => item.get('draft_task'))
  if (drafts.length > 0 && !family.fields.includes('draft')) report('content', 'cannot have a draft with this model')
  if (drafts.length > 0 && items.length > 1) report('content', 'cannot mix a draft with anything else')
}

/** Of the models that edit and extend videos. */
const checkTaskType = (request: Json, media: readonly MediaItem[], report: Report): void => {
  const type = shortTextOf(request.get('omni_reference_task_type')) ?? 'auto'
  if (!taskTypes.includes(type)) report('omni_reference_task_type', `must be one of ${taskTypes.join(', ')}`)
  const ratio = shortTextOf(request.get('ratio')) ?? 'adaptive'
  const isDerived = type === 'edit' || type === 'extend'
  if ((isDerived || media.some(isFrame)) && ratio !== 'adaptive')
    report('ratio', `must be adaptive ${isDerived ? `to ${type} a video` : 'with a first frame'}`)
  if (!isDerived) return
  if (!media.some((item) => item.type === 'video_url')) report('content', `needs a reference video to ${type}`)
  const duration = numberOf(request.get('duration')) ?? -1
  if (type === 'edit' && duration !== -1) report('duration', 'must be -1 to edit a video')
}

const taskTypes = ['auto', 'reference', 'edit', 'extend']

const checkItem = ({ type, role, url, param }: MediaItem, report: Report): void => {
  if (role !== undefined && !roles[type].includes(role))
    report(`${param}.role`, `must be one of ${roles[type].join(', ')}`)
  const wrong = faultOf(type, url)
  if (wrong !== undefined) report(`${param}.${type}.url`, wrong)
}

const faultOf = (type: MediaItem['type'], url: Json | undefined): string | undefined => {
  if (!url?.isString) return 'is required'
  const { prefix, maxBytes, media } = dataUrls[type]
  const start = startOf(url)
  if (!/^"data:/i.test(start)) return undefined
  if (!prefix) return 'cannot be base64: an input video needs an address'
  if (!prefix.test(start)) return `must be base64 of ${media}`
  return (url.byteLength * 3) / 4 > maxBytes ? `must have at most ${maxBytes} bytes` : undefined
}

/** Longer than a `data:` URL before its content. */
const maxPrefixLength = 128
const latin1 = new TextDecoder('latin1')

/** The beginning of a string that may be long. */
export const startOf = (text: Json): string => latin1.decode(text.bytes.subarray(0, maxPrefixLength))

/** Files in the request itself. */
const dataUrls = {
  image_url: {
    prefix: /^"data:image\\?\/(?:jpe?g|png|webp|bmp|tiff|gif|hei[cf]);base64,/,
    ...{ maxBytes: 30 * 2 ** 20, media: 'a picture: jpeg, png, webp, bmp, tiff, gif, heic or heif' },
  },
  video_url: { prefix: undefined, maxBytes: 0, media: '' },
  audio_url: {
    prefix: /^"data:audio\\?\/(?:wav|x-wav|mp3|mpeg);base64,/,
    ...{ maxBytes: 15 * 2 ** 20, media: 'a sound: wav or mp3' },
  },
} as const

/** A picture without a role is a first frame. */
const isFrame = ({ type, role }: MediaItem): boolean => type === 'image_url' && role !== 'reference_image'

/** First frame, first and last frame, and references exclude each other. */
const checkModes = (media: readonly MediaItem[], { hasLastFrame }: VideoFamily, report: Report): void => {
  const frames = media.filter(isFrame)
  if (frames.length === 0) return
  if (frames.length < media.length) report('content', 'cannot mix a first or last frame with references')
  const last = frames.filter(({ role }) => role === 'last_frame').length
  if (last > 0 && !hasLastFrame) report('content', 'cannot have a last frame with this model')
  if (last > 0 && last === frames.length) report('content', 'needs a first frame for a last frame')
  if (last > 1 || frames.length - last > 1) report('content', 'can have one first frame and one last frame')
}

const checkCounts = (media: readonly MediaItem[], family: VideoFamily, report: Report): void => {
  const references = media.filter((item) => !isFrame(item))
  for (const { role, param } of references) if (role === undefined) report(`${param}.role`, 'is required')
  for (const [type, max, name] of [
    ['image_url', family.maxImages, 'pictures'],
    ['video_url', family.maxVideos, 'videos'],
    ['audio_url', family.maxAudios, 'audios'],
  ] as const) {
    const count = references.filter((item) => item.type === type).length
    if (count === 0 || count <= max) continue
    report('content', max === 0 ? `cannot have reference ${name} with this model` : `can have ${max} reference ${name}`)
  }
  const onlyAudio = references.length > 0 && references.every(({ type }) => type === 'audio_url')
  if (onlyAudio && !family.audioAlone && family.maxAudios > 0)
    report('content', 'needs a picture or a video beside an audio')
}

/** Longer than any word that a field may have. */
const maxWordBytes = 64

const shortTextOf = (value: Json | undefined): string | undefined =>
  value?.isString && value.byteLength <= maxWordBytes ? value.string() : undefined

const numberOf = (value: Json | undefined): number | undefined => (value?.isNumber ? Number(value.value()) : undefined)
