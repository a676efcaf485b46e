import { Buffer } from 'node:buffer'
import { isPromise } from '../shared/awaitable.ts'
import type { JsonBody } from '../shared/body.ts'
import type { Clock } from '../shared/clock.ts'
import { bytesInTurn, composeInTurns, type Json } from '../shared/json.ts'
import type { Log } from '../shared/problem.ts'
import type { WhenRevoked } from '../shared/revocation.ts'
import { type FrameReader, type FramesOptions, readFrames } from '../sse-relay/index.ts'
import { UpstreamRefusedError } from '../upstream-proxy/index.ts'
import type { IssuedObjects } from './objects/issued.ts'
import type { Exchange } from './protocol.ts'
import { type Addition, refusedAddition } from './upstream/additions.ts'
import type { TextResponse, UpstreamClient } from './upstream/client.ts'
import type { ModelRoute } from './upstream/model-routing.ts'
import { problemOf } from './upstream/problem.ts'
import type { RefusedAdditions } from './upstream/refused-additions.ts'

/** One generation, on its way to one upstream. */
export interface Call {
  /** Id of the user who calls. */
  readonly user: string
  readonly exchange: Exchange
  readonly route: ModelRoute
  /** As it came. Undefined: a GET. */
  readonly body?: JsonBody
  /** Sees to it that what the answer names is known as the caller's first. Undefined: it names nothing that the upstream keeps. */
  readonly issued?: IssuedObjects
  /** The caller's, and its leaving. */
  readonly request: Request
  /** Milliseconds since 1970: the time limit counts from here. */
  readonly arrivedAt: number
  /** The caller's credential, and its ceasing to hold. Undefined: nobody can tell. */
  readonly whenRevoked: WhenRevoked | undefined
  /** Told when the upstream has begun to answer, and not with an error. */
  readonly onAccepted?: () => void
  /** Told once, when the upstream has been reached and its answer has ended, however it ended. */
  readonly onEnd: (usage: object | undefined) => void | Promise<void>
}

/** What every generation works with. */
export interface GenerationContext {
  readonly client: UpstreamClient
  /** What upstreams refused to be asked with. */
  readonly refusedAdditions: RefusedAdditions
  readonly clock: Clock
  /** Milliseconds that a call without streaming may take. */
  readonly timeoutMs: number
  /** Milliseconds of silence in a stream before a comment is sent. Undefined: none is. */
  readonly heartbeatMs: number | undefined
  readonly maxResponseBytes: number
  readonly log: Log
}

/**
 * Asks the upstream, for a stream where it can give one, and begins with its answer. What no rule has changed goes as it came, byte for byte.
 *
 * Where the upstream refuses what the gateway put in, it is asked again without that: its refusal proves that nothing was generated, and the caller never
 * sees a complaint about what it did not send. What helped is left out of the like for a while.
 *
 * Rejects with Refusal, Unreachable and Invalid, see `createConnection`, and with what `begin` rejects with.
 *
 * @param withoutStream whether no stream is wanted
 */
export const askUpstream = async <Result>(
  call: Call,
  { client, refusedAdditions, log }: GenerationContext,
  signal: AbortSignal,
  begin: (response: TextResponse) => Promise<Result>,
  withoutStream = false,
): Promise<Result> => {
  const { exchange, route, request, body, onAccepted } = call
  const { upstream } = route
  const { action, path } = exchange
  const without = new Set(refusedAdditions.get(call))
  if (withoutStream || route.streams === false) without.add('stream')
  if (route.reportsUsage === false) without.add('stream_options')
  const firstBytes = bytesOf(exchange.body(without), body)
  let bytes = isPromise(firstBytes) ? await firstBytes : firstBytes
  let toRemember: ReadonlySet<Addition> | undefined
  for (;;) {
    let headers: Headers | undefined
    try {
      const response = await client({
        upstream,
        action,
        path,
        body: bytes,
        stream: !without.has('stream'),
        headers: request.headers,
        signal,
      })
      headers = response.headers
      onAccepted?.()
      const result = await begin(response)
      if (toRemember) refusedAdditions.remember(call, toRemember)
      return result
    } catch (error) {
      const problem = problemOf(error, upstream, headers)
      const refusal = problem instanceof UpstreamRefusedError ? refusedAddition(problem) : undefined
      if (!refusal || without.has(refusal.addition)) throw problem
      without.add(refusal.addition)
      const nextBytes = await bytesOf(exchange.body(without), body)
      // The same field may be the caller's own, and the complaint is its to hear.
      if (!nextBytes || !bytes || Buffer.compare(nextBytes, bytes) === 0) throw problem
      bytes = nextBytes
      if (refusal.lasting) toRemember = new Set([...(toRemember ?? refusedAdditions.get(call)), refusal.addition])
      log.info({ action, addition: refusal.addition }, 'upstream refused what the gateway put in, and is asked without')
    }
  }
}

/** What is sent: the body as it came, where nothing in it has changed. */
const bytesOf = (json: Json | undefined, body: JsonBody | undefined): Promise<Uint8Array> | Uint8Array | undefined => {
  if (!json) return undefined
  if (json === body?.json) return body.bytes
  return body && body.bytes.length > bytesInTurn ? composeInTurns(json) : json.bytes
}

/** The frames of an answer, each when what it names is known as the caller's. */
export const framesOf = (
  { issued }: Pick<Call, 'issued'>,
  body: ReadableStream<Uint8Array>,
  options: FramesOptions,
): FrameReader => {
  const frames = readFrames(body, options)
  return issued?.frames(frames) ?? frames
}
