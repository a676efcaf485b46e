import type { Clock } from '../shared/clock.ts'

/** A timer that rings after so long a silence, again and again, while somebody waits. */
export interface Heartbeat {
  /** Somebody waits, who did not before: what counts is when something was last said. */
  wait(): void
  /** Nobody waits any more. */
  rest(): void
  /** Something was said: the next silence begins, which whoever goes on waiting says. */
  said(): void
}

/** @param ms undefined: never rings */
export const createHeartbeat = (clock: Clock, ms: number | undefined, beat: () => void): Heartbeat => {
  let last = clock.now()
  let callOff = () => {}
  const set = () => {
    if (ms === undefined) return
    callOff = clock.at(last + ms, () => {
      last = clock.now()
      beat()
      set()
    })
  }
  return {
    wait: set,
    rest: () => callOff(),
    said() {
      last = clock.now()
    },
  }
}
