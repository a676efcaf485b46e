import type { Clock } from '../../shared/clock.ts'
import type { FrameReader } from '../../sse-relay/index.ts'

/**
 * Reads to the end of the body, which often arrives just after the last event. The connection can then be reused. A
 * body that does not end in time is cancelled.
 */
export const awaitEnd = (reader: FrameReader, clock: Clock): void => {
  const cancel = () => void reader.cancel()
  const cancelTimer = clock.at(clock.now() + maxEndMs, cancel)
  reader.next().then(
    (more) => {
      cancelTimer()
      if (more) cancel()
    },
    () => cancelTimer(),
  )
}

const maxEndMs = 1_000
