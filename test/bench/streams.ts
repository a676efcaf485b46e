import { chat, type Front } from './cases.ts'
import { baseline } from './compared-servers.ts'
import type { HoldJob, HoldResult } from './hold-streams.ts'
import type { Pace } from './options.ts'
import { startWorker } from './processes.ts'
import { between, more, type Row, type Section, spread, verdict } from './report.ts'
import { forTarget } from './requests.ts'
import type { Target } from './targets.ts'

/** A case with many concurrent streams and few events. */
export interface OpenCase {
  readonly name: string
  readonly title: string
  readonly count: number
  /** Milliseconds between two events of a stream. */
  readonly everyMs: number
  readonly goal: {
    /** KB of memory per stream. */
    readonly kilobytes?: Readonly<Record<Front, number>>
    /** The 99th percentile of an event's delay above the bare relay, in milliseconds. */
    readonly added99?: number
  }
}

export const openCases: readonly OpenCase[] = [
  { name: 'open-1000', title: '1,000 open streams', count: 1_000, everyMs: 250, goal: { added99: 5 } },
  {
    name: 'open-10000',
    title: '10,000 open streams',
    count: 10_000,
    everyMs: 5_000,
    goal: { kilobytes: { on: 20, off: 14 } },
  },
]

interface Reading {
  readonly open: number
  /** KB (1,000 bytes) per stream. */
  readonly kilobytes: number
  /** Microseconds of CPU time per event. */
  readonly cpu: number
  readonly delay50: number
  readonly delay99: number
}

/** Uses a new process for each measurement, because a process does not return all freed memory. */
export const measureOpen = async (
  which: OpenCase,
  targets: readonly Target[],
  pace: Pace,
  showProgress: (text: string) => void,
): Promise<Section> => {
  const readings = new Map<Target, Reading[]>(targets.map((target) => [target, []]))
  // A relay needs two descriptors for each stream.
  const count = Math.min(which.count, Math.floor((descriptors() - 200) / 2))
  for (let round = 0; round < Math.min(3, pace.rounds); round++) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      showProgress(`${which.name}: ${target.name}, round ${round + 1}`)
      readings.get(target)?.push(await measure(which, target, count, pace))
    }
  }
  return sectionOf(which, readings)
}

const measure = async (which: OpenCase, target: Target, count: number, pace: Pace): Promise<Reading> => {
  const client = startWorker<HoldJob, HoldResult>('hold-streams.ts')
  const own = await target.startAgain()
  const ask = async (job: HoldJob): Promise<HoldResult> => {
    const result = await client.ask(job)
    if (result.failed > 0)
      throw new Error(`${which.name}, ${target.name}: ${result.open} are open, then: ${result.problem}`)
    return result
  }
  try {
    const request = forTarget(chat(`open-${which.everyMs}`, true), target)
    // The first streams cause allocations that do not belong to a single stream.
    await ask({ kind: 'open', url: own.url, request, count: 200 })
    await ask({ kind: 'listen', seconds: 1 })
    await ask({ kind: 'close' })
    await Bun.sleep(500)
    const before = own.memory()
    await ask({ kind: 'open', url: own.url, request, count })
    await Bun.sleep(1_000)
    const cpuMs = own.cpuMs()
    const { events, delay, open } = await ask({
      kind: 'listen',
      seconds: Math.max(pace.seconds, (2 * which.everyMs) / 1_000),
    })
    return {
      open,
      cpu: ((own.cpuMs() - cpuMs) * 1_000) / events,
      kilobytes: (own.memory() - before) / 1_000 / open,
      delay50: delay.p50,
      delay99: delay.p99,
    }
  } finally {
    client.stop()
    await own.stop()
  }
}

/** The maximum number of open descriptors of a process. */
const descriptors = (): number => {
  const said = Bun.spawnSync(['sh', '-c', 'ulimit -Hn']).stdout.toString().trim()
  return said === 'unlimited' ? Number.POSITIVE_INFINITY : Number(said)
}

const columns = [
  'open',
  'KB a stream',
  'spread',
  'goal',
  'met',
  'µs CPU an event',
  'p50 ms',
  'added',
  'p99 ms',
  'added',
  'goal',
  'met',
]

const sectionOf = (which: OpenCase, readings: ReadonlyMap<Target, readonly Reading[]>): Section => {
  const all = [...readings].map(([target, own]) => {
    const of = (read: (reading: Reading) => number) => spread(own.map(read))
    const figures = {
      open: of(({ open }) => open),
      kilobytes: of(({ kilobytes }) => kilobytes),
      cpu: of(({ cpu }) => cpu),
      delay50: of(({ delay50 }) => delay50),
      delay99: of(({ delay99 }) => delay99),
    }
    return { target, figures }
  })
  const relay = all.find(({ target }) => target.name === baseline)
  const rows = all.map(({ target, figures }): Row => {
    const beside = target === relay?.target ? undefined : relay?.figures
    const added50 = beside && figures.delay50.median - beside.delay50.median
    const added99 = beside && figures.delay99.median - beside.delay99.median
    const goal = target.front && which.goal.kilobytes?.[target.front]
    const goal99 = target.front && which.goal.added99
    const met = goal === undefined ? undefined : figures.kilobytes.median <= goal
    const met99 = goal99 === undefined || added99 === undefined ? undefined : added99 <= goal99
    const cells = [
      figures.open.median.toFixed(0),
      figures.kilobytes.median.toFixed(1),
      between(figures.kilobytes, 1),
      goal?.toString() ?? '',
      verdict(met),
      figures.cpu.median.toFixed(1),
      figures.delay50.median.toFixed(2),
      more(added50),
      figures.delay99.median.toFixed(2),
      more(added99),
      goal99 === undefined ? '' : `+${goal99}`,
      verdict(met99),
    ]
    return { target: target.name, cells, figures: { ...figures, added50, added99, goal, met, goal99, met99 } }
  })
  return { name: which.name, title: which.title, columns, rows }
}
