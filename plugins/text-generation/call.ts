import type { Clock } from '../shared/clock.ts'
import type { Log } from '../shared/problem.ts'
import type { Connection } from './connection.ts'
import type { Exchange } from './protocol.ts'
import type { Served } from './upstreams.ts'

/** One generation, on its way to one upstream. */
export interface Call {
  readonly exchange: Exchange
  readonly served: Served
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
