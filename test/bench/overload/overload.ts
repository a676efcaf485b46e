import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chat, type Front } from '../cases.ts'
import { environment } from '../environment.ts'
import type { Job, LoadRequest, LoadResult } from '../load.ts'
import { type Started, start, startWorker, temporaryFolder, type Worker } from '../processes.ts'
import { toText } from '../report.ts'
import { startUpstream } from '../targets.ts'
import { addUsers } from '../users.ts'
import type { OpenJob, OpenResult } from './open-load.ts'
import {
  type FloodRow,
  floodColumns,
  floodNote,
  floodRow,
  type Overloaded,
  type OverloadRow,
  overloadColumns,
  overloadNote,
  overloadRow,
  type Peak,
  type Round,
} from './rows.ts'

export interface OverloadOptions {
  readonly capacities: readonly Capacity[]
  readonly fronts: readonly Front[]
  readonly seconds: number
  readonly json: string | undefined
}

export const overloadUsage = `usage: bun run bench overload [OPTION…]
How many good answers are left at four times the capacity, and what a user's flood does to another user.
options
  --front on,off      values of GET_BODIES. Default: both
  --bound NAMES       places, processor, relay. Default: all
  --seconds N         duration of a measurement. Default: 5
  --json FILE         writes the figures to this file`

/** Parses the command line. Throws an Error for invalid arguments. */
export const readOverloadOptions = (args: readonly string[]): OverloadOptions => {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ args: [...args], options: { front: text, bound: text, seconds: text, json: text } })
  const seconds = Number(values.seconds ?? 5)
  if (!(seconds >= 0.5 && seconds <= 600)) throw new Error('--seconds must be a number from 0.5 to 600')
  const fronts = (values.front ?? 'on,off').split(',').map((word): Front => {
    if (word !== 'on' && word !== 'off') throw new Error('--front must be on, off, or both')
    return word
  })
  const bounds = values.bound?.split(',') ?? capacities.map(({ name }) => name)
  const unknown = bounds.find((bound) => !capacities.some(({ name }) => name === bound))
  if (unknown !== undefined) throw new Error('--bound must be of places, processor, and relay')
  return {
    ...{ fronts, seconds, json: values.json },
    capacities: capacities.filter(({ name }) => bounds.includes(name)),
  }
}

/** `bun run bench overload`. */
export const overload = async (args: readonly string[]): Promise<void> => {
  let options: OverloadOptions
  try {
    options = readOverloadOptions(args)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${overloadUsage}`)
    process.exit(2)
  }
  await run(options)
  process.exit(0)
}

const root = join(import.meta.dir, '../../..')

/** What bounds the good answers, and how the server is started. */
interface Capacity {
  readonly name: string
  readonly model: string
  /** Requests in flight at the peak. */
  readonly connections: number
  readonly settings: Readonly<Record<string, string>>
  /** The bare relay is measured instead of the gateway: what it cannot do on this machine, no gateway can. */
  readonly isRelay?: true
}

/** Requests in flight of which each takes 200 ms at the upstream. */
const slots = 64

const capacities: readonly Capacity[] = [
  {
    ...{ name: 'places', model: 'plain-200', connections: slots },
    settings: { MAX_REQUESTS: String(slots), USER_MAX_REQUESTS: String(slots) },
  },
  { name: 'processor', model: 'plain', connections: 64, settings: {} },
  { name: 'relay', model: 'plain', connections: 64, settings: {}, isRelay: true },
]

const users = 20
/** Of a user who is not in a hurry. */
const quietPerSecond = 100
/** Other load on the machine changes with time: the quiet user is alone, and beside the flood, in turns. */
const floodRounds = 5
/** The load would come from other machines. Here it must not take the processor that the server needs. */
const floodNiceness = 15

interface Server {
  readonly process: Started
  readonly tokens: readonly string[]
}

const startServer = async (
  front: Front,
  upstream: string,
  settings: Readonly<Record<string, string>>,
  isRelay = false,
): Promise<Server> => {
  if (isRelay) return startRelay(front, upstream)
  const file = join(temporaryFolder(), 'overload.db')
  const tokens = await addUsers(file, users)
  const env = {
    ...{ DATABASE_URL: `sqlite:${file}`, PORT: '0', GET_BODIES: front, LOG_LEVEL: 'fatal' },
    ...{ TEXT_UPSTREAM_URL: `${upstream}/v1`, TEXT_UPSTREAM_KEY: 'text-key-123456' },
    ...{ STORAGE_URL: 'none', BUN_CONFIG_MAX_HTTP_REQUESTS: '65336', ...settings },
  }
  const command = [process.execPath, join(root, 'src/server/start.ts')]
  return { process: await start(command, { cwd: root, env, listening: /^sluice listening on (http\S+)$/ }), tokens }
}

/** With the listener of the gateway, and as many users, who are all the same to it. */
const startRelay = async (front: Front, upstream: string): Promise<Server> => {
  const kind = front === 'on' ? 'node' : 'pooled'
  const env = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65336' }
  const relay = await start([process.execPath, join(root, 'test/bench/relay.ts'), kind, upstream], { env })
  return { process: relay, tokens: Array.from({ length: users }, (_, nth) => `user-${nth}`) }
}

const requestOf = (model: string, token: string): LoadRequest => {
  const request = chat(model, false)
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } }
}

interface Measured {
  readonly server: Server
  readonly capacity: Capacity
  readonly seconds: number
}

type Closed = Worker<Job, LoadResult>
type Open = Worker<OpenJob, OpenResult>

/** The most good answers: as many requests in flight as there is room for, of one user after the other. */
const peakOf = async ({ server, capacity, seconds }: Measured, closed: Closed): Promise<Peak> => {
  const ask = (length: number) =>
    closed.ask({
      ...{ url: server.process.url, status: 200, connections: capacity.connections, seconds: length, atLeast: 1 },
      request: requestOf(capacity.model, server.tokens[0] ?? ''),
    })
  // The just-in-time compiler needs some seconds of load.
  await ask(Math.max(2, seconds))
  const before = server.process.cpuMs()
  const result = await ask(seconds)
  if (result.failed > 0) throw new Error(`${result.failed} requests failed: ${result.problem}`)
  const cpuSeconds = (server.process.cpuMs() - before) / 1_000
  return { perSecond: result.count / result.seconds, perCpuSecond: result.count / cpuSeconds }
}

/** Four times as many requests a second as the peak has, of many users. */
const overloaded = async ({ server, capacity, seconds }: Measured, peak: Peak, open: Open): Promise<Overloaded> => {
  const before = server.process.cpuMs()
  const result = await open.ask({
    ...{ url: server.process.url, seconds, perSecond: 4 * peak.perSecond, connections: 16 * capacity.connections },
    requests: server.tokens.map((token) => requestOf(capacity.model, token)),
  })
  const cpuSeconds = (server.process.cpuMs() - before) / 1_000
  return { ...result, perSecond: result.good / result.seconds, perCpuSecond: result.good / cpuSeconds }
}

/** The wait of a quiet user: alone, and while another user sends four times what there is room for. */
const flooded = async ({ server, capacity, seconds }: Measured, peak: Peak, open: Open, flooding: Open) => {
  const { url } = server.process
  const [flood = '', quiet = ''] = server.tokens
  const asQuiet = (length: number) =>
    open.ask({
      ...{ url, perSecond: quietPerSecond, connections: 8, seconds: length },
      requests: [requestOf(capacity.model, quiet)],
    })
  const job = { url, perSecond: 4 * peak.perSecond, connections: 16 * capacity.connections, seconds: seconds + 1 }
  const rounds: Round[] = []
  for (let round = 0; round < floodRounds; round++) {
    const alone = await asQuiet(seconds)
    const running = flooding.ask({ ...job, requests: [requestOf(capacity.model, flood)] })
    await Bun.sleep(500)
    const beside = await asQuiet(seconds)
    rounds.push({ alone, beside, flood: await running })
  }
  return rounds
}

const run = async ({ fronts, capacities, seconds, json }: OverloadOptions): Promise<void> => {
  const facts = environment([{ name: 'sluice', path: root }])
  console.log(`${facts.text}\n${seconds} seconds`)
  const upstream = await startUpstream()
  const [closed, flooding, quiet] = [
    startWorker<Job, LoadResult>('load.ts', floodNiceness),
    startWorker<OpenJob, OpenResult>('overload/open-load.ts', floodNiceness),
    startWorker<OpenJob, OpenResult>('overload/open-load.ts'),
  ]
  const [overloads, floods]: [OverloadRow[], FloodRow[]] = [[], []]
  for (const front of fronts) {
    for (const capacity of capacities) {
      const target = `${capacity.name}, ${front}`
      const server = await startServer(front, upstream.url, capacity.settings, capacity.isRelay)
      const measured = { server, capacity, seconds }
      const peak = await peakOf(measured, closed)
      const result = await overloaded(measured, peak, flooding)
      overloads.push(overloadRow(target, peak, result))
      await server.process.stop()
      // A user has only a part of the room.
      const shared = await startServer(front, upstream.url, sharedSettings(capacity), capacity.isRelay)
      const parts = { ...measured, server: shared }
      await peakOf(parts, closed)
      floods.push(floodRow(target, await flooded(parts, peak, quiet, flooding)))
      await shared.process.stop()
    }
  }
  for (const worker of [closed, flooding, quiet]) worker.stop()
  await upstream.stop()
  const sections = [
    {
      name: 'overload',
      title: 'at four times the peak, 20 users',
      columns: overloadColumns,
      rows: overloads,
      notes: overloads.map(overloadNote),
    },
    {
      name: 'flood',
      title: 'a quiet user, alone and beside a flood of four times the peak',
      columns: floodColumns,
      rows: floods,
      notes: floods.map(floodNote),
    },
  ]
  for (const section of sections) console.log(`\n${toText(section)}`)
  if (json !== undefined) {
    const rows = sections.map(({ name, rows }) => [name, rows.map(({ target, figures }) => ({ target, ...figures }))])
    const report = { environment: facts.values, seconds, ...Object.fromEntries(rows) }
    await writeFile(json, `${JSON.stringify(report, undefined, 2)}\n`)
  }
}

/** The same room for all, and a quarter of it for each user. */
const sharedSettings = ({ settings, connections }: Capacity): Readonly<Record<string, string>> =>
  settings.MAX_REQUESTS === undefined ? settings : { ...settings, MAX_REQUESTS: String(4 * connections) }
