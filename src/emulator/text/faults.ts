import type { Call } from '../calls.ts'

/** What a scripted answer sends next: text or bytes as they are, or a wait for ms or for a promise. */
export type ScriptChunk = string | Uint8Array | { readonly wait: number | Promise<unknown> }

/** An answer given by the byte, in the place of a generated one. */
export interface Script {
  /** default 200 */
  readonly status?: number
  /** default `content-type: text/event-stream` */
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** sent one by one, no faster than the caller reads; may be endless. Absent: no body */
  readonly chunks?: Iterable<ScriptChunk>
  /** how it ends: `close` tidily (default), `cut` (FIN before the body is whole), `reset` */
  readonly end?: 'close' | 'cut' | 'reset'
}

/** How many events pass before something happens; absent: all but the one that ends the answer. */
interface AfterEvents {
  readonly events?: number
}

/**
 * Ways in which generated text goes wrong on its way. By default they strike text calls that generate, of both protocols;
 * what is about events leaves plain answers alone, but `cut` and `silence` strike these in the middle of their body.
 */
export type TextFaultKind =
  /** answers this, whatever was asked */
  | { readonly kind: 'script'; readonly script: Script | ((call: Call) => Script) }
  /**
   * breaks off: `how` is `fin` (default; the connection closes in the middle of the body), `reset`, or `clean`, which looks
   * like an end. `inside` breaks the next event in two
   */
  | ({ readonly kind: 'cut'; readonly how?: 'fin' | 'reset' | 'clean'; readonly inside?: boolean } & AfterEvents)
  /**
   * sends an error under status 200 and ends; `events` defaults to 0. `data`: `data: {"error":…}` (default), `event`: the same
   * as `event: error`, in the form of the protocol, `failed`: `response.failed` on responses, else as `data`
   */
  | ({
      readonly kind: 'error-event'
      readonly form?: 'data' | 'event' | 'failed'
      readonly error?: object
      /** whether `[DONE]` follows; default no */
      readonly done?: boolean
    } & AfterEvents)
  /** stalls until `release`, or for `ms`: after so many events (default 0, that is after the headers), or before the headers */
  | { readonly kind: 'silence'; readonly events?: number | 'headers'; readonly ms?: number }
  /** leaves `[DONE]` out */
  | { readonly kind: 'no-done' }
  /** ends with one `[DONE]` on both protocols */
  | { readonly kind: 'done' }
  | { readonly kind: 'done-twice' }
  /** a comment before every event; default `: ping` */
  | { readonly kind: 'comments'; readonly text?: string }
  /** names every event that has no name, after its `object` */
  | { readonly kind: 'named-events' }
  /** an event `keepalive` before every event */
  | { readonly kind: 'keepalive-events' }
  /** `data:` without anything before every event */
  | { readonly kind: 'empty-data-lines' }
  /** lines end with CR LF, or with CR */
  | { readonly kind: 'crlf'; readonly ending?: '\r\n' | '\r' }
  /** sends pieces of 1 to `bytes` bytes, default 3, each by itself */
  | { readonly kind: 'split'; readonly bytes?: number }
  /** a byte order mark in front of the body */
  | { readonly kind: 'bom' }
  | { readonly kind: 'no-content-type' }
  /** answers as if `stream` were false */
  | { readonly kind: 'json-to-stream' }
  /** answers as if `stream` were true */
  | { readonly kind: 'sse-to-plain' }
  /** chat: what was used so far on every chunk */
  | { readonly kind: 'usage-on-every-chunk' }
  | { readonly kind: 'no-usage' }
  /** chat: the deltas of tool calls do not say which call they belong to */
  | { readonly kind: 'tool-delta-without-index' }
  /** responses: no deltas of arguments, only the whole */
  | { readonly kind: 'arguments-only-in-done' }
  /** fields that no protocol knows, one of them a number beyond 2^53 */
  | { readonly kind: 'extra-fields' }
  /** chat: the last thought comes in the chunk of the first word */
  | { readonly kind: 'reasoning-in-content-chunk' }
  /** pads the first event to so many bytes; default 1 MiB */
  | { readonly kind: 'big-event'; readonly bytes?: number }
