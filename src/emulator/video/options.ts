import { withDefaults } from '../shared/with-defaults.ts'
import { defaultEndpoints, defaultVideoModels, type VideoEndpoint, type VideoModel } from './models.ts'
import type { PresetAsset } from './request/content.ts'
import { outcomeByPrompt, type VideoOutcome, type VideoTask } from './tasks/task.ts'

/** Options of the emulated video generation. Every option has a default. */
export interface VideoOptions {
  /** bearer key; default `emulator-video-key` */
  readonly key?: string
  /** the models; default seven models of three families */
  readonly models?: readonly VideoModel[]
  /** inference endpoints; default two of one model */
  readonly endpoints?: readonly VideoEndpoint[]
  /** the vendor's assets; default one of each type */
  readonly presetAssets?: readonly PresetAsset[]
  /** ms of the emulator's clock that a task stays `queued` at least; default 500; Infinity: no task ever starts */
  readonly queuedMs?: number
  /** ms of the emulator's clock that a task runs; default 2000; Infinity: until `finish` or until it expires */
  readonly runningMs?: number | ((task: VideoTask) => number)
  /** decides how a task ends, once, when it starts; default `outcomeByPrompt` */
  readonly outcome?: (task: VideoTask) => VideoOutcome
  /** tasks that run at once, by id of the model, `*` for all others; default those of the models */
  readonly maxRunning?: Readonly<Record<string, number>>
  /** queued tasks of the account; default 120. More are 429 `QuotaExceeded` */
  readonly maxQueued?: number
  /**
   * what happens to a task that finds all running slots taken: `queue` (default), or `reject` with 429
   * `InflightBatchsizeExceeded`
   */
  readonly whenFull?: 'queue' | 'reject'
  /** create calls of a model; default no limit */
  readonly createsPerMinute?: number
  /** calls of each other action of the API; default no limit */
  readonly callsPerMinute?: number
  /** ms of real time without an answer after which a callback counts as lost; default 5000 */
  readonly callbackTimeoutMs?: number
  /** ms of the emulator's clock that links of results are valid; default 24 hours */
  readonly linkMs?: number
  /** downloads of a result; default 100 */
  readonly maxDownloads?: number
  /** whether each GET signs the links of results anew; default false: they are signed once, at the end of the task */
  readonly renewsLinks?: boolean
  /** size of a video in bytes; default, and at least, that of the sample: about 3 kB */
  readonly resultBytes?: number
  /** base URL of the links of results; default `origin`. For a host name, where a client rejects IP addresses */
  readonly resultsUrl?: string
  /** ms of the emulator's clock after which lists contain a new task; default 0 */
  readonly listedAfterMs?: number
  /** whether lists contain expired tasks; default true */
  readonly listsExpired?: boolean
}

/** The video options with all defaults applied. */
export type VideoSettings = Required<VideoOptions>

/** Applies the defaults. Throws a `RangeError` or `TypeError` for an invalid option. */
export const videoSettingsOf = (options: VideoOptions = {}): VideoSettings => {
  const settings = withDefaults(options, defaults, 'video.')
  const models = new Set(settings.models.map(({ id }) => id))
  for (const { id, model } of settings.endpoints)
    if (!models.has(model)) throw new TypeError(`video.endpoints: ${id} has no model ${model}`)
  for (const [model, max] of Object.entries(settings.maxRunning)) {
    if (model !== '*' && !models.has(model)) throw new TypeError(`video.maxRunning: there is no model ${model}`)
    if (!(max >= 0)) throw new RangeError(`video.maxRunning.${model} must be a number from 0`)
  }
  return settings
}

const defaults: VideoSettings = {
  key: 'emulator-video-key',
  models: defaultVideoModels,
  endpoints: defaultEndpoints,
  presetAssets: [
    { id: 'asset-20250101000000-face1', type: 'Image' },
    { id: 'asset-20250101000000-clip1', type: 'Video' },
    { id: 'asset-20250101000000-tune1', type: 'Audio' },
  ],
  queuedMs: 500,
  runningMs: 2000,
  outcome: outcomeByPrompt,
  maxRunning: {},
  maxQueued: 120,
  whenFull: 'queue',
  createsPerMinute: Number.POSITIVE_INFINITY,
  callsPerMinute: Number.POSITIVE_INFINITY,
  callbackTimeoutMs: 5000,
  linkMs: 86_400_000,
  maxDownloads: 100,
  renewsLinks: false,
  resultBytes: 0,
  resultsUrl: '',
  listedAfterMs: 0,
  listsExpired: true,
}
