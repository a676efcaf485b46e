import { type ChildProcess, spawn } from 'node:child_process'
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
  readonly log: Log
}

/** The running workers. */
export interface Workers {
  /**
   * Resolves when every worker listens; rejects when one cannot be started, or with its exit status when it ends before
   * it listens.
   */
  readonly listening: Promise<void>
  /** Sends SIGTERM to all workers, and resolves when they have exited. */
  stop(): Promise<void>
}

/**
 * Starts processes that share one port. A worker that dies is replaced after a second.
 *
 * Each worker can read the metrics of all through its IPC channel: see `connectToSupervisor`.
 */
export const startWorkers = ({ count, command, environment, isListening, log }: WorkersOptions): Workers => {
  const [program, ...args] = command
  const running = new Map<number, ChildProcess>()
  const metrics = createWorkerMetrics()
  let stopping = false

  const startWorker = (worker: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const child = spawn(program, args, { env: environment(worker), stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
      running.set(worker, child)
      metrics.add(child)
      let listening = false
      child.stdout?.on('data', (chunk: Buffer) => {
        listening ||= isListening(String(chunk))
        if (listening) resolve()
      })
      child.on('error', (error) => {
        if (child.pid !== undefined) return
        // It could not be started, for example without Deno's permission to do so.
        running.delete(worker)
        metrics.remove(child)
        reject(error)
      })
      child.on('exit', (code, signal) => {
        running.delete(worker)
        metrics.remove(child)
        if (!listening) reject(code ?? 1)
        if (!listening || stopping) return
        log.error({ worker, code, signal }, 'worker died')
        setTimeout(() => {
          if (!stopping) startWorker(worker).catch(() => log.error({ worker }, 'worker could not be replaced'))
        }, 1000)
      })
    })

  return {
    listening: Promise.all(Array.from({ length: count }, (_, index) => startWorker(index + 1))).then(() => {}),
    async stop() {
      stopping = true
      const ends = [...running.values()].map((child) => new Promise((resolve) => child.once('exit', resolve)))
      for (const child of running.values()) child.kill('SIGTERM')
      await Promise.all(ends)
    },
  }
}
