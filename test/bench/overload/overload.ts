import { writeFile } from 'node:fs/promises'
import { chat } from '../cases.ts'
import { environment } from '../environment.ts'
import type { Job, LoadRequest, LoadResult } from '../load.ts'
import { startWorker, type Worker } from '../processes.ts'
import { toText } from '../report.ts'
import { startUpstream } from '../targets.ts'
import { warmUp } from '../warm-up.ts'
import type { OpenJob, OpenResult } from './open-load.ts'
import { type OverloadOptions, overloadUsage, readOverloadOptions } from './options.ts'
import {
  type FloodRow,
  floodColumns,
  floodNote,
  floodRow,
  medianRound,
  type Overloaded,
  type OverloadRound,
  type OverloadRow,
  overloadColumns,
  overloadNote,
  overloadRow,
  type Peak,
  type Round,
} from './rows.ts'
import { type Capacity, root, type Server, sharedCapacity, startServer } from './servers.ts'

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

/** Of a job that is repeated until the just-in-time compiler has little to do. */
const warmSeconds = 2
/** Of a user who is not in a hurry. */
const quietPerSecond = 100
/** Other load on the machine changes with time: what is compared is measured in turns. */
const overloadRounds = 3
const floodRounds = 5
/** The load would come from other machines. Here it must not take the processor that the server needs. */
const floodNiceness = 15

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

const askPeak = ({ server, capacity }: Measured, closed: Closed, seconds: number): Promise<LoadResult> =>
  closed.ask({
    ...{ url: server.process.url, status: 200, connections: capacity.connections, seconds, atLeast: 1 },
    request: requestOf(capacity.model, server.tokens[0] ?? ''),
  })

const warm = (measured: Measured, closed: Closed): Promise<void> =>
  warmUp(measured.server.process, () => askPeak(measured, closed, warmSeconds))

/** The most good answers: as many requests in flight as there is room for, of one user after the other. */
const peakOf = async (measured: Measured, closed: Closed): Promise<Peak> => {
  const { server, seconds } = measured
  const before = server.process.cpuMs()
  const result = await askPeak(measured, closed, seconds)
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

/** The workers of the flood: the clients of the one who sends it, those of the quiet user, and those of the upstream. */
interface FloodWorkers {
  readonly flooding: Open
  readonly quiet: Open
  readonly direct: Open
}

/**
 * The wait of a quiet user: alone, and while another user sends four times what there is room for. The same requests to
 * the upstream itself, at the same time, tell how long upstream and clients take.
 */
const flooded = async (measured: Measured, upstream: string, peak: Peak, workers: FloodWorkers) => {
  const { server, capacity, seconds } = measured
  const { url } = server.process
  const { flooding, quiet, direct } = workers
  const [flood = '', other = ''] = server.tokens
  const both = async () => {
    const job = { perSecond: quietPerSecond, connections: 8, seconds, requests: [requestOf(capacity.model, other)] }
    const [served, reference] = await Promise.all([quiet.ask({ ...job, url }), direct.ask({ ...job, url: upstream })])
    return { served, direct: reference }
  }
  const job = { url, perSecond: 4 * peak.perSecond, connections: 16 * capacity.connections, seconds: seconds + 1 }
  const rounds: Round[] = []
  for (let round = 0; round < floodRounds; round++) {
    const alone = await both()
    const running = flooding.ask({ ...job, requests: [requestOf(capacity.model, flood)] })
    await Bun.sleep(500)
    const beside = await both()
    rounds.push({ alone, beside, flood: await running })
  }
  return rounds
}

const run = async ({ fronts, capacities, seconds, json, separate }: OverloadOptions): Promise<void> => {
  const facts = environment([{ name: 'sluice', path: root }])
  const where = separate ? `, the server on processor ${separate.server}, everything else on ${separate.load}` : ''
  console.log(`${facts.text}\n${seconds} seconds${where}`)
  const loadOn = { processors: separate?.load }
  const upstream = await startUpstream(loadOn)
  const low = { ...loadOn, niceness: floodNiceness }
  const closed = startWorker<Job, LoadResult>('load.ts', low)
  const workers = {
    flooding: startWorker<OpenJob, OpenResult>('overload/open-load.ts', low),
    quiet: startWorker<OpenJob, OpenResult>('overload/open-load.ts', loadOn),
    direct: startWorker<OpenJob, OpenResult>('overload/open-load.ts', loadOn),
  }
  const [overloads, floods]: [OverloadRow[], FloodRow[]] = [[], []]
  for (const front of fronts) {
    for (const capacity of capacities) {
      const target = `${capacity.name}, ${front}`
      const options = { front, upstream: upstream.url, capacity, processors: separate?.server }
      const server = await startServer(options)
      const measured = { server, capacity, seconds }
      await warm(measured, closed)
      const rounds: OverloadRound[] = []
      for (let round = 0; round < overloadRounds; round++) {
        const peak = await peakOf(measured, closed)
        rounds.push({ peak, overload: await overloaded(measured, peak, workers.flooding) })
      }
      overloads.push(overloadRow(target, rounds))
      const { peak } = medianRound(rounds)
      await server.process.stop()
      // A user has only a part of the room.
      const shared = await startServer({ ...options, capacity: sharedCapacity(capacity) })
      const parts = { ...measured, server: shared }
      await warm(parts, closed)
      floods.push(floodRow(target, await flooded(parts, upstream.url, peak, workers)))
      await shared.process.stop()
    }
  }
  for (const worker of [closed, ...Object.values(workers)]) worker.stop()
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
    const report = { environment: facts.values, seconds, separate, ...Object.fromEntries(rows) }
    await writeFile(json, `${JSON.stringify(report, undefined, 2)}\n`)
  }
}
