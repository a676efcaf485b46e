/** What the models of a family have in common (https://www.volcengine.com/docs/82379/1520757). */
export interface VideoFamily {
  readonly minSeconds: number
  readonly maxSeconds: number
  /** Of a request without a duration; -1: the model decides. */
  readonly defaultSeconds: number
  /** Of a request without one. */
  readonly resolution: string
  readonly resolutions: readonly string[]
  /** Of all input videos together, and of all input audios together. */
  readonly maxInputSeconds: number
  /** The most references of each kind. */
  readonly maxImages: number
  readonly maxVideos: number
  readonly maxAudios: number
  /** Whether audios may be the only references. */
  readonly audioAlone: boolean
  readonly hasLastFrame: boolean
  /** Top-level fields that not all families have. */
  readonly fields: readonly string[]
}

const seedance25: VideoFamily = {
  ...{ minSeconds: 4, maxSeconds: 30, defaultSeconds: -1 },
  ...{ resolution: '720p', resolutions: ['480p', '720p', '1080p'] },
  ...{ maxInputSeconds: 30, maxImages: 30, maxVideos: 10, maxAudios: 10, audioAlone: true, hasLastFrame: true },
  fields: ['omni_reference_task_type', 'generate_audio', 'output_format', 'draft', 'priority', 'tools'],
}

const seedance20: VideoFamily = {
  ...{ minSeconds: 4, maxSeconds: 15, defaultSeconds: 5 },
  ...{ resolution: '720p', resolutions: ['480p', '720p', '1080p', '4k'] },
  ...{ maxInputSeconds: 15, maxImages: 9, maxVideos: 3, maxAudios: 3, audioAlone: false, hasLastFrame: true },
  fields: ['generate_audio', 'priority', 'tools'],
}

const seedance10: VideoFamily = {
  ...{ minSeconds: 2, maxSeconds: 12, defaultSeconds: 5 },
  ...{ resolution: '1080p', resolutions: ['480p', '720p', '1080p'] },
  ...{ maxInputSeconds: 0, maxImages: 0, maxVideos: 0, maxAudios: 0, audioAlone: false, hasLastFrame: true },
  fields: ['frames', 'seed', 'camera_fixed', 'service_tier'],
}

const families: readonly (readonly [name: RegExp, family: VideoFamily])[] = [
  [/seedance-2-?5/, seedance25],
  [/seedance-2-?0-(?:fast|mini)/, { ...seedance20, resolutions: ['480p', '720p'] }],
  [/seedance-2-?0/, seedance20],
  [/seedance-1-?\d.*lite/, { ...seedance10, resolution: '720p', maxImages: 4 }],
  [/seedance-1-?\d-pro-fast/, { ...seedance10, hasLastFrame: false }],
  [/seedance-1/, seedance10],
]

/** The family of a model. Undefined: an endpoint, whose model nobody knows, or a model that is not known yet. */
export const familyOf = (model: string): VideoFamily | undefined => families.find(([name]) => name.test(model))?.[1]

/** For what is not known, as the newest models use the most. */
export const newestFamily: VideoFamily = seedance25

/** Fields that some families do not have. */
export const familyFields: ReadonlySet<string> = new Set(families.flatMap(([, { fields }]) => fields))
