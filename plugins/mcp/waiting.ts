import type { Clock } from '../shared/clock.ts'
import type { ToolCall } from './tool.ts'

export interface WaitOptions<State> {
  /** Reads the state. */
  readonly look: () => Promise<State>
  readonly hasEnded: (state: State) => boolean
  /** What to tell the client meanwhile. */
  readonly describe: (state: State) => string
  readonly maxMs: number
}

/** The first pause between two looks, and the longest: they grow by half. Milliseconds. */
const firstPauseMs = 1_000
const maxPauseMs = 5_000

/** Waits until something has ended, or `maxMs` are over, or nobody waits any more. Resolves with the last state. */
export const waitFor = async <State>(
  { look, hasEnded, describe, maxMs }: WaitOptions<State>,
  { clock, signal, progress }: ToolCall,
): Promise<State> => {
  const startedAt = clock.now()
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(1.5 * pauseMs, maxPauseMs)) {
    const state = await look()
    const leftMs = startedAt + maxMs - clock.now()
    if (hasEnded(state) || leftMs <= 0) return state
    await progress((clock.now() - startedAt) / 1000, describe(state))
    await pause(Math.min(pauseMs, leftMs), clock, signal)
    if (signal.aborted) return state
  }
}

const pause = (ms: number, clock: Clock, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.at(clock.now() + ms, end)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
