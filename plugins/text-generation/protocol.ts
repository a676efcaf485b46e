import type { Json, JsonObject } from '../shared/json.ts'
import type { Frame } from '../sse-relay/index.ts'
import type { Assembly } from './assembly.ts'
import type { CheckedRequest } from './objects/ownership.ts'
import type { Addition } from './upstream/additions.ts'
import type { TextAction } from './upstream/client.ts'
import type { Capabilities } from './upstream/model-routing.ts'

/** What a request has to say before anything is done with it. */
export interface Checked {
  readonly model: string
  /** Whether the caller wants a stream. */
  readonly stream: boolean
  /** Whether the caller wants usage in a chat stream. */
  readonly includeUsage?: boolean
  /** Whether the upstream is to keep the answer, so that it can be continued and fetched. */
  readonly stores?: boolean
  /** Whether the caller wants to fetch the answer later. */
  readonly background?: boolean
  /** Whether the upstream is asked in words of the other protocol. */
  readonly bridged?: boolean
}

/** A protocol as a caller speaks it. */
export interface Protocol {
  /** Throws TextProblem 400 that names the field. */
  check(request: Json, peculiarities?: Capabilities): Checked
  /** How a checked request is put to an upstream. Throws TextProblem 400 for what cannot be put to this one. */
  put(request: CheckedRequest, checked: Checked, peculiarities: Capabilities): Exchange
}

/** One request on its way: what the upstream is sent, and what its answers mean in the caller's protocol. */
export interface Exchange {
  readonly action: TextAction
  /** Below the upstream's address. */
  readonly path: string
  /**
   * The request as it goes upstream, with what the gateway puts in, except for some of that. Without `stream` it says nothing of streams at all. Undefined: a
   * GET.
   */
  body(without: ReadonlySet<Addition>): Json | undefined
  /** Whether the upstream's answers are in the caller's protocol as they stand. */
  readonly native: boolean
  /** Whether a plain answer's object is one of this protocol. */
  isAnswer(answer: JsonObject): boolean
  /** Whether the answer says only what has begun, and goes on without its caller: it is asked for plainly then. */
  readonly atOnce?: boolean
  /** Whether an event completes an answer, after which nothing matters; else it is `[DONE]`, or a clean end. */
  readonly terminal: boolean
  /** A plain answer's object, parsed exactly, as the events that a stream would have brought: text of a whole event stream. */
  eventsOf(answer: unknown): string
  /** Takes the upstream's events, and makes the caller's answer of them. */
  assemble(): Assembly
  /** Takes the upstream's frames, and makes the caller's stream of them. */
  relay(): Relaying
}

/** What becomes of a stream on its way to the caller. */
export interface Relaying {
  /** Undefined: passes as it came; bytes: instead of it; null: nothing. */
  onFrame(frame: Frame): Uint8Array | null | undefined
  /** What the stream ends with, when the upstream has ended: `broken` says that it did not close cleanly. */
  onEnd(broken: boolean): string
  /** Whether all of the answer has passed. */
  readonly complete: boolean
  /** As the upstream reported it. */
  readonly usage: object | undefined
}

/** What a caller is told of a stream that its upstream did not bring to an end. */
export const brokenOff = 'upstream broke off its answer'
