import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Emulator, startEmulator } from '../../../src/emulator/index.ts'
import { environment } from '../environment.ts'
import { type Started, start, startWorker, temporaryFolder } from '../processes.ts'
import { addUsers } from '../users.ts'
import { injectFaults } from './faults.ts'
import { type Client, tidy } from './traffic.ts'
import type { Statuses, TrafficJob } from './traffic-process.ts'
import { type Collection, type Reading, type Rest, verdictOf } from './verdict.ts'
import { collect, readingOf, restOf } from './watch.ts'

export interface SoakOptions {
  readonly minutes: number
  /** Minutes before these, with a tenth of the pauses, in which memory may grow. */
  readonly warmUpMinutes: number
  readonly users: number
  readonly pauseMs: number
  readonly memory: number
  /** How long connections may take to close after the traffic. */
  readonly restSeconds: number
  readonly front: string
  readonly jit: string
  readonly leaks: readonly string[]
  readonly json: string | undefined
}

export const soakUsage = `usage: bun run bench soak [OPTION…]
Mixed traffic with faults of the upstreams; then whether memory, descriptors, sockets and rows have stayed flat. Ends with status 1 if not.
options
  --minutes N         duration of the traffic. Default: 30
  --warm-up N         minutes before these with a tenth of the pauses, in which memory may grow. Default: a sixth of --minutes
  --users N           users that send requests, each one after the other. Default: 8
  --pause N           milliseconds between two steps of a user, on average. Default: 500
  --memory N          highest growth of the memory that counts as flat, in MiB a minute. Default: 0.1
  --rest N            seconds in which connections must close after the traffic, and all be gone that is tidied up. Default: 120
  --front on          value of GET_BODIES: on or off. Default: on
  --jit on            off: without a just-in-time compiler, whose code is what grows in the first hours
  --leak KINDS        plants leaks in the server: memory, descriptors, sockets; or rows, which are then not tidied up
  --json FILE         writes the readings and the findings to this file`

/** Parses the command line. Throws an Error for invalid arguments. */
export const readSoakOptions = (args: readonly string[]): SoakOptions => {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: text,
      'warm-up': text,
      users: text,
      pause: text,
      memory: text,
      rest: text,
      front: text,
      jit: text,
      leak: text,
      json: text,
    },
  })
  const number = (
    name: 'minutes' | 'warm-up' | 'users' | 'pause' | 'memory' | 'rest',
    usual: number,
    min: number,
    max: number,
  ): number => {
    const value = Number(values[name] ?? usual)
    if (!(value >= min && value <= max)) throw new Error(`--${name} must be a number from ${min} to ${max}`)
    return value
  }
  const wordsOf = (name: 'front' | 'jit' | 'leak', usual: string, all: readonly string[]): readonly string[] => {
    const words = (values[name] ?? usual).split(',').filter(Boolean)
    if (!words.every((word) => all.includes(word))) throw new Error(`--${name} must be one of ${all.join(', ')}`)
    return words
  }
  const minutes = number('minutes', 30, 0.1, 600)
  return {
    minutes,
    warmUpMinutes: number('warm-up', minutes / 6, 0.01, 600),
    users: number('users', 8, 1, 100),
    pauseMs: number('pause', 500, 0, 60_000),
    memory: number('memory', 0.1, 0, 100_000),
    restSeconds: number('rest', 120, 1, 3_600),
    front: wordsOf('front', 'on', ['on', 'off'])[0] ?? 'on',
    jit: wordsOf('jit', 'on', ['on', 'off'])[0] ?? 'on',
    leaks: wordsOf('leak', '', ['memory', 'descriptors', 'sockets', 'rows']),
    json: values.json,
  }
}

/** `bun run bench soak`. */
export const soak = async (args: readonly string[]): Promise<void> => {
  let options: SoakOptions
  try {
    options = readSoakOptions(args)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${soakUsage}`)
    process.exit(2)
  }
  process.exit((await run(options)) ? 0 : 1)
}

const root = join(import.meta.dir, '../../..')
/** After a rest, connections and caches are filled again: of 30 minutes the first five. */
const warmUp = 1 / 6
/** For how long the number of connections must not change to be that of a server at rest. */
const steadyMs = 10_000

const run = async ({
  minutes,
  warmUpMinutes,
  users,
  pauseMs,
  memory,
  restSeconds,
  front,
  jit,
  leaks,
  json,
}: SoakOptions): Promise<boolean> => {
  const facts = environment([{ name: 'sluice', path: root }])
  console.log(
    `${facts.text}\n${minutes} minutes after ${warmUpMinutes} of warm-up, ${users} users, GET_BODIES=${front}${jit === 'off' ? ', without a just-in-time compiler' : ''}`,
  )
  const emulator = await startEmulator({ processingMs: 0, video: { queuedMs: 0, runningMs: 500 } })
  const folder = temporaryFolder()
  const file = join(folder, 'soak.db')
  const collected = join(folder, 'collections.jsonl')
  const tokens = await addUsers(file, users)
  const server = await startServer(emulator, { folder, file, collected, front, jit, leaks })
  const tidiers = tokens.map((token): Client => ({ url: server.url, token, count: () => {}, keepalive: false }))
  const trafficFor = async (ms: number, pauseMs: number): Promise<Statuses> => {
    const users = startWorker<TrafficJob, Statuses>('soak/traffic-process.ts')
    const faults = injectFaults(emulator, Math.max(1_000, ms / 60), AbortSignal.timeout(ms))
    const statuses = await users.ask({ url: server.url, tokens, pauseMs, ms })
    users.stop()
    await faults
    return statuses
  }
  // What is opened at its first use is no leak, and neither is the code that the compiler makes of what is called often.
  await trafficFor(warmUpMinutes * 60_000, pauseMs / 10)
  const resting = { server, file, maxMs: restSeconds * 1_000 }
  const before = await rest(resting, tidiers, undefined)

  const readings: Reading[] = []
  const collections: Collection[] = []
  const startedAt = performance.now()
  const timer = setInterval(
    () => {
      readings.push(readingOf(server, startedAt))
      void fetch(new URL('/_emulator/calls', emulator.rest.url), { method: 'DELETE' })
    },
    Math.max(200, minutes * 100),
  )
  const traffic = trafficFor(minutes * 60_000, pauseMs)
  let ended = false
  const collecting = collectEvery(minutes * 1_000, async () => {
    collections.push(await collect(server, collected, startedAt))
    return !ended
  })
  const statuses = await traffic
  ended = true
  clearInterval(timer)
  await collecting
  const after = await rest(resting, leaks.includes('rows') ? [] : tidiers, before)

  const findings = verdictOf(collections, before, after, { memory, warmUp, idle: users })
  const answers = Object.entries(statuses).map(([status, times]) => `${times} × ${status === '0' ? 'none' : status}`)
  console.log(`answers: ${answers.join(', ')}`)
  for (const { what, text, flat } of findings) console.log(`${what}: ${text}: ${flat ? 'flat' : 'GROWS'}`)
  const isFlat = findings.every(({ flat }) => flat)
  console.log(isFlat ? 'flat' : 'not flat')
  if (json !== undefined) {
    const report = {
      environment: facts.values,
      minutes,
      warmUpMinutes,
      users,
      readings,
      collections,
      findings,
      answers: statuses,
    }
    await writeFile(json, `${JSON.stringify(report, undefined, 2)}\n`)
  }
  await server.stop()
  await emulator.stop()
  return isFlat
}

/** Calls `collect` each time after `ms`, until it resolves with false. */
const collectEvery = async (ms: number, collect: () => Promise<boolean>): Promise<void> => {
  do await Bun.sleep(ms)
  while (await collect())
}

interface Place {
  readonly folder: string
  readonly file: string
  readonly collected: string
  readonly front: string
  readonly jit: string
  readonly leaks: readonly string[]
}

const startServer = (
  { rest, text, video }: Emulator,
  { folder, file, collected, front, jit, leaks }: Place,
): Promise<Started> =>
  start(
    [
      process.execPath,
      ...['--preload', join(import.meta.dir, 'collect.ts')],
      ...(leaks.length > 0 ? ['--preload', join(import.meta.dir, 'leak.ts')] : []),
      join(root, 'src/server.ts'),
    ],
    {
      cwd: root,
      listening: /^sluice listening on (http\S+)$/,
      env: {
        DATABASE_URL: `sqlite:${file}`,
        STORAGE_URL: `file:${join(folder, 'storage')}`,
        MEDIA_UPSTREAM_URL: rest.url,
        MEDIA_UPSTREAM_KEY: rest.key,
        MEDIA_UPSTREAM_TIMEOUT_SECONDS: '5',
        TEXT_UPSTREAM_URL: text.url,
        TEXT_UPSTREAM_KEY: text.key,
        VIDEO_UPSTREAM_URL: video.url,
        VIDEO_UPSTREAM_KEY: video.key,
        VIDEO_POLL_SECONDS: '1',
        PORT: '0',
        GET_BODIES: front,
        LOG_LEVEL: 'error',
        ...(jit === 'off' && { BUN_JSC_useJIT: '0' }),
        BUN_CONFIG_MAX_HTTP_REQUESTS: '65336',
        SOAK_LEAKS: leaks.join(),
        SOAK_COLLECTIONS: collected,
      },
    },
  )

/** Tidies up, and waits until descriptors and sockets are as few as in `goal`, or stay as many for a while. */
const rest = async (
  { server, file, maxMs }: { readonly server: Started; readonly file: string; readonly maxMs: number },
  clients: readonly Client[],
  goal: Rest | undefined,
): Promise<Rest> => {
  const tidyUntil = performance.now() + maxMs
  for (;;) {
    const left = await Promise.all(clients.map(tidy))
    if (left.every((each) => each === 0) || performance.now() > tidyUntil) break
    await Bun.sleep(1_000)
  }
  const until = performance.now() + maxMs
  let latest = restOf(server, file)
  let steadySince = performance.now()
  for (;;) {
    await Bun.sleep(1_000)
    const now = restOf(server, file)
    if (!isSame(now, latest)) steadySince = performance.now()
    latest = now
    const reached = goal !== undefined && now.sockets <= goal.sockets && now.descriptors <= goal.descriptors
    if (reached || performance.now() > until || performance.now() - steadySince > steadyMs) return latest
  }
}

const isSame = (one: Rest, other: Rest): boolean =>
  one.sockets === other.sockets && one.descriptors === other.descriptors
