/** A request that the emulator received, in full. */
export interface Call {
  /** ms since 1970, by the emulator's clock */
  readonly at: number
  readonly kind: 'rest' | 'ark' | 'text'
  /** the action's name, such as `ListAssets` in both asset shapes or `CreateChatCompletion`; empty when the request fits none */
  readonly action: string
  readonly method: string
  /** the raw request target: path and query as they stood on the wire */
  readonly path: string
  /** names in lower case; repeated headers joined with a comma and a space */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** the body, parsed; absent when it is not JSON */
  readonly json?: unknown
  /** absent while nothing was answered, and when the connection was reset instead */
  readonly status?: number
  /** true when the caller went away before it had the whole answer */
  readonly aborted?: boolean
}

/** A call while it is being answered. */
export type OpenCall = { -readonly [Field in keyof Call]: Call[Field] }

/**
 * The most calls of one action in any window of one second, sliding: two calls exactly 1000 ms apart never share a window.
 * Without an action, of all calls together.
 */
export function busiestSecond(calls: readonly Call[], action?: string): number {
  const times = calls.filter((call) => action === undefined || call.action === action).map((call) => call.at)
  times.sort((a, b) => a - b)
  let most = 0
  let first = 0
  times.forEach((at, index) => {
    while (at - (times[first] ?? at) >= 1000) first++
    most = Math.max(most, index - first + 1)
  })
  return most
}
