import type { Leak } from './leak.ts'
import type { TextFaultKind } from './text/faults.ts'

/** Ways in which an upstream goes wrong. `work` says whether the call takes effect first; default no. */
export type FaultKind =
  /** resets the connection before anything is done */
  | { readonly kind: 'refuse' }
  /** does the work, then resets the connection without an answer */
  | { readonly kind: 'reset-after' }
  /** never answers; the connection stays open */
  | { readonly kind: 'hang'; readonly work?: boolean }
  /** goes on after so many ms of real time */
  | { readonly kind: 'delay'; readonly ms: number }
  /** stops before the work (default) or between work and answer until `release` */
  | { readonly kind: 'hold'; readonly when?: 'before' | 'after' }
  /** answers with another status; the default body is an error envelope with code InternalError */
  | {
      readonly kind: 'status'
      readonly status: number
      readonly body?: string
      readonly headers?: Readonly<Record<string, string | string[]>>
      readonly work?: boolean
    }
  /** does the work, announces the whole answer, sends `keep` bytes of it (default half) and closes */
  | { readonly kind: 'truncate'; readonly keep?: number }
  /** does the work, answers its status with a body that is not JSON (default an HTML page) */
  | { readonly kind: 'not-json'; readonly body?: string }
  /** does the work, answers 200 without a body */
  | { readonly kind: 'empty' }
  /** answers 302 (or `status`) to another address */
  | { readonly kind: 'redirect'; readonly location: string; readonly status?: number }
  /** does the work, answers gzip-coded, asked or not */
  | { readonly kind: 'gzip' }
  /** adds headers to the answer, or replaces them */
  | { readonly kind: 'headers'; readonly headers: Readonly<Record<string, string | string[]>> }
  /**
   * adds every one of `HOSTILE_HEADERS`, under another status where one is given; `page`: the body is an HTML page with a
   * script, and says so
   */
  | { readonly kind: 'hostile-headers'; readonly status?: number; readonly page?: boolean }
  /**
   * tells the caller the credential: `body` (default) in a field of the JSON, of every event of a stream; `content` in front of
   * every text in it; `header` in `x-request-id`. `form`: as it is (default), with its first character as `\uXXXX`, in
   * base64, or with every byte percent-encoded. Of the ark shape it is the secret key
   */
  | ({ readonly kind: 'leak' } & Leak)
  /** puts an item of a group that was not asked for in front of a list */
  | { readonly kind: 'foreign' }
  /** takes one field away from every item of a list */
  | { readonly kind: 'missing-field'; readonly field: string }
  /** a list without items, total 0, no next page */
  | { readonly kind: 'no-data' }
  /** a list in cursor mode that names the token it was asked with as the next one, for ever */
  | { readonly kind: 'repeat-cursor' }
  | TextFaultKind

/** When a fault strikes. */
export interface FaultTiming {
  /** an exact name or a pattern; default every action. List faults strike lists of assets and groups only, text faults calls that generate */
  readonly action?: string | RegExp
  /** default all of them; what is about generated text strikes `text` only */
  readonly shape?: 'rest' | 'ark' | 'text'
  /** how often; default 1, Infinity for always */
  readonly times?: number
  /** lets the first n matching calls pass; default 0 */
  readonly after?: number
  /** 0 to 1; default 1. The dice are the same in every run */
  readonly probability?: number
}

/** What goes wrong, and when. */
export type Fault = FaultKind & FaultTiming

/** A fault that was switched on. */
export interface FaultHandle {
  readonly id: number
  readonly fault: Fault
  /** how often it took effect: after the work where the work is done first; for a `hold`, when it stops a call */
  readonly hits: number
  /** resolves when `hits` has reached a number, default 1 */
  struck(hits?: number): Promise<void>
  /** lets go of every call that a `hold` stops, now and later */
  release(): void
  /** switches it off, and releases */
  remove(): void
}

/** The switchboard. Several faults may strike one call, in the order in which they were added. */
export interface Faults {
  add(fault: Fault): FaultHandle
  /** removes all of them */
  clear(): void
  /** those that are switched on, used up or not, in the order in which they were added */
  list(): FaultHandle[]
}
