import { type ChildProcess, spawn } from 'node:child_process'

/** Their pipes are open as long as they are known. */
const guards = new Set<ChildProcess>()

/**
 * Runs a script of the shell when this process has ended, also by a kill. `$0` is the argument.
 *
 * The script's shell is no descendant of this process, because the runner kills all descendants when a test runs out of time. It waits for the end of a
 * pipe that only this process holds.
 */
export const runAfterThisProcess = (script: string, argument: string): void => {
  // Not the standard input: it ends with the first shell.
  const wait = `{ cat <&3 > /dev/null; ${script}\n} &`
  const guard = spawn('sh', ['-c', wait, argument], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'], detached: true })
  guard.unref()
  guards.add(guard)
}

/** Removes a folder when this process has ended, also by a kill. A process that ends at the same time may still write to it. */
export const removeAfterThisProcess = (folder: string): void =>
  runAfterThisProcess('for attempt in 1 2 3; do rm -rf "$0" && break; sleep 5; done', folder)
