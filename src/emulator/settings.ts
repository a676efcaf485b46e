import { checkFace, FACE_DEFAULTS, type FaceOptions } from './face/options.ts'
import { DOCUMENTED_LIMITS } from './limits.ts'
import { type Outcome, outcomeByUrl } from './processing-outcome.ts'
import type { Asset } from './records.ts'
import { type TextOptions, type TextSettings, textSettingsOf } from './text/options.ts'
import type { Times } from './times.ts'

/** How the emulated account behaves; everything has a default. */
export interface EmulatorOptions extends FaceOptions {
  /** 0 to 65535; default 0, which picks a free one */
  readonly port?: number
  /** address to listen on; default `127.0.0.1` */
  readonly host?: string
  /** ms since 1970; default `Date.now`. Times, processing, limits and signatures follow it; delays of faults do not */
  readonly clock?: () => number
  /** ms until an asset leaves Processing; default 2000; 0 is at once, Infinity never */
  readonly processingMs?: number
  /** how processing ends; asked once for each asset; default `outcomeByUrl` */
  readonly outcome?: (asset: Asset) => Outcome
  /** bearer key of the rest shape; default `emulator-key` */
  readonly key?: string
  /** of the ark shape; default `AKLTEMULATOR` */
  readonly accessKey?: string
  /** of the ark shape; default `emulator-secret` */
  readonly secretKey?: string
  /** of the signature's scope; default `cn-beijing` */
  readonly region?: string
  /** the project that the rest shape lives in and new groups of `library` go to; default `default`, as for ark calls */
  readonly project?: string
  /** calls per second by action, for the whole account; default the documented ones; `{}` turns them off */
  readonly limits?: Readonly<Record<string, number>>
  /** the most groups and assets of the account, together; default no limit */
  readonly quota?: number
  /** how CreateTime and UpdateTime are written; default `rfc3339` */
  readonly times?: Times
  /** the most that PageNumber times PageSize may come to; default 10000 */
  readonly maxPageDepth?: number
  /** text generation */
  readonly text?: TextOptions
}

/** The options with every default in place. */
export type Settings = Required<EmulatorOptions> & { readonly text: TextSettings }

export function settingsOf(options: EmulatorOptions): Settings {
  const settings: Settings = {
    port: 0,
    host: '127.0.0.1',
    clock: Date.now,
    processingMs: 2000,
    outcome: outcomeByUrl,
    key: 'emulator-key',
    accessKey: 'AKLTEMULATOR',
    secretKey: 'emulator-secret',
    region: 'cn-beijing',
    project: 'default',
    limits: DOCUMENTED_LIMITS,
    quota: Number.POSITIVE_INFINITY,
    times: 'rfc3339',
    maxPageDepth: 10_000,
    ...FACE_DEFAULTS,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    text: textSettingsOf(options.text),
  }
  for (const name of ['processingMs', 'quota', 'maxPageDepth'] as const) {
    if (!(settings[name] >= 0)) throw new RangeError(`${name} must be a number from 0`)
  }
  for (const [action, limit] of Object.entries(settings.limits)) {
    if (!(limit >= 0)) throw new RangeError(`limits.${action} must be a number from 0`)
  }
  checkFace(settings)
  return settings
}
