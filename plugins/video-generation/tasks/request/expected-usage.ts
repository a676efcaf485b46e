import type { Json } from '../../../shared/json/json.ts'
import type { VideoUsage } from '../task.ts'
import { familyOf, newestFamily } from './families.ts'
import { sizeOf } from './sizes.ts'

/** What a task will use. */
export interface ExpectedVideoUsage extends Required<Omit<VideoUsage, 'cost'>> {
  /** False: it is the most that the task may use. */
  readonly exact: boolean
}

/**
 * What a task will use, before it is created. The vendor publishes no formula. Resellers publish this one, and
 * `completion_tokens` of tasks confirm it: tokens = width x height x (seconds of input videos + seconds of output) x 24
 * / 1024. It is exact for a fixed duration without input videos; else it is the most that the model may use.
 */
export const expectedUsageOf = (request: Json, model: string): ExpectedVideoUsage => {
  const family = familyOf(model) ?? newestFamily
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
  const isSized = ratio !== 'adaptive' || !hasMedia(request)
  return {
    completionTokens: Math.floor(((inputSeconds + seconds) * pixels * framesPerSecond) / 1_024),
    seconds: Math.floor(seconds),
    exact: isSized && inputSeconds === 0 && (frames !== undefined || duration > 0) && familyOf(model) !== undefined,
  }
}

const framesPerSecond = 24
/** Longer than any resolution and ratio. */
const maxWordBytes = 64

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
