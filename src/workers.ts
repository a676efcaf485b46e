import { type ChildProcess, spawn } from 'node:child_process'
import { type Clock, systemClock } from '../plugins/shared/clock.ts'
import type { Log } from '../plugins/shared/problem.ts'
import { createWorkerMetrics } from './workers/metrics.ts'

/** Options of `startWorkers`. */
export interface WorkersOptions {
  readonly count: number
  /** Program and arguments of a worker. */
  readonly command: readonly [string, ...string[]]
  /** Environment of the worker with that number, from 1. */
  readonly environment: (worker: number) => Record<string, string | undefined>
  /** Recognizes the line on standard output with which a worker reports that it listens. */
  readonly isListening: (line: string) => boolean
  /**
   * Pause before a worker that has ended is started again, in milliseconds. Default 1,000. It doubles each time that
   * the worker ends again, up to 32 times the first one, until the worker has run for that longest pause.
   */
  readonly restartMs?: number
  /** Default: the system clock. */
  readonly clock?: Clock
  readonly log: Log
}

/** The running workers. */
export interface Workers {
  /**
   * Resolves when every worker has listened. Rejects when one cannot be started, or with its exit status when one ends
   * before any of them listens.
   */
  readonly listening: Promise<void>
  /** Sends SIGTERM to all workers, and resolves when they have exited. */
  stop(): Promise<void>
}

/** The longest pause, in multiples of the first one. */
const maxDoubled = 32

/**
 * Starts processes that share one port. A worker that ends is started again after a pause, also one that ends before it
 * listens: the others serve meanwhile.
 *
 * Each worker can read the metrics of all through its IPC channel: see `connectToSupervisor`.
 */
export const startWorkers = ({
  count,
  command,
  environment,
  isListening,
  restartMs = 1_000,
  clock = systemClock,
  log,
}: WorkersOptions): Workers => {
  const [program, ...args] = command
  const running = new Map<number, ChildProcess>()
  const metrics = createWorkerMetrics()
  let hasListened = false
  let stopping = false

  /** Starts a worker, again whenever it ends. Resolves when it listens for the first time. */
  const keepRunning = (worker: number): Promise<void> =>
    new Promise((resolve, reject) => {
      let pauseMs = restartMs
      const startAgain = (reason: object) => {
        if (stopping) return
        log.error({ worker, ...reason, restartMs: pauseMs }, 'worker died')
        clock.at(clock.now() + pauseMs, () => {
          if (!stopping) start()
        })
        pauseMs = Math.min(2 * pauseMs, maxDoubled * restartMs)
      }
      const start = () => {
        const child = spawn(program, args, { env: environment(worker), stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
        running.set(worker, child)
        metrics.add(child)
        let listening = false
        let cancelReset: (() => void) | undefined
        child.stdout?.on('data', (chunk: Buffer) => {
          if (listening || !isListening(String(chunk))) return
          listening = true
          hasListened = true
          cancelReset = clock.at(clock.now() + maxDoubled * restartMs, () => {
            pauseMs = restartMs
          })
          resolve()
        })
        const remove = () => {
          cancelReset?.()
          running.delete(worker)
          metrics.remove(child)
        }
        child.on('error', (err) => {
          if (child.pid !== undefined) return
          // It could not be started, for example without Deno's permission to do so.
          remove()
          if (hasListened) startAgain({ err })
          else reject(err)
        })
        child.on('exit', (code, signal) => {
          remove()
          // The reason is probably the same for all of them, such as a port that is in use.
          if (!hasListened && code !== null) reject(code)
          else startAgain({ code, signal })
        })
      }
      start()
    })

  return {
    listening: Promise.all(Array.from({ length: count }, (_, index) => keepRunning(index + 1))).then(() => {}),
    async stop() {
      stopping = true
      const ends = [...running.values()].map((child) => new Promise((resolve) => child.once('exit', resolve)))
      for (const child of running.values()) child.kill('SIGTERM')
      await Promise.all(ends)
    },
  }
}
