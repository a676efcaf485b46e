import type { Awaitable } from '../../shared/awaitable.ts'
import type { SteppedWork } from '../../shared/background/turns.ts'
import type { Json, JsonLimits } from '../../shared/json/json.ts'
import type { JsonObject } from '../../shared/json/parsed.ts'
import type { Problem } from '../../shared/problem.ts'
import type { Frame } from '../../sse-relay/index.ts'
import type { Capabilities } from '../models/routing.ts'
import type { IssuedObjects } from '../objects/issued.ts'
import type { OwnedRequest } from '../objects/ownership.ts'
import type { Addition } from '../upstream/additions.ts'
import type { TextAction } from '../upstream/client.ts'
import type { Assembly } from './assembly.ts'

/** A validated request. */
export interface ValidatedRequest {
  readonly model: string
  /** Whether the caller wants a stream. */
  readonly stream: boolean
  /** Whether the caller requests usage in a chat stream (`stream_options.include_usage`). */
  readonly includeUsage?: boolean
  /**
   * Whether the response is to be stored (`store`), so that the caller can continue and retrieve it. Undefined: the
   * protocol has no stored responses.
   */
  readonly stores?: boolean
  /** Whether the caller wants a background response (`background`), to retrieve it later. */
  readonly background?: boolean
  /** Whether the request goes upstream in the other protocol, through the bridge. */
  readonly bridged?: boolean
  /** What a bridged response says of its storage. Default: it is not stored, and continues none. */
  readonly storage?: { readonly store: boolean; readonly previous_response_id: string | null }
}

/** One of the protocols for callers, such as chat completions or responses. */
export interface Protocol {
  /** Limits of request bodies, other than the default ones. */
  readonly bodyLimits?: JsonLimits
  /** Validates a request, in steps. Throws TextProblem 400 that names the field. */
  validate(request: Json, capabilities?: Capabilities): SteppedWork<ValidatedRequest>
  /**
   * The exchange with an upstream for a validated request of a user. Throws or rejects with TextProblem 400 for what
   * this upstream does not support. A promise only for a large request that has to be translated.
   */
  toExchange(
    request: OwnedRequest,
    validated: ValidatedRequest,
    capabilities: Capabilities,
    user: string,
  ): Awaitable<Exchange>
}

/**
 * A protocol for callers that no upstream has. Its requests are translated before they are checked, so that the checks
 * see what goes upstream.
 */
export interface TranslatedProtocol extends Pick<Protocol, 'bodyLimits'> {
  /** Translates a request of a user, in steps. Throws TextProblem 400 for what cannot be translated. */
  translate(request: Json, user: string): SteppedWork<{ readonly request: Json; readonly protocol: Protocol }>
}

/**
 * One request and its response: what to send to the upstream, and how to convert its response to the caller's protocol.
 */
export interface Exchange {
  readonly action: TextAction
  /** Path below the upstream's URL. */
  readonly path: string
  /**
   * The request body for the upstream, with the fields that the gateway adds, except those in `without`. Without
   * `stream`, it has no stream fields at all. Undefined: a GET request.
   */
  body(without: ReadonlySet<Addition>): Json | undefined
  /** Whether the upstream responds in the caller's protocol, so that no conversion is needed. */
  readonly native: boolean
  /** Types of tools of the request that the upstream does not get, because it could not run them. */
  readonly droppedTools?: Iterable<string>
  /** Whether an object is a response of the upstream's protocol. */
  isResponse(body: JsonObject): boolean
  /**
   * Whether the upstream responds at once and continues in the background. Such a request does not stream unless the
   * caller wants it.
   */
  readonly respondsAtOnce?: boolean
  /**
   * Whether the response to a request without `stream` is the upstream's own. The gateway then requests no stream from
   * the upstream, and there is no partial response: at the time limit the caller receives a 502. Default false.
   */
  readonly unassembled?: boolean
  /** Whether the call generates nothing, so that no usage is recorded. Default false. */
  readonly unmetered?: boolean
  /** Whether a terminal event completes a stream. If false, `[DONE]` or a clean end of the body does. */
  readonly hasTerminalEvent: boolean
  /** Converts a response object, parsed with `parseLossless`, to the text of the equivalent event stream. */
  toEventStream(body: unknown): string
  /** Builds the caller's non-streaming response from the upstream's events. */
  assemble(): Assembly
  /**
   * Converts the upstream's frames to the caller's stream.
   *
   * @param issued records the end of a bridged stream before the caller receives it
   */
  relay(issued?: IssuedObjects): StreamRelay
  /**
   * The text of the event that ends a stream with an error of the gateway. Default: one that clients of both OpenAI
   * protocols raise.
   */
  errorEvent?(problem: Problem): string
  /** What a silent stream sends. Default: a comment. */
  readonly heartbeat?: Uint8Array
}

/** Converts one stream for the caller, frame by frame. */
export interface StreamRelay {
  /** Undefined: the frame passes unchanged; bytes replace it; null drops it. */
  onFrame(frame: Frame): Uint8Array | null | undefined
  /** Text to append when the upstream's stream has ended. `broken`: the upstream closed it with an error. */
  onEnd(broken: boolean): Awaitable<string>
  /** Whether the complete response has passed. */
  readonly complete: boolean
  /** Whether nothing more of the upstream's stream passes, so that it need not be read on. */
  readonly isOver: boolean
  /** The usage object, as the upstream reported it. */
  readonly usage: object | undefined
}

/** Error message for a stream that the upstream did not complete. */
export const incompleteStreamMessage = 'upstream broke off its answer'
