/** The size of a video. */
export type Resolution = '480p' | '720p' | '1080p' | '4k'

/** A model that generates videos. */
export interface VideoModel {
  /** such as `doubao-seedance-2-0-260128` */
  readonly id: string
  /** decides which fields and how many inputs a request can have */
  readonly family: '2.5' | '2.0' | '1.0'
  /** in any order */
  readonly resolutions: readonly Resolution[]
  /** default 720p */
  readonly defaultResolution?: Resolution
  /** tasks of the account that run at once; default 10. Tasks with `service_tier: flex` do not count */
  readonly maxRunning?: number
  /** whether it accepts a last frame; default true */
  readonly lastFrame?: boolean
  /** `reference_image` items of a request; default: that of the family */
  readonly maxImages?: number
}

/** An inference endpoint: another name of a model, with a queue and a rate limit of its own. */
export interface VideoEndpoint {
  /** such as `ep-20260101000000-aaaaa` */
  readonly id: string
  /** id of its model */
  readonly model: string
  /** create calls; default no limit */
  readonly requestsPerMinute?: number
}

/** What all models of a family have in common (vendor page 1520757). */
export interface Family {
  readonly minSeconds: number
  readonly maxSeconds: number
  /** the value of `duration` of a request without one; -1: the model decides */
  readonly defaultDuration: number
  readonly maxImages: number
  readonly maxVideos: number
  readonly maxAudios: number
  /** of all input videos together, and of all input audios together */
  readonly maxInputSeconds: number
  /** whether audios may be the only references */
  readonly audioAlone: boolean
  /** top-level fields that other families do not have */
  readonly fields: readonly string[]
}

export const families: Readonly<Record<VideoModel['family'], Family>> = {
  '2.5': {
    ...{ minSeconds: 4, maxSeconds: 30, defaultDuration: -1 },
    ...{ maxImages: 30, maxVideos: 10, maxAudios: 10, maxInputSeconds: 30, audioAlone: true },
    fields: ['omni_reference_task_type', 'generate_audio', 'output_format', 'draft', 'priority', 'tools'],
  },
  '2.0': {
    ...{ minSeconds: 4, maxSeconds: 15, defaultDuration: 5 },
    ...{ maxImages: 9, maxVideos: 3, maxAudios: 3, maxInputSeconds: 15, audioAlone: false },
    fields: ['generate_audio', 'priority', 'tools'],
  },
  '1.0': {
    ...{ minSeconds: 2, maxSeconds: 12, defaultDuration: 5 },
    ...{ maxImages: 0, maxVideos: 0, maxAudios: 0, maxInputSeconds: 0, audioAlone: false },
    fields: ['frames', 'seed', 'camera_fixed'],
  },
}

/** The default models. */
export const defaultVideoModels: readonly VideoModel[] = [
  { id: 'doubao-seedance-2-5-260628', family: '2.5', resolutions: ['480p', '720p', '1080p'], maxRunning: 3 },
  { id: 'doubao-seedance-2-0-260128', family: '2.0', resolutions: ['480p', '720p', '1080p', '4k'] },
  { id: 'doubao-seedance-2-0-fast-260128', family: '2.0', resolutions: ['480p', '720p'] },
  { id: 'doubao-seedance-2-0-mini-260615', family: '2.0', resolutions: ['480p', '720p'] },
  {
    ...{ id: 'doubao-seedance-1-0-pro-250528', family: '1.0' },
    ...{ resolutions: ['480p', '720p', '1080p'], defaultResolution: '1080p' },
  },
  {
    ...{ id: 'doubao-seedance-1-0-pro-fast-251015', family: '1.0', lastFrame: false },
    ...{ resolutions: ['480p', '720p', '1080p'], defaultResolution: '1080p' },
  },
  {
    ...{ id: 'doubao-seedance-1-0-lite-i2v-250428', family: '1.0', maxRunning: 5, maxImages: 4 },
    resolutions: ['480p', '720p', '1080p'],
  },
]

/** The default endpoints. */
export const defaultEndpoints: readonly VideoEndpoint[] = [
  { id: 'ep-20260101000000-video', model: 'doubao-seedance-2-0-260128' },
  { id: 'ep-20260101000000-other', model: 'doubao-seedance-2-0-260128' },
]

type Sizes = Readonly<Record<string, readonly [width: number, height: number]>>

/** Width and height of each resolution in landscape formats. Portrait formats have them exchanged. */
const sizes: Readonly<Record<Resolution, Sizes>> = {
  '480p': { '16:9': [864, 496], '4:3': [752, 560], '1:1': [640, 640], '21:9': [992, 432] },
  '720p': { '16:9': [1280, 720], '4:3': [1112, 834], '1:1': [960, 960], '21:9': [1470, 630] },
  '1080p': { '16:9': [1920, 1080], '4:3': [1664, 1248], '1:1': [1440, 1440], '21:9': [2206, 946] },
  '4k': { '16:9': [3840, 2160], '4:3': [3326, 2494], '1:1': [2880, 2880], '21:9': [4398, 1886] },
}

/** The ratios of a request. */
export const ratios = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive'] as const
export type Ratio = (typeof ratios)[number]

/** The number of pixels of a frame. `ratio` is not `adaptive`. */
export const pixelsOf = (resolution: Resolution, ratio: string): number => {
  const [width = '16', height = '9'] = ratio.split(':')
  const table = sizes[resolution]
  const [w, h] = table[ratio] ?? table[`${height}:${width}`] ?? table['16:9'] ?? [0, 0]
  return w * h
}
