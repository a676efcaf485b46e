import { type Clock, systemClock } from '../../plugins/shared/clock.ts'

/** The system clock, which a test puts forward. Its timers keep their real durations. */
export interface ForwardClock extends Clock {
  pass(ms: number): void
}

export const forwardClock = (): ForwardClock => {
  let offset = 0
  return {
    now: () => Date.now() + offset,
    at: (time, run) => systemClock.at(time - offset, run),
    pass(ms) {
      offset += ms
    },
  }
}
