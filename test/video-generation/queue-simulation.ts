import { toJson } from '../../plugins/shared/json/json.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { createDispatcher } from '../../plugins/video-generation/queue/dispatch.ts'
import { type PollContext, pollTasks } from '../../plugins/video-generation/queue/poll.ts'
import { createVideoService } from '../../plugins/video-generation/service/service.ts'
import type { PoolLimits } from '../../plugins/video-generation/store/pool.ts'
import { oneVideoAccount } from '../../plugins/video-generation/upstream/accounts.ts'
import { createVideoClient } from '../../plugins/video-generation/upstream/client.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import type { Store } from '../../src/store/index.ts'
import { MODEL, START, text } from '../emulator/video-client.ts'

/** A task at the upstream. Times are seconds since the start of the simulation. */
export interface SimulatedTask {
  readonly user: string
  readonly prompt: string
  readonly createdAt: number
  readonly startedAt: number
  /** Infinity: it still runs. */
  readonly endedAt: number
}

export interface SimulationOptions {
  /** One for each process of the gateway. All on one database. */
  readonly stores: readonly Store[]
  readonly slots: number
  readonly limits?: Partial<PoolLimits>
  /** Seconds that a task runs at the upstream. */
  readonly runningSeconds: (prompt: string) => number
  /** Creates tasks, at each step. */
  readonly arrivals: (second: number, create: (user: string) => Promise<void>) => Promise<void>
  readonly seconds: number
}

/** Seconds between two steps: the default time between two polls. */
const stepSeconds = 3

/**
 * Runs the plugin on the emulated upstream in simulated time. In each step of three seconds one of the processes polls and submits, as the one with the
 * lease does; in some steps two do, as when the lease has just changed.
 *
 * The upstream rejects tasks beyond its slots. Returns the tasks that it has got, and its rejections.
 */
export const simulate = async ({ stores, slots, limits, runningSeconds, arrivals, seconds }: SimulationOptions) => {
  let now = START
  const clock = { now: () => now, at: () => () => {} }
  const emulator = await startEmulator({
    clock: () => now,
    video: {
      ...{ queuedMs: 0, maxRunning: { '*': slots }, whenFull: 'reject' },
      runningMs: ({ request: { prompt } }) => runningSeconds(prompt) * 1000,
    },
  })
  const upstream = { url: emulator.video.url, key: emulator.video.key }
  const pool: PoolLimits = { running: slots, ...limits }
  let rejected = 0
  const shared = {
    ...{
      upstream,
      clock,
      log: noLog,
      identifierSecret: 'secret of the simulation'.padEnd(64, '.'),
      pollMs: 3_000,
      maxRunningMs: 10_800_000,
      settleMs: 60_000,
    },
    observe: ({ status }: { readonly status: number }) => {
      if (status === 429) rejected++
    },
  }
  const processes = stores.map((store) => {
    const client = createVideoClient(shared)
    const context: PollContext = {
      ...{ ...shared, store, client, accounts: oneVideoAccount(client), limitsOf: () => pool },
      callbackUrlOf: () => undefined,
      ...{ maxPriority: 0, createTimeoutMs: 60_000, leaseMs: 90_000, copies: false, describe: () => ({ data: '{}' }) },
    }
    const dispatcher = createDispatcher(context)
    return {
      service: createVideoService({ ...shared, store, slots: { '*': pool } }),
      async work() {
        await pollTasks(context)
        await dispatcher.dispatch(new AbortController().signal)
      },
    }
  })
  const request = new Request('http://localhost/')
  let created = 0
  const create = async (user: string): Promise<void> => {
    const number = created++
    const body = toJson({ model: MODEL, content: [text(`${user} ${number}`)] })
    await processes[number % processes.length]?.service.tasks.create({ user }, body, request)
  }
  for (let step = 0; step * stepSeconds < seconds; step++) {
    await arrivals(step * stepSeconds, create)
    const count = step % 10 === 0 ? processes.length : 1
    await Promise.all(Array.from({ length: count }, (_, nth) => processes[(step + nth) % processes.length]?.work()))
    now += stepSeconds * 1000
  }
  emulator.video.advance(0)
  const tasks = emulator.video.tasks().map(({ request: { prompt }, startTime, endTime }): SimulatedTask => {
    const [user = ''] = prompt.split(' ')
    return {
      ...{ user, prompt, createdAt: 0 },
      startedAt: ((startTime ?? Number.POSITIVE_INFINITY) - START) / 1000,
      endedAt: ((endTime ?? Number.POSITIVE_INFINITY) - START) / 1000,
    }
  })
  await emulator.stop()
  return { tasks, rejected, created }
}

/** The part of the slots in use from one second to another. */
export const busyPart = (tasks: readonly SimulatedTask[], slots: number, from: number, to: number): number =>
  tasks.reduce(
    (sum, { startedAt, endedAt }) => sum + Math.max(0, Math.min(endedAt, to) - Math.max(startedAt, from)),
    0,
  ) /
  slots /
  (to - from)
