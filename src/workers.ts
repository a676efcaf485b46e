import { type ChildProcess, spawn } from 'node:child_process'
import { type Clock, systemClock } from '../plugins/shared/clock.ts'
import type { Log } from '../plugins/shared/problem.ts'
import { createWorkerMetrics } from './workers/metrics.ts'

/** Options of `startWorkers`. */
export interface WorkersOptions {
  readonly count: number
  /**
   * The port that they share. 0: the first worker listens on one that the system chooses, and keeps it while the others
   * start.
   */
  readonly port: number
  /** Program and arguments of a worker that listens on this port. */
  readonly command: (port: number) => readonly [string, ...string[]]
  /** Environment of the worker with that number, from 1, that listens on this port. */
  readonly environment: (worker: number, port: number) => Record<string, string | undefined>
  /** The port in the line with which a worker reports that it listens. Undefined: it is another line of its output. */
  readonly portIn: (line: string) => number | undefined
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
   * Resolves with the port when every worker has listened. Rejects when one cannot be started, or with its exit status
   * when one ends before any of them listens.
   */
  readonly listening: Promise<number>
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
  port,
  command,
  environment,
  portIn,
  restartMs = 1_000,
  clock = systemClock,
  log,
}: WorkersOptions): Workers => {
  const running = new Map<number, ChildProcess>()
  const metrics = createWorkerMetrics(count)
  let sharedPort = port
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
        const [program, ...args] = command(sharedPort)
        const env = environment(worker, sharedPort)
        const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
        running.set(worker, child)
        metrics.add(child)
        let listening = false
        let cancelReset: (() => void) | undefined
        child.stdout?.on('data', (chunk: Buffer) => {
          const found = listening ? undefined : portIn(String(chunk))
          if (found === undefined) return
          sharedPort = found
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

  const startAll = async (): Promise<number> => {
    // Another process could take a port that was chosen before any worker listens.
    const alone = port === 0 ? 1 : 0
    if (alone > 0) await keepRunning(alone)
    await Promise.all(Array.from({ length: count - alone }, (_, index) => keepRunning(alone + index + 1)))
    return sharedPort
  }

  return {
    listening: startAll(),
    async stop() {
      stopping = true
      const ends = [...running.values()].map((child) => new Promise((resolve) => child.once('exit', resolve)))
      for (const child of running.values()) child.kill('SIGTERM')
      await Promise.all(ends)
    },
  }
}
