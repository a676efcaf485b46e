import { type Case, cases, chat } from '../cases.ts'
import type { HoldJob, HoldResult } from '../hold-streams.ts'
import type { Job, LoadResult } from '../load.ts'
import { startWorker } from '../processes.ts'
import { spread } from '../report.ts'
import { forTarget } from '../requests.ts'
import type { Target } from '../targets.ts'
import { warmUp } from '../warm-up.ts'
import { type Figures, type Measurement, rateBounds } from './columns.ts'
import { type Sample, slopeOf } from './growth.ts'
import type { PacedJob, PacedResult } from './paced-load.ts'
import { type RatePoint, ratesWithin } from './rates.ts'

/** The figures of each target. */
export type Board = ReadonlyMap<Target, Figures>

interface Measured {
  /** Without a gateway: the added time is above this one. */
  readonly direct: Target
  readonly targets: readonly Target[]
  /** The duration of a measurement is a multiple of it. */
  readonly unitSeconds: number
  readonly showProgress: (text: string) => void
}

const completion = chat('plain', false)
const slowCompletion = chat('plain-20', false)
const stream = chat('events-22-2', true)
const burst = { request: chat('events-2000-0', true), events: 2_000 }
const openStream = { request: chat('open-250', true), count: 512 }
const rounds = 4

/** The request and a response of each target, before anything is measured. Returns why a response is wrong. */
export const problemOf = async (target: Target): Promise<string | undefined> => {
  for (const name of ['chat', 'stream-22']) {
    const { request, contains } = cases.find((each) => each.name === name) as Case
    const { path, method, headers, body } = forTarget(request, target)
    const response = await fetch(target.process.url + path, { method, headers, body })
    const text = await response.text()
    if (response.status !== 200 || !text.includes(contains)) return `status ${response.status}, ${text.slice(0, 200)}`
  }
  return undefined
}

const load = <JobOf, Result extends { readonly failed: number; readonly problem?: string }>(script: string) => {
  const worker = startWorker<JobOf, Result>(script)
  return {
    [Symbol.dispose]: () => worker.stop(),
    ask: (job: JobOf): Promise<Result> => worker.ask(job),
    async askWell(target: Target, job: JobOf): Promise<Result> {
      const result = await worker.ask(job)
      if (result.failed > 0) throw new Error(`${target.name}: ${result.failed} failed: ${result.problem}`)
      return result
    },
  }
}

const jobFor = (target: Target, request: typeof completion): Pick<Job, 'url' | 'request' | 'status'> => ({
  url: target.process.url,
  request: forTarget(request, target),
  status: 200,
})

/** The median of each figure over the rounds, for each target. The order of the targets alternates. */
const inRounds = async <Key extends string>(
  { direct, targets }: Measured,
  measure: (target: Target) => Promise<Readonly<Record<Key, number>>>,
): Promise<(target: Target) => Readonly<Record<Key, number>>> => {
  const all = [direct, ...targets]
  const readings = new Map<Target, Readonly<Record<Key, number>>[]>(all.map((target) => [target, []]))
  for (let round = 0; round < rounds; round++) {
    for (const target of round % 2 === 0 ? all : all.toReversed()) readings.get(target)?.push(await measure(target))
  }
  return (target) => {
    const own = readings.get(target) ?? []
    const keys = Object.keys(own[0] ?? {}) as Key[]
    return Object.fromEntries(keys.map((key) => [key, spread(own.map((each) => each[key])).median])) as Record<
      Key,
      number
    >
  }
}

const latency = async (measured: Measured): Promise<Board> => {
  using generator = load<Job, LoadResult>('load.ts')
  const seconds = 0.75 * measured.unitSeconds
  const of = await inRounds(measured, async (target) => {
    const job = { ...jobFor(target, completion), connections: 1, seconds, atLeast: 20 }
    return { ...(await generator.askWell(target, job)).whole }
  })
  const base = of(measured.direct)
  return figuresOf(measured, (target) => ({ added50: of(target).p50 - base.p50, added99: of(target).p99 - base.p99 }))
}

const firstEvent = async (measured: Measured): Promise<Board> => {
  using generator = load<Job, LoadResult>('load.ts')
  const seconds = 0.6 * measured.unitSeconds
  const of = await inRounds(measured, async (target) => {
    const job = { ...jobFor(target, stream), connections: 4, seconds, atLeast: 8 }
    return { p50: (await generator.askWell(target, job)).first.p50 }
  })
  return figuresOf(measured, (target) => ({ firstEvent: of(target).p50 - of(measured.direct).p50 }))
}

const event = async (measured: Measured): Promise<Board> => {
  using generator = load<Job, LoadResult>('load.ts')
  const seconds = 0.6 * measured.unitSeconds
  const of = await inRounds(measured, async (target) => {
    const job = { ...jobFor(target, burst.request), connections: 1, seconds, atLeast: 3 }
    return { p50: (await generator.askWell(target, job)).whole.p50 }
  })
  const base = of(measured.direct).p50
  return figuresOf(measured, (target) => ({ event: ((of(target).p50 - base) * 1_000) / burst.events }))
}

const cpu = async (measured: Measured): Promise<Board> => {
  using generator = load<Job, LoadResult>('load.ts')
  const seconds = 0.5 * measured.unitSeconds
  const of = await inRounds(measured, async (target) => {
    const before = target.process.cpuMs()
    const job = { ...jobFor(target, completion), connections: 16, seconds, atLeast: 16 }
    const { count } = await generator.askWell(target, job)
    return { cpu: ((target.process.cpuMs() - before) * 1_000) / count }
  })
  return figuresOf(measured, (target) => of(target))
}

const rates = async (measured: Measured): Promise<Board> => {
  using generator = load<PacedJob, PacedResult>('board/paced-load.ts')
  const { direct, targets, unitSeconds, showProgress } = measured
  const at = (target: Target, perSecond: number) =>
    generator.ask({
      ...jobFor(target, slowCompletion),
      perSecond,
      seconds: 1.2 * unitSeconds,
      connections: Math.min(1_024, 16 + Math.ceil(perSecond / 10)),
    })
  const search = { from: 200, to: 51_200, within: 1.2 }
  // Of a quiet upstream. A rate that exhausts the machine delays the upstream too, and so counts.
  const base = await at(direct, search.from)
  if (base.failed > 0) throw new Error(`${direct.name}: ${base.problem}`)
  const found = new Map<Target, Figures>()
  for (const target of targets) {
    const reached = await ratesWithin(rateBounds, search, async (offered): Promise<RatePoint> => {
      showProgress(`rates: ${target.name}, ${offered.toFixed(0)} a second`)
      const { perSecond, failed, whole } = await at(target, offered)
      return { offered, answered: perSecond, failed, added: whole.p99 - base.whole.p99 }
    })
    found.set(target, Object.fromEntries(rateBounds.map((bound, nth) => [`rate${bound}`, reached[nth]])))
  }
  return found
}

const streams = async ({ targets, unitSeconds }: Measured): Promise<Board> => {
  const found = new Map<Target, Figures>()
  for (const target of targets) {
    using client = load<HoldJob, HoldResult>('hold-streams.ts')
    const request = forTarget(openStream.request, target)
    await client.ask({ kind: 'open', url: target.process.url, request, count: openStream.count })
    const { open, failed, problem } = await client.ask({ kind: 'listen', seconds: 2 * unitSeconds })
    await client.ask({ kind: 'close' })
    if (failed > 0) console.log(`${target.name}: ${failed} streams failed: ${problem}`)
    found.set(target, { streams: open })
  }
  return found
}

/** All targets at the same time, so that the window is long. */
const memory = async ({ targets, unitSeconds }: Measured): Promise<Board> => {
  const seconds = 40 * unitSeconds
  const running = targets.map(async (target) => {
    using generator = load<PacedJob, PacedResult>('board/paced-load.ts')
    const samples: Sample[] = []
    const timer = setInterval(() => {
      samples.push({ at: performance.now() / 1_000, value: target.process.memory() / 2 ** 20 })
    }, 1_000 * unitSeconds)
    const job = { ...jobFor(target, completion), perSecond: 100, seconds, connections: 16 }
    await generator.askWell(target, job).finally(() => clearInterval(timer))
    return [target, { growth: 60 * slopeOf(samples) }] as const
  })
  return new Map(await Promise.all(running))
}

const figuresOf = ({ targets }: Measured, of: (target: Target) => Figures): Board =>
  new Map(targets.map((target) => [target, of(target)]))

/** Streams without pauses: in the same time, far more of them than with pauses. */
const fastStream = chat('events-22-0', true)

/** Each kind of request, until the target compiles hardly anything: a gateway in use is warm. */
export const warmUpAll = async ({ targets, unitSeconds, showProgress }: Measured): Promise<void> => {
  using generator = load<Job, LoadResult>('load.ts')
  for (const target of targets) {
    showProgress(`warming up ${target.name}`)
    for (const [request, seconds, requests] of [
      [completion, 5, 10_000],
      [fastStream, 5, 5_000],
      [burst.request, 2, 100],
    ] as const) {
      const job = {
        ...jobFor(target, request),
        connections: 16,
        seconds: seconds * unitSeconds,
        atLeast: Math.ceil(requests * unitSeconds),
      }
      await warmUp(target.process, () => generator.askWell(target, job))
    }
  }
}

export const measure: Readonly<Record<Measurement, (measured: Measured) => Promise<Board>>> = {
  latency,
  'first-event': firstEvent,
  event,
  cpu,
  rates,
  streams,
  memory,
}
