import { detail } from './cases.ts'
import type { Pace } from './options.ts'
import type { Started } from './processes.ts'
import { between, type Row, type Section, spread, verdict } from './report.ts'
import { forTarget } from './requests.ts'
import type { Target } from './targets.ts'

export const startCase = { name: 'start', title: 'from the start to the first asset detail' } as const

/** The goal in milliseconds, for an existing database with any number of rows. */
const goalMs = 200

interface Reading {
  readonly ms: number
  readonly cpuMs: number
  readonly memory: number
}

export const measureStarts = async (
  targets: readonly Target[],
  pace: Pace,
  showProgress: (text: string) => void,
): Promise<Section> => {
  const readings = new Map<Target, Reading[]>(targets.map((target) => [target, []]))
  for (let round = 0; round < Math.max(3, pace.rounds); round++) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      showProgress(`start: ${target.name}, round ${round + 1}`)
      readings.get(target)?.push(await measure(target))
    }
  }
  return { ...startCase, columns: ['ms', 'spread', 'goal', 'met', 'CPU ms', 'MiB'], rows: [...readings].map(rowOf) }
}

const measure = async (target: Target): Promise<Reading> => {
  const startedAt = performance.now()
  const own = await target.startAgain()
  try {
    await firstAnswer(target, own)
    return { ms: performance.now() - startedAt, cpuMs: own.cpuMs(), memory: own.memory() }
  } finally {
    await own.stop()
  }
}

const firstAnswer = async (target: Target, { url }: Started): Promise<void> => {
  const { path, headers } = forTarget(detail.request, target)
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const response = await fetch(url + path.replace('{n}', '0'), { headers, keepalive: false }).catch(() => undefined)
    await response?.arrayBuffer()
    if (response?.status === detail.status) return
    await Bun.sleep(5)
  }
  throw new Error(`${target.name} does not respond`)
}

const rowOf = ([target, own]: readonly [Target, readonly Reading[]]): Row => {
  const ms = spread(own.map((reading) => reading.ms))
  const cpuMs = spread(own.map((reading) => reading.cpuMs))
  const memory = spread(own.map((reading) => reading.memory))
  const goal = target.front && goalMs
  const met = goal === undefined ? undefined : ms.median <= goal
  const cells = [
    ms.median.toFixed(0),
    between(ms),
    goal?.toString() ?? '',
    verdict(met),
    cpuMs.median.toFixed(0),
    (memory.median / 2 ** 20).toFixed(0),
  ]
  return { target: target.name, cells, figures: { ms, cpuMs, memory, goal, met } }
}
