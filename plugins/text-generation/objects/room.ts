import type { Awaitable } from '../../shared/awaitable.ts'
import { Problem } from '../../shared/problem.ts'

/** A part of the store ports. */
export interface RoomCheck {
  /**
   * Rejects while the store knows that it has no room, so that no call of the upstream is paid for whose response could
   * not be recorded. It is called before each such call, so it must cost little. Default: the calls are made.
   */
  requireRoom?(): Awaitable<void>
}

/** Why a response could not be recorded. */
export const notRecorded = (cause: unknown): Problem => new Problem(500, 'response could not be recorded', { cause })

/** Rejects with `notRecorded` while the store knows that it has no room. */
export const requireRoom = (store: RoomCheck): Awaitable<void> => {
  const checking = store.requireRoom?.()
  return checking?.catch((cause: unknown) => {
    throw notRecorded(cause)
  })
}
