import { setImmediate, setTimeout } from 'node:timers'

/**
 * Waits for a turn of the event loop. For use between two steps of long work.
 *
 * Each turn continues one of all that wait, in their order: else the length of a turn would be the sum of their steps.
 */
export const nextTurn = async (): Promise<void> => {
  turns.count++
  await new Promise<void>((resolve) => {
    if (waiting.push(resolve) === 1) afterIo(continueNext)
  })
}

const waiting: (() => void)[] = []

const continueNext = (): void => {
  waiting.shift()?.()
  if (waiting.length > 0) afterIo(continueNext)
}

/**
 * Calls a function in a later turn of the event loop, for work that goes on for many turns.
 *
 * While an immediate is due, Deno (2.9) looks for I/O at every 61st turn only, because tokio's scheduler does so while
 * a task is ready (https://docs.rs/tokio/latest/tokio/runtime/struct.Builder.html#method.event_interval). It does
 * before it waits for a timer. So there, all functions wait together for an immediate, and if I/O has had to wait for
 * some milliseconds, then for a timer.
 */
export const afterIo = (run: () => void): void => {
  if (!isDeno) setImmediate(run)
  else if (later.push(run) === 1) setImmediate(letIoThrough)
}

/** Calls a function when what has arrived is read. Bun calls the first immediate before it reads. */
export const afterReading = (run: () => void): void => afterIo(() => afterIo(run))

const isDeno = 'Deno' in globalThis

const later: (() => void)[] = []

let lastTimerAt = 0

/** A timer takes a millisecond, so that short steps do not wait for one each time. */
const maxMsWithoutIo = 4

/** The timer begins after the work of the turn: Deno does not wait for one that is over by then. */
const letIoThrough = (): void => {
  if (performance.now() - lastTimerAt < maxMsWithoutIo) runLater()
  else setTimeout(runAfterTimer, 0)
}

const runAfterTimer = (): void => {
  lastTimerAt = performance.now()
  runLater()
}

const runLater = (): void => {
  for (const run of later.splice(0)) run()
}

/** Number of calls of `nextTurn` since the process started. Tests compare it instead of times. */
export const turns = { count: 0 }

/** Work in steps of some milliseconds: at each `yield` the event loop may turn. */
export type SteppedWork<Result> = Generator<undefined, Result>

/** Work of one step. */
// biome-ignore lint/correctness/useYield: one step needs no turn
export function* oneStep<Result>(work: () => Result): SteppedWork<Result> {
  return work()
}

/** Runs all steps at once. For work that is known to be little. */
export const runSteps = <Result>(steps: SteppedWork<Result>): Result => {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

/** Runs each step in a turn of the event loop of its own; also the first one, which many requests may begin at once. */
export const runInTurns = async <Result>(steps: SteppedWork<Result>): Promise<Result> => {
  for (;;) {
    await nextTurn()
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Number of bytes that one turn of the event loop parses, composes or copies. A smaller body needs no further turn. */
export const bytesPerTurn = 2 ** 20

/** All bytes as one array, copied over several turns of the event loop. @param length of all parts together */
export const joinInTurns = async (parts: readonly Uint8Array[], length: number): Promise<Uint8Array<ArrayBuffer>> => {
  const bytes = new Uint8Array(length)
  let at = 0
  let bytesLeft = bytesPerTurn
  for (const part of parts) {
    for (let from = 0; from < part.length; ) {
      if (bytesLeft === 0) {
        await nextTurn()
        bytesLeft = bytesPerTurn
      }
      const piece = part.subarray(from, from + bytesLeft)
      bytes.set(piece, at)
      at += piece.length
      from += piece.length
      bytesLeft -= piece.length
    }
  }
  return bytes
}

/** Counts the values that a step has handled. */
export class Pace {
  readonly #perStep: number
  #left: number

  /**
   * @param perStep number of values that take some milliseconds. Default: 500, for items, messages and parts that are
   * translated
   */
  constructor(perStep = valuesPerStep) {
    this.#perStep = perStep
    this.#left = perStep
  }

  /** Counts one more. True: the step has handled enough of them, and has to yield before this one. */
  isDue(): boolean {
    if (--this.#left >= 0) return false
    this.#left = this.#perStep - 1
    return true
  }
}

export const valuesPerStep = 500
