import type { Case } from './cases.ts'
import { baseline } from './compared-servers.ts'
import type { Job, LoadResult, Quantiles } from './load.ts'
import type { Pace } from './options.ts'
import { startWorker } from './processes.ts'
import { between, more, type Row, type Section, spread, verdict } from './report.ts'
import type { Target } from './targets.ts'
import { warmUp } from './warm-up.ts'

/** The figures of one target in one round. */
export interface Reading {
  /** Microseconds of CPU time per request, or per event of a stream. */
  readonly cpu: number
  /** Requests per second. */
  readonly rate: number
  /** Milliseconds to the end of the response, and to the first byte of its body. */
  readonly whole: Quantiles
  readonly first: Quantiles
  /** Memory after the round, in bytes. */
  readonly memory: number
}

/** Measures a case: warms up each target, then measures all targets in each round. */
export const measureRequests = async (
  which: Case,
  targets: readonly Target[],
  pace: Pace,
  showProgress: (text: string) => void,
): Promise<Section> => {
  const load = startWorker<Job, LoadResult>('load.ts')
  const ask = async (target: Target, job: Pick<Job, 'connections' | 'seconds' | 'atLeast'>): Promise<LoadResult> => {
    const { request, status } = requestOf(which, target)
    const seen = await load.ask({ url: target.process.url, request, status, ...job })
    if (seen.failed > 0) throw new Error(`${which.name}, ${target.name}: ${seen.failed} failed: ${seen.problem}`)
    return seen
  }

  const able: Target[] = []
  const notes: string[] = []
  for (const target of targets) {
    const problem = await problemOf(which, target)
    if (problem !== undefined) {
      if (target.front !== undefined) throw new Error(`${which.name}, ${problem}`)
      notes.push(`not measured: ${problem}`)
      continue
    }
    able.push(target)
    showProgress(`${which.name}: warming up ${target.name}`)
    const atLeast = Math.min(requestOf(which, target).request.distinct, 10_000)
    const job = { connections: pace.connections, seconds: pace.warmSeconds, atLeast }
    await warmUp(target.process, () => ask(target, job))
  }
  const readings = new Map<Target, Reading[]>(able.map((target) => [target, []]))
  for (let round = 0; round < pace.rounds; round++) {
    showProgress(`${which.name}: round ${round + 1} of ${pace.rounds}`)
    // The order changes in each round, so that no target always runs after the same other one.
    for (const target of round % 2 === 0 ? able : able.toReversed()) {
      const before = target.process.cpuMs()
      const busy = await ask(target, { connections: pace.connections, seconds: pace.seconds, atLeast: 1 })
      const cpuMs = target.process.cpuMs() - before
      const quiet = await ask(target, {
        connections: Math.max(1, Math.floor(pace.connections / 4)),
        seconds: pace.seconds / 2,
        atLeast: 1,
      })
      readings.get(target)?.push({
        cpu: (cpuMs * 1_000) / (busy.count * (which.events ?? 1)),
        rate: busy.count / busy.seconds,
        whole: quiet.whole,
        first: quiet.first,
        memory: target.process.memory(),
      })
    }
  }
  load.stop()
  return { ...sectionOf(which, readings), notes: [...notes, ...besidePortkey(which, readings)] }
}

/** The request that a target receives in a case. */
export const requestOf = (which: Case, target: Target): Pick<Case, 'request' | 'status' | 'contains'> => {
  const { request, status, contains } = (target.front === undefined ? which.relayed : undefined) ?? which
  return { request: forTarget(request, target), status, contains }
}

export const forTarget = (request: Case['request'], target: Target): Case['request'] => {
  const headers = { ...request.headers, ...target.headers }
  const filled = Object.entries(headers).map(([name, value]) => [name, value.replace('{token}', target.token)])
  return { ...request, headers: Object.fromEntries(filled) }
}

/** Why the response of a target is wrong. Undefined: it is correct. A wrong response must not count. */
const problemOf = async (which: Case, target: Target): Promise<string | undefined> => {
  const { request, status, contains } = requestOf(which, target)
  const response = await fetch(target.process.url + request.path.replace('{n}', '0'), {
    method: request.method,
    headers: request.headers,
    body: request.body,
  })
  const text = await response.text()
  if (response.status === status && text.includes(contains)) return undefined
  return `${target.name}: status ${response.status}, ${text.slice(0, 200)}`
}

const columns = [
  'µs CPU',
  'spread',
  'ratio',
  'goal',
  'met',
  'a second',
  'p50 ms',
  'added',
  'goal',
  'met',
  'p99 ms',
  'first p50',
  'MiB',
]

const sectionOf = (which: Case, readings: ReadonlyMap<Target, readonly Reading[]>): Section => {
  const to = which.goal?.added?.to ?? 'whole'
  const medianOf = (of: readonly Reading[], read: (reading: Reading) => number) => spread(of.map(read)).median
  const all = [...readings]
  const relay = all.find(([{ name }]) => name === baseline)?.[1]
  const rows = all.map(([target, own]): Row => {
    const cpu = spread(own.map((reading) => reading.cpu))
    const beside = own === relay ? undefined : relay
    const ratio = beside && cpu.median / medianOf(beside, (reading) => reading.cpu)
    const added = beside && medianOf(own, (reading) => reading[to].p50) - medianOf(beside, (reading) => reading[to].p50)
    const goal = target.front && which.goal?.cpu[target.front]
    const addedGoal = target.front && which.goal?.added?.[target.front]
    const met = goal === undefined || ratio === undefined ? undefined : ratio <= goal
    const addedMet = addedGoal === undefined || added === undefined ? undefined : added <= addedGoal
    const figures = {
      cpu,
      ratio,
      goal,
      met,
      rate: spread(own.map((reading) => reading.rate)),
      p50: spread(own.map((reading) => reading.whole.p50)),
      p99: spread(own.map((reading) => reading.whole.p99)),
      first50: spread(own.map((reading) => reading.first.p50)),
      first99: spread(own.map((reading) => reading.first.p99)),
      added,
      addedGoal,
      addedMet,
      memory: spread(own.map((reading) => reading.memory)),
    }
    const cells = [
      cpu.median.toFixed(1),
      between(cpu),
      ratio?.toFixed(2) ?? '',
      goal?.toString() ?? '',
      verdict(met),
      figures.rate.median.toFixed(0),
      figures.p50.median.toFixed(2),
      more(added),
      addedGoal === undefined ? '' : `+${addedGoal}`,
      verdict(addedMet),
      figures.p99.median.toFixed(2),
      figures.first50.median.toFixed(2),
      (figures.memory.median / 2 ** 20).toFixed(0),
    ]
    return { target: target.name, cells, figures }
  })
  return { name: which.name, title: which.title, columns, rows }
}

/** The goals against Portkey: 10 times its request rate, and a tenth of its added latency. The rate follows from the CPU time per request. */
const besidePortkey = (which: Case, readings: ReadonlyMap<Target, readonly Reading[]>): readonly string[] => {
  const of = (target: Target | undefined) => {
    const own = (target && readings.get(target)) ?? []
    return { cpu: spread(own.map(({ cpu }) => cpu)).median, ms: spread(own.map(({ whole }) => whole.p50)).median }
  }
  const targets = [...readings.keys()]
  const portkey = targets.find(({ name }) => name === 'portkey')
  if (!portkey || which.name !== 'chat') return []
  const [theirs, relay] = [of(portkey), of(targets.find(({ name }) => name === baseline))]
  return targets
    .filter(({ front }) => front !== undefined)
    .map((target) => {
      const own = of(target)
      const latency = (own.ms - relay.ms) / (theirs.ms - relay.ms)
      return `${target.name} against portkey: ${(theirs.cpu / own.cpu).toFixed(1)} times its rate (goal 10), ${latency.toFixed(2)} of its added latency (goal 0.1)`
    })
}
