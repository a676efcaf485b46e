import { assetActions } from './action-names.ts'
import type { RateLimits } from './call-limits.ts'
import { checkFace, type FaceOptions, type FaceSettings, faceDefaults } from './face/options.ts'
import { type Outcome, outcomeByUrl } from './library/processing-outcome.ts'
import type { Asset } from './library/records.ts'
import type { TimeFormat } from './shared/times.ts'
import { withDefaults } from './shared/with-defaults.ts'
import { type TextOptions, type TextSettings, textSettingsOf } from './text/options.ts'
import { type VideoOptions, type VideoSettings, videoSettingsOf } from './video/options.ts'

/** Options of the emulator. Every option has a default. */
export interface EmulatorOptions extends FaceOptions {
  /** 0 to 65535; default 0: the system chooses a free port */
  readonly port?: number
  /** address to listen on; default `127.0.0.1` */
  readonly host?: string
  /**
   * returns ms since 1970; default `Date.now`. TimeFormat, processing, rate limits and signatures use it; `delay`
   * faults use real time
   */
  readonly clock?: () => number
  /** ms that an asset stays in Processing; default 2000; 0: it is processed at once; Infinity: processing never ends */
  readonly processingMs?: number
  /** decides the result of processing, once for each asset; default `outcomeByUrl` */
  readonly outcome?: (asset: Asset) => Outcome
  /** bearer key of the `rest` API; default `emulator-key` */
  readonly key?: string
  /** access key of the `ark` API; default `AKLTEMULATOR` */
  readonly accessKey?: string
  /** secret key of the `ark` API; default `emulator-secret` */
  readonly secretKey?: string
  /** region in the credential scope of signatures; default `cn-beijing` */
  readonly region?: string
  /**
   * number of the account, 0 to 599; default 0. Emulators with other numbers give other ids, as the accounts of a
   * vendor do
   */
  readonly account?: number
  /** project of the `rest` API and of groups that `library` adds; default `default`, as for `ark` requests */
  readonly project?: string
  /** rate limits of the account; default none; `documentedLimits`: those of the vendor */
  readonly limits?: RateLimits
  /** maximum number of groups plus assets of the account; default no limit */
  readonly quota?: number
  /** format of CreateTime and UpdateTime; default `rfc3339` */
  readonly times?: TimeFormat
  /** maximum of PageNumber times PageSize; default 10000 */
  readonly maxPageDepth?: number
  /** options of text generation */
  readonly text?: TextOptions
  /** options of video generation */
  readonly video?: VideoOptions
}

/** The options with all defaults applied. */
export type Settings = Required<EmulatorOptions> & { readonly text: TextSettings; readonly video: VideoSettings }

/** Applies the defaults. Throws a `RangeError` or `TypeError` for an invalid option. */
export const settingsOf = (options: EmulatorOptions): Settings => {
  const settings: Settings = {
    ...faceDefaults,
    ...withDefaults(options, defaults),
    text: textSettingsOf(options.text),
    video: videoSettingsOf(options.video),
  }
  for (const [action, limit] of Object.entries(settings.limits)) {
    if (!assetActions.some((name) => name === action)) throw new TypeError(`limits: there is no action ${action}`)
    if (!(limit >= 0)) throw new RangeError(`limits.${action} must be a number from 0`)
  }
  if (!(Number.isInteger(settings.account) && settings.account >= 0 && settings.account < 600))
    throw new RangeError('account must be an integer from 0 to 599')
  checkFace(settings)
  return settings
}

const defaults: Omit<Settings, keyof FaceSettings | 'text' | 'video'> = {
  port: 0,
  host: '127.0.0.1',
  clock: Date.now,
  processingMs: 2000,
  outcome: outcomeByUrl,
  key: 'emulator-key',
  accessKey: 'AKLTEMULATOR',
  secretKey: 'emulator-secret',
  region: 'cn-beijing',
  account: 0,
  project: 'default',
  limits: {},
  quota: Number.POSITIVE_INFINITY,
  times: 'rfc3339',
  maxPageDepth: 10_000,
}
