import { hasNoSpace } from '../../shared/no-space.ts'
import { memoryRateLimitStore } from './memory-store.ts'
import { isPermit, type RateLimitDelay, type RateLimitPermit, type RateLimitStore } from './store.ts'

/**
 * The store, and slots in memory while it has no room: reading goes on with a full disk. Then each process counts for
 * itself. Only for calls that change nothing: what a change has done could not be recorded either.
 */
export const orMemoryWhileFull = (store: RateLimitStore): RateLimitStore => {
  const memory = memoryRateLimitStore()
  const inMemory = new WeakSet<RateLimitPermit>()
  const note = <Taken extends RateLimitPermit | RateLimitDelay | undefined>(taken: Taken): Taken => {
    if (taken && isPermit(taken)) inMemory.add(taken)
    return taken
  }
  return {
    take: (wanted) => store.take(wanted).catch(ifFull(async () => note(await memory.take(wanted)))),
    takeInTurn: (wanted) => store.takeInTurn(wanted).catch(ifFull(async () => note(await memory.takeInTurn(wanted)))),
    release: (permit, at, spreadMs) => (inMemory.has(permit) ? memory : store).release(permit, at, spreadMs),
    delayUntil: (action, until, spreadMs) =>
      store.delayUntil(action, until, spreadMs).catch(ifFull(() => memory.delayUntil(action, until, spreadMs))),
  }
}

/** An error handler that acts when the store has no room, and rethrows every other error. */
const ifFull =
  <Result>(act: () => Promise<Result>) =>
  (error: unknown): Promise<Result> => {
    if (!hasNoSpace(error)) throw error
    return act()
  }
