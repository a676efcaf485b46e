import type { PoolLimits } from './pool.ts'

/** After each such time without a 429 of the kind `running`, a pool tries one slot more. Milliseconds. */
export const quietMs = 600_000

/** Of models without slots, for tasks that wait for something else. */
export const unlimitedSlots: PoolLimits = {
  running: Number.POSITIVE_INFINITY,
  waitingPerUser: 1_000,
  waitingBytesPerUser: 2 ** 28,
}

const minPauseMs = 1_000
const maxPauseMs = 60_000

/** The slots of a pool. `learnt`: the number that the upstream has, as its 429s have told. */
export const slotsOf = (
  { learnt = Number.POSITIVE_INFINITY }: { readonly learnt?: number },
  { running }: Pick<PoolLimits, 'running'>,
): number => Math.min(running, learnt)

/** The number of slots that a 429 tells, when so many tasks were running. Another 429 never raises it. */
export const learntSlots = (running: number, learnt = running): number => Math.max(1, Math.min(running, learnt))

/** How long a pool pauses if the upstream does not say. Milliseconds; `pauses`: since it has accepted a task. */
export const pauseMsAfter = (pauses: number): number => Math.min(maxPauseMs, minPauseMs * 2 ** Math.min(pauses, 10))
