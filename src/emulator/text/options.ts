import { setTimeout as sleep } from 'node:timers/promises'
import { withDefaults } from '../shared/with-defaults.ts'
import { defaultModels, type TextModel } from './catalogue.ts'

/** Options of the emulated text generation. Every option has a default. */
export interface TextOptions {
  /** bearer key; default `emulator-text-key` */
  readonly key?: string
  /** the models; default several models with different capabilities */
  readonly models?: readonly TextModel[]
  /** ms for each generated token; default 0. A non-streaming response waits for the time of all its tokens */
  readonly msPerDelta?: number
  /** waits `ms`, or until the signal is aborted; default real time */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>
  /** maximum number of calls that generate in any window of one minute of the emulator's clock; default no limit */
  readonly requestsPerMinute?: number
  /**
   * whether streams of the Responses API end with `data: [DONE]`, as those of chat completions do; default false, as at
   * OpenAI
   */
  readonly doneOnResponses?: boolean
  /** whether unknown top-level fields are rejected, as at OpenAI; default false */
  readonly rejectUnknownFields?: boolean
  /**
   * lifetime of a stored response in ms of the emulator's clock; default 30 days, as at OpenAI. Conversations do not
   * expire
   */
  readonly responsesKeptMs?: number
  /** ms of the emulator's clock that a response with `background: true` stays `queued`; default 500 */
  readonly queuedMs?: number
  /** ms of the emulator's clock that it then stays `in_progress`, independent of its length; default 2000 */
  readonly backgroundMs?: number
}

/** The text options with all defaults applied. */
export type TextSettings = Required<TextOptions>

/** Applies the defaults. Throws a `RangeError` for a negative number. */
export const textSettingsOf = (options: TextOptions = {}): TextSettings =>
  withDefaults<TextSettings>(options, defaults, 'text.')

const defaults: TextSettings = {
  key: 'emulator-text-key',
  models: defaultModels,
  msPerDelta: 0,
  // an abort ends the wait early; the caller checks the signal
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
  requestsPerMinute: Number.POSITIVE_INFINITY,
  doneOnResponses: false,
  rejectUnknownFields: false,
  responsesKeptMs: 30 * 86_400_000,
  queuedMs: 500,
  backgroundMs: 2000,
}
