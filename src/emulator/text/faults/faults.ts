import type { Call } from '../../calls.ts'
import {
  amount,
  callback,
  either,
  type FieldType,
  flag,
  object,
  oneOf,
  optional,
  text,
} from '../../faults/field-types.ts'

/** One step of a scripted response: text or bytes to send unchanged, or a wait in ms or for a promise. */
export type ScriptChunk = string | Uint8Array | { readonly wait: number | Promise<unknown> }

/** A scripted response, sent byte for byte in place of a generated one. */
export interface Script {
  /** default 200 */
  readonly status?: number
  /** default `content-type: text/event-stream` */
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** body chunks, sent one by one with backpressure; may be endless. Absent: no body */
  readonly chunks?: Iterable<ScriptChunk>
  /**
   * how it ends: `close` (default) completes the response, `cut` closes the connection (FIN) before the body is
   * complete, `reset` resets it
   */
  readonly end?: 'close' | 'cut' | 'reset'
}

/** The number of events before the fault takes effect; absent: all events before the final one. */
interface AfterEvents {
  readonly events?: number
}

/**
 * The kinds of faults of text generation. By default they apply to all calls that generate, in both APIs. Faults of
 * events do not change a non-streaming response, but `cut` and `silence` take effect in the middle of its body.
 */
export type TextFaultKind =
  /** responds with this script */
  | { readonly kind: 'script'; readonly script: Script | ((call: Call) => Script) }
  /**
   * ends the response early. `how`: `fin` (default) closes the connection within the body, `reset` resets it, `clean`
   * completes the body. `inside`: sends the first half of the next event before that
   */
  | ({ readonly kind: 'cut'; readonly how?: 'fin' | 'reset' | 'clean'; readonly inside?: boolean } & AfterEvents)
  /**
   * sends an error with status 200 and ends the stream; `events` defaults to 0. `form`: `data` (default) sends `data:
   * {"error":…}`; `event` sends an `event: error` in the format of the API; `failed` sends `response.failed` in the
   * Responses API, and is the same as `data` in chat completions
   */
  | ({
      readonly kind: 'error-event'
      readonly form?: 'data' | 'event' | 'failed'
      readonly error?: object
      /** whether `[DONE]` follows; default false */
      readonly done?: boolean
    } & AfterEvents)
  /**
   * sends nothing until `release`, or for `ms`: after this number of events (default 0: after the headers), or before
   * the headers
   */
  | { readonly kind: 'silence'; readonly events?: number | 'headers'; readonly ms?: number }
  /** omits `[DONE]` */
  | { readonly kind: 'no-done' }
  /** ends with exactly one `[DONE]` in both APIs */
  | { readonly kind: 'done' }
  /** ends with two `[DONE]` events */
  | { readonly kind: 'done-twice' }
  /** sends an SSE comment before every event; default `: ping` */
  | { readonly kind: 'comments'; readonly text?: string }
  /** gives every event without an `event` field its `object` as name */
  | { readonly kind: 'named-events' }
  /** sends a `keepalive` event before every event */
  | { readonly kind: 'keepalive-events' }
  /** sends an empty `data:` line before every event */
  | { readonly kind: 'empty-data-lines' }
  /** ends lines with CR LF (default) or CR */
  | { readonly kind: 'crlf'; readonly ending?: '\r\n' | '\r' }
  /** splits the body into separate writes of 1 to `bytes` bytes, default 3 */
  | { readonly kind: 'split'; readonly bytes?: number }
  /** sends a byte order mark before the body */
  | { readonly kind: 'bom' }
  /** omits the Content-Type header */
  | { readonly kind: 'no-content-type' }
  /** responds with JSON although the request streams */
  | { readonly kind: 'json-to-stream' }
  /** responds with a stream although the request does not stream */
  | { readonly kind: 'stream-to-json' }
  /** chat: adds the usage so far to every chunk */
  | { readonly kind: 'usage-on-every-chunk' }
  /** omits the usage */
  | { readonly kind: 'no-usage' }
  /** chat: omits `index` in the deltas of tool calls */
  | { readonly kind: 'tool-delta-without-index' }
  /** responses: omits the deltas of function call arguments; only the `done` events have them */
  | { readonly kind: 'arguments-only-in-done' }
  /** adds unknown fields, one of them a number above 2^53 */
  | { readonly kind: 'extra-fields' }
  /** chat: puts the last reasoning delta into the chunk with the first content */
  | { readonly kind: 'reasoning-in-content-chunk' }
  /** pads the first event to `bytes` bytes; default 1 MiB */
  | { readonly kind: 'big-event'; readonly bytes?: number }

/** The fields of each kind of fault, without `kind`. */
export type FaultFields<Kind extends { readonly kind: string }> = {
  readonly [Name in Kind['kind']]: {
    readonly [Field in Exclude<keyof Extract<Kind, { readonly kind: Name }>, 'kind'>]-?: FieldType
  }
}

const events = optional(amount)

/** The fields of each kind of text fault. */
export const textFaultFields: FaultFields<TextFaultKind> = {
  script: { script: either(object, callback) },
  cut: { how: optional(oneOf('fin', 'reset', 'clean')), inside: optional(flag), events },
  'error-event': {
    form: optional(oneOf('data', 'event', 'failed')),
    error: optional(object),
    done: optional(flag),
    events,
  },
  silence: { events: optional(either(amount, oneOf('headers'))), ms: optional(amount) },
  'no-done': {},
  done: {},
  'done-twice': {},
  comments: { text: optional(text) },
  'named-events': {},
  'keepalive-events': {},
  'empty-data-lines': {},
  crlf: { ending: optional(oneOf('\r\n', '\r')) },
  split: { bytes: optional(amount) },
  bom: {},
  'no-content-type': {},
  'json-to-stream': {},
  'stream-to-json': {},
  'usage-on-every-chunk': {},
  'no-usage': {},
  'tool-delta-without-index': {},
  'arguments-only-in-done': {},
  'extra-fields': {},
  'reasoning-in-content-chunk': {},
  'big-event': { bytes: optional(amount) },
}
