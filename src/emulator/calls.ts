import type { EmulatorAction } from './action-names.ts'

/** A request that the emulator has received, with its complete body. */
export interface Call {
  /** ms since 1970, by the emulator's clock */
  readonly at: number
  readonly api: 'rest' | 'ark' | 'text' | 'video'
  /**
   * name of the action, such as `ListAssets` (for `rest` and `ark`) `CreateChatCompletion` or `CreateVideoTask`; empty
   * when no action matches
   */
  readonly action: string
  readonly method: string
  /** the raw request target: path and query as sent */
  readonly path: string
  /** names in lower case; repeated headers joined with a comma and a space */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** the body, parsed; absent when it is not JSON */
  readonly json?: unknown
  /** status of the response; absent before the response starts, and when the emulator resets the connection instead */
  readonly status?: number
  /** true when the caller disconnected before the response was complete */
  readonly aborted?: boolean
}

/** A call in progress: the emulator still adds its status. */
export type OpenCall = { -readonly [Field in keyof Call]: Call[Field] }

/**
 * The highest number of calls of one action in any sliding window of one second. Without an action, it counts all
 * calls. Two calls that are exactly 1000 ms apart never share a window.
 */
export const maxCallsPerSecond = (calls: readonly Call[], action?: EmulatorAction): number => {
  const times = calls.filter((call) => action === undefined || call.action === action).map((call) => call.at)
  times.sort((a, b) => a - b)
  let max = 0
  let first = 0
  times.forEach((at, index) => {
    while (at - (times[first] ?? at) >= 1000) first++
    max = Math.max(max, index - first + 1)
  })
  return max
}
