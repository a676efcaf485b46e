import { setTimeout as sleep } from 'node:timers/promises'
import { MODELS, type TextModel } from './catalogue.ts'

/** How the emulated text generation behaves; everything has a default. */
export interface TextOptions {
  /** bearer key; default `emulator-text-key` */
  readonly key?: string
  /** the catalogue; default a handful of models that differ in what they can do */
  readonly models?: readonly TextModel[]
  /** ms that one token takes; default 0. A plain answer comes after all of its tokens' time */
  readonly msPerDelta?: number
  /** waits so many ms, or until the signal is aborted; default real time */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>
  /** calls that generate, in any window of one minute by the emulator's clock; default no limit */
  readonly requestsPerMinute?: number
  /** whether streams of responses end with `data: [DONE]`, as those of chat completions do; default false, as the original */
  readonly doneOnResponses?: boolean
  /** whether top-level fields that the protocol does not have are refused, as the original does; default false */
  readonly refuseUnknown?: boolean
  /** ms of the emulator's clock that a stored response is kept; default 30 days, as the original. Conversations are kept for ever */
  readonly responsesKeptMs?: number
  /** ms of the emulator's clock that a response with `background: true` waits before it begins; default 500 */
  readonly queuedMs?: number
  /** ms of the emulator's clock that it then takes, however long it is; default 2000 */
  readonly backgroundMs?: number
}

/** The options with every default in place. */
export type TextSettings = Required<TextOptions>

export function textSettingsOf(options: TextOptions = {}): TextSettings {
  const settings: TextSettings = {
    key: 'emulator-text-key',
    models: MODELS,
    msPerDelta: 0,
    // a signal cuts the wait short; whoever waits looks at it
    sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
    requestsPerMinute: Number.POSITIVE_INFINITY,
    doneOnResponses: false,
    refuseUnknown: false,
    responsesKeptMs: 30 * 86_400_000,
    queuedMs: 500,
    backgroundMs: 2000,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
  }
  for (const name of ['msPerDelta', 'requestsPerMinute', 'responsesKeptMs', 'queuedMs', 'backgroundMs'] as const) {
    if (!(settings[name] >= 0)) throw new RangeError(`text.${name} must be a number from 0`)
  }
  return settings
}
