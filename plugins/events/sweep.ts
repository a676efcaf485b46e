import type { Clock } from '../shared/clock.ts'
import { delay } from '../shared/delay.ts'
import type { Log } from '../shared/problem.ts'
import type { EventStore } from './store.ts'

export interface SweepOptions {
  readonly store: Pick<EventStore, 'sweepEvents'>
  /** Milliseconds. */
  readonly keepMs: number
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  readonly signal: AbortSignal
  /** Milliseconds between two sweeps. Default: an hour. */
  readonly everyMs?: number
}

const maxRows = 500
const pauseMs = 100

/** Removes old events until the signal aborts. Never rejects. */
export const sweepRegularly = async (options: SweepOptions): Promise<void> => {
  const { store, keepMs, clock, log, signal, everyMs = 3_600_000 } = options
  while (!signal.aborted) {
    try {
      while ((await store.sweepEvents(clock.now() - keepMs, maxRows)) === maxRows && !signal.aborted) {
        await delay(pauseMs, signal)
      }
    } catch (err) {
      log.warn({ err }, 'old events could not be removed')
    }
    await delay(everyMs, signal)
  }
}
