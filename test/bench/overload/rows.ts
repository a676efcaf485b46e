import type { Row } from '../report.ts'
import type { OpenResult } from './open-load.ts'

/** Good answers. */
export interface Peak {
  readonly perSecond: number
  readonly perCpuSecond: number
}

/** At four times the peak. */
export interface Overloaded extends OpenResult, Peak {}

export interface OverloadRound {
  readonly peak: Peak
  readonly overload: Overloaded
}

/** A quiet user's requests, and at the same time equal ones to the upstream itself. */
export interface Quiet {
  readonly served: OpenResult
  readonly direct: OpenResult
}

/** The quiet user's requests, and the flood's beside them. */
export interface Round {
  readonly alone: Quiet
  readonly beside: Quiet
  readonly flood: OpenResult
}

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(0)} %`

/** The part of the peak's good answers that must be left, and how much longer a quiet user may wait. */
const [leastPart, mostTimes] = [0.85, 2]

/** Requests that became due. */
const dueOf = ({ good, refused, failed, givenUp }: OpenResult): number => good + refused + failed + givenUp

const met = (isMet: boolean): string => (isMet ? 'met' : 'missed')

export const overloadNote = ({ target, part }: OverloadRow): string =>
  `${target}: ${(100 * part).toFixed(0)} % of the peak, goal at least ${100 * leastPart}: ${met(part >= leastPart)}`

export const floodNote = ({ target, times }: FloodRow): string =>
  `${target}: p99 ${times.toFixed(2)} times that of the user alone, goal at most ${mostTimes}: ${met(times <= mostTimes)}`

export interface OverloadRow extends Row {
  readonly part: number
}

export interface FloodRow extends Row {
  readonly times: number
}

export const overloadColumns = [
  'peak /s',
  'good /s',
  'of the peak',
  'peak /CPU s',
  'good /CPU s',
  'p99 ms',
  'refused /s',
  'p99 ms',
  'given up /s',
  'failed',
  'late',
  'generator busy',
]

const partOf = ({ peak, overload }: OverloadRound): number => overload.perSecond / peak.perSecond

/** The round whose part of the peak is the median of all. Throws an Error without rounds. */
export const medianRound = (rounds: readonly OverloadRound[]): OverloadRound => {
  const sorted = rounds.toSorted((a, b) => partOf(a) - partOf(b))
  const median = sorted[Math.floor(sorted.length / 2)]
  if (!median) throw new Error('there are no rounds')
  return median
}

export const overloadRow = (target: string, rounds: readonly OverloadRound[]): OverloadRow => {
  const median = medianRound(rounds)
  const { peak, overload: result } = median
  const { perSecond, perCpuSecond, whole, refused, refusal, givenUp, failed, seconds } = result
  const cells = [
    ...[peak.perSecond.toFixed(0), perSecond.toFixed(0), percent(perSecond, peak.perSecond)],
    ...[peak.perCpuSecond.toFixed(0), perCpuSecond.toFixed(0), whole.p99.toFixed(1)],
    ...[(refused / seconds).toFixed(0), refusal.p99.toFixed(1), (givenUp / seconds).toFixed(0), String(failed)],
    ...[percent(result.late, dueOf(result)), percent(result.cpuSeconds, seconds)],
  ]
  return { target, cells, part: partOf(median), figures: { rounds } }
}

export const floodColumns = [
  'p50 alone',
  'p99 alone',
  'p50',
  'p99',
  'ratio of p99',
  'refused',
  'flood good /s',
  'refused /s',
  'p99 ms',
  'late',
  'direct p99 alone',
  'p99',
  'client lag p99',
]

export const floodRow = (target: string, rounds: readonly Round[]): FloodRow => {
  const of = (read: (round: Round) => number): number => medianOf(rounds.map(read))
  const times = of(({ alone, beside }) => beside.served.whole.p99 / alone.served.whole.p99)
  const cells = [
    ...[of(({ alone }) => alone.served.whole.p50), of(({ alone }) => alone.served.whole.p99)].map(milliseconds),
    ...[of(({ beside }) => beside.served.whole.p50), of(({ beside }) => beside.served.whole.p99)].map(milliseconds),
    ...[
      times.toFixed(2),
      String(rounds.reduce((sum, { beside }) => sum + beside.served.refused + beside.served.failed, 0)),
    ],
    of(({ flood }) => flood.good / flood.seconds).toFixed(0),
    of(({ flood }) => flood.refused / flood.seconds).toFixed(0),
    ...[of(({ flood }) => flood.refusal.p99)].map(milliseconds),
    percent(
      of(({ flood }) => flood.late / dueOf(flood)),
      1,
    ),
    ...[of(({ alone }) => alone.direct.whole.p99), of(({ beside }) => beside.direct.whole.p99)].map(milliseconds),
    of(({ beside }) => beside.served.lag.p99).toFixed(1),
  ]
  return { target, cells, times, figures: { rounds } }
}

const milliseconds = (ms: number): string => ms.toFixed(1)

const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
