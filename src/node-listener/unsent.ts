import type { ServerResponse } from 'node:http'
import type { CoarseTimer, CoarseTimers } from '../../plugins/shared/coarse-timers.ts'

export interface ReadingTimes {
  /** Milliseconds in which the caller takes nothing, after which its connection ends. */
  readonly stallMs: number
  /** Milliseconds in which it has to take everything. */
  readonly wholeMs: number
}

/** Waits until the caller has taken the rest of an answer that is held for it, or has left. Ends the connection of one who does not take it in time. */
export const untilSent = (outgoing: ServerResponse, times: ReadingTimes, waits: CoarseTimers): Promise<void> =>
  new Promise((resolve) => {
    let left = outgoing.writableLength
    let stalledAt = performance.now() + times.stallMs
    const endsAt = performance.now() + times.wholeMs
    const wait = {
      until: Math.min(stalledAt, endsAt),
      over() {
        const now = performance.now()
        if (outgoing.writableLength < left) stalledAt = now + times.stallMs
        left = outgoing.writableLength
        wait.until = Math.min(stalledAt, endsAt)
        if (wait.until > now) waits.add(wait)
        else outgoing.destroy()
      },
    } satisfies CoarseTimer
    waits.add(wait)
    outgoing.once('close', () => {
      waits.delete(wait)
      resolve()
    })
  })
