import type { Json } from '../../../shared/json/json.ts'
import { sizeOf } from '../../videos/request/sizes.ts'
import type { VideoUsage } from '../task.ts'

/**
 * What a task will use, before it is created. The vendor publishes no formula. Resellers publish this one, and
 * `completion_tokens` of tasks confirm it: tokens = width x height x (seconds of input videos + seconds of output) x 24
 * / 1024. It is exact for a fixed duration without input videos; else it is the most that the model may use.
 */
export const expectedUsageOf = (request: Json, model: string): Required<Omit<VideoUsage, 'cost'>> => {
  const family = familyOf(model)
  const prompt = promptOf(request)
  const numberIn = (name: string, short: string): number | undefined => {
    const value = request.get(name)
    if (value?.isNumber) return Number(value.value())
    const found = Number(parameterIn(prompt, name, short))
    return Number.isInteger(found) && found !== 0 ? found : undefined
  }
  const textIn = (name: string, short: string): string | undefined => {
    const value = request.get(name)
    return value?.isString && value.byteLength <= maxWordBytes ? value.string() : parameterIn(prompt, name, short)
  }
  const frames = numberIn('frames', 'frames')
  const duration = numberIn('duration', 'dur') ?? family.defaultSeconds
  const chosen = duration > 0 ? Math.min(duration, family.maxSeconds) : family.maxSeconds
  const seconds = frames !== undefined && frames > 0 ? Math.min(frames / framesPerSecond, family.maxSeconds) : chosen
  const draft = request.get('draft')?.is('true') === true
  const resolution = draft ? '480p' : (textIn('resolution', 'rs') ?? family.resolution)
  const ratio = textIn('ratio', 'rt') ?? 'adaptive'
  // Without a picture or video, whose ratio it could take, an adaptive video is 16:9.
  const pixels = pixelsOf(resolution, ratio === 'adaptive' && !hasMedia(request) ? '16:9' : ratio)
  const inputSeconds = hasVideo(request) ? family.maxInputSeconds : 0
  return {
    completionTokens: Math.floor(((inputSeconds + seconds) * pixels * framesPerSecond) / 1_024),
    seconds: Math.floor(seconds),
  }
}

const framesPerSecond = 24
/** Longer than any resolution and ratio. */
const maxWordBytes = 64

/** What the models of a family have in common (https://www.volcengine.com/docs/82379/1520757). */
interface Family {
  readonly maxSeconds: number
  /** Of a request without a duration; -1: the model decides. */
  readonly defaultSeconds: number
  readonly resolution: string
  /** Of all input videos together. */
  readonly maxInputSeconds: number
}

const families: readonly (readonly [name: RegExp, family: Family])[] = [
  [/seedance-2-?0/, { maxSeconds: 15, defaultSeconds: 5, resolution: '720p', maxInputSeconds: 15 }],
  [/seedance-1-?\d.*lite/, { maxSeconds: 12, defaultSeconds: 5, resolution: '720p', maxInputSeconds: 0 }],
  [/seedance-1/, { maxSeconds: 12, defaultSeconds: 5, resolution: '1080p', maxInputSeconds: 0 }],
]

/** That of the newest models, also for endpoints, whose models nobody knows. */
const newest: Family = { maxSeconds: 30, defaultSeconds: -1, resolution: '720p', maxInputSeconds: 30 }

const familyOf = (model: string): Family => families.find(([name]) => name.test(model))?.[1] ?? newest

/** Of an unknown format: the largest of its resolution, so that no task uses more. */
const pixelsOf = (resolution: string, ratio: string): number => {
  const known = sizeOf({ resolution, ratio })
  const sizes = known === undefined ? ratios.map((each) => sizeOf({ resolution, ratio: each })) : [known]
  const largest = Math.max(0, ...sizes.map((size) => areaOf(size ?? '')))
  return largest > 0 ? largest : areaOf('3840x2160')
}

const ratios = ['16:9', '4:3', '1:1', '21:9']

const areaOf = (size: string): number => {
  const [width = 0, height = 0] = size.split('x').map(Number)
  return width * height
}

const hasVideo = (request: Json): boolean => hasItem(request, ['video_url'])
const hasMedia = (request: Json): boolean => hasItem(request, ['image_url', 'video_url', 'draft_task'])

const hasItem = (request: Json, types: readonly unknown[]): boolean =>
  itemsOf(request).some((item) => types.includes(item.get('type')?.string()))

const itemsOf = (request: Json): readonly Json[] => request.get('content')?.elements() ?? []

/** A prompt whose end may have parameters, such as `--rs 720p --dur 5`. */
const promptOf = (request: Json): string => {
  const text = itemsOf(request)
    .find((item) => item.get('type')?.string() === 'text')
    ?.get('text')
  return text?.isString ? (text.string() ?? '') : ''
}

const parameterIn = (prompt: string, name: string, short: string): string | undefined => {
  if (!prompt.includes('--')) return undefined
  const found = [...prompt.matchAll(/\s--(\w+)[ =]+(\S+)/g)].findLast(([, flag]) => flag === name || flag === short)
  return found?.[2]
}
