import { setImmediate } from 'node:timers'

let waiting: (() => void)[] = []

/**
 * Runs a function in the next turn of the event loop. The function must not throw.
 *
 * All functions of one turn share one `setImmediate`, which costs more than they do.
 */
export const inNextTurn = (run: () => void): void => {
  if (waiting.push(run) === 1) setImmediate(runAll)
}

const runAll = (): void => {
  const functions = waiting
  waiting = []
  for (const run of functions) run()
}
