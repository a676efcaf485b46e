import type { Background } from '../shared/background/background.ts'
import type { Clock } from '../shared/clock.ts'
import type { Log } from '../shared/problem.ts'
import type { EventStore } from './store.ts'

export interface EventSweepOptions {
  readonly store: Pick<EventStore, 'sweepEvents'>
  /** Milliseconds. */
  readonly keepMs: number
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

const everyMs = 3_600_000
const maxRows = 500
const pauseMs = 100

/** Removes old events, every hour. */
export const sweepEvents = ({ store, keepMs, clock, log }: EventSweepOptions, background: Background): void => {
  background.repeat({
    ...{ everyMs, log, failure: 'old events could not be removed' },
    async run(signal) {
      while (!signal.aborted && (await store.sweepEvents(clock.now() - keepMs, maxRows)) >= maxRows)
        await background.sleep(pauseMs, signal)
      return everyMs
    },
  })
}
