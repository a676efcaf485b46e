import type { JsonBody } from '../shared/body.ts'
import type { Clock } from '../shared/clock.ts'
import type { Log } from '../shared/problem.ts'
import type { Answered, Connection } from './connection.ts'
import type { Exchange } from './protocol.ts'
import type { Served } from './upstreams.ts'

/** One generation, on its way to one upstream. */
export interface Call {
  readonly exchange: Exchange
  readonly served: Served
  /** As it came. */
  readonly body: JsonBody
  /** The caller's, and its leaving. */
  readonly request: Request
  /** Milliseconds since 1970: the time limit counts from here. */
  readonly arrivedAt: number
  /** Told once, when the upstream has been reached and its answer has ended, however it ended. */
  readonly ended: (usage: object | undefined) => Promise<void>
}

/** What every generation works with. */
export interface Machinery {
  readonly connection: Connection
  readonly clock: Clock
  /** Milliseconds that a call without streaming may take. */
  readonly timeoutMs: number
  /** Milliseconds of silence in a stream before a comment is sent. Undefined: none is. */
  readonly heartbeatMs: number | undefined
  readonly maxAnswerBytes: number
  readonly log: Log
}

/** Asks the upstream, for a stream where it can give one and one is wanted. What no rule has changed goes as it came, byte for byte (reading 5). */
export const ask = (
  { exchange, served, request, body }: Call,
  { connection }: Machinery,
  signal: AbortSignal,
  wanted = true,
): Promise<Answered> => {
  const stream = wanted && served.streams !== false
  const json = stream ? exchange.streamed() : exchange.plain()
  return connection({
    upstream: served.upstream,
    action: exchange.action,
    path: exchange.path,
    body: json === body.json ? body.bytes : json.raw,
    stream,
    headers: request.headers,
    signal,
  })
}
