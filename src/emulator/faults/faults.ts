import type { EmulatorAction } from '../action-names.ts'
import type { Call } from '../calls.ts'
import type { TextFaultKind } from '../text/faults/faults.ts'
import type { VideoFaultKind } from '../video/faults.ts'
import type { Leak } from './leak.ts'

/** The kinds of faults. `work`: whether the action runs and takes effect before the fault; default false. */
export type FaultKind =
  /** resets the connection before the action runs */
  | { readonly kind: 'reset-before' }
  /** runs the action, then resets the connection without a response */
  | { readonly kind: 'reset-after' }
  /** never responds; the connection stays open */
  | { readonly kind: 'hang'; readonly work?: boolean }
  /** waits `ms` of real time before the action runs */
  | { readonly kind: 'delay'; readonly ms: number }
  /** waits for `release`: before the action runs (default), or after it and before the response */
  | { readonly kind: 'hold'; readonly when?: 'before' | 'after' }
  /** responds with this status; the default body is an error envelope with code InternalError */
  | {
      readonly kind: 'status'
      readonly status: number
      readonly body?: string
      readonly headers?: Readonly<Record<string, string | string[]>>
      readonly work?: boolean
    }
  /** runs the action, announces the full Content-Length, sends `keep` bytes (default half) and closes the connection */
  | { readonly kind: 'truncate'; readonly keep?: number }
  /** runs the action, keeps its status, but sends a body that is not JSON (default an HTML page) */
  | { readonly kind: 'not-json'; readonly body?: string }
  /** runs the action, responds 200 without a body */
  | { readonly kind: 'empty' }
  /** responds 302 (or `status`) with this `location` */
  | { readonly kind: 'redirect'; readonly location: string; readonly status?: number }
  /** runs the action, sends the body with gzip coding whether or not the client accepts it */
  | { readonly kind: 'gzip' }
  /** adds or replaces response headers */
  | { readonly kind: 'headers'; readonly headers: Readonly<Record<string, string | string[]>> }
  /**
   * adds all `hostileHeaders`, and sets `status` if given; `page`: the body is an HTML page with a script, sent as
   * `text/html`
   */
  | { readonly kind: 'hostile-headers'; readonly status?: number; readonly page?: boolean }
  /**
   * puts the upstream credential into the response: `location: 'body'` (default) adds a JSON field (in every event of a
   * stream); `content` prefixes every text; `header` uses `x-request-id`. `form`: unchanged (default), with the first
   * character as `\uXXXX`, in base64, or with every byte percent-encoded. For `ark`, the credential is the secret key
   */
  | ({ readonly kind: 'leak' } & Leak)
  /** adds an item of a group that was not requested at the start of a list */
  | { readonly kind: 'foreign' }
  /** removes one field from every item of a list */
  | { readonly kind: 'missing-field'; readonly field: string }
  /** responds with an empty list: total 0, no next page */
  | { readonly kind: 'no-data' }
  /** in cursor mode, always returns the NextToken of the request as the next one */
  | { readonly kind: 'repeat-cursor' }
  | TextFaultKind
  | VideoFaultKind

/** To which calls a fault applies. */
export interface FaultTiming {
  /**
   * exact name or pattern; default all actions, but lists of assets and groups for list faults, calls that generate for
   * text faults, and create calls for `rate-limit`
   */
  readonly action?: EmulatorAction | RegExp
  /** default all; text faults apply to `text` only, video faults to `video` only */
  readonly api?: Call['api']
  /** number of calls to which it applies; default 1, Infinity for all */
  readonly times?: number
  /** number of matching calls to skip first; default 0 */
  readonly after?: number
  /** 0 to 1; default 1. The random sequence is the same in every run */
  readonly probability?: number
}

/** A fault: its kind, and the calls to which it applies. */
export type Fault = FaultKind & FaultTiming

/** A registered fault. */
export interface FaultHandle {
  readonly id: number
  readonly fault: Fault
  /**
   * how often it has taken effect. If the action runs first, it counts after the action; a `hold` counts when it stops
   * a call
   */
  readonly hits: number
  /** resolves when `hits` reaches the given number, default 1 */
  waitForHits(hits?: number): Promise<void>
  /** releases all calls that a `hold` has stopped; later calls no longer wait */
  release(): void
  /** unregisters the fault and releases its calls */
  remove(): void
}

/** The fault registry. Several faults can apply to one call, in the order in which they were added. */
export interface Faults {
  /**
   * Throws a `TypeError` for an unknown kind or field, a field of the wrong type, and an action to which the fault
   * cannot apply.
   */
  add(fault: Fault): FaultHandle
  /** removes all faults */
  clear(): void
  /** all registered faults, in the order in which they were added, including those whose `times` are used up */
  list(): FaultHandle[]
}

/** Whether a fault takes effect before the action runs, and before a response is generated. */
export const isEarly = (fault: FaultKind): boolean => {
  if (fault.kind === 'hang' || fault.kind === 'status') return !fault.work
  if (fault.kind === 'hold') return fault.when !== 'after'
  return fault.kind === 'reset-before' || fault.kind === 'delay' || fault.kind === 'redirect'
}
