import type { Row, Section } from '../report.ts'

export const rateBounds = [1, 5, 10, 50] as const

/** The measurements of the board, in their order. */
export const measurements = {
  latency: 'added p50 and p99 of a completion, at one connection',
  'first-event': 'added time to the first event of a stream, p50',
  event: 'added time of each event, in a stream of 2,000 that the upstream sends without pauses',
  cpu: 'CPU time of a completion, at 16 connections',
  rates: `requests a second with an added p99 of at most ${rateBounds.join(', ')} ms, before an upstream that takes 20 ms`,
  streams: '512 streams at once, with an event every 250 ms',
  memory: 'growth of the memory under a constant load, in MiB a minute',
} as const

export type Measurement = keyof typeof measurements

type Key =
  | 'added50'
  | 'added99'
  | `rate${(typeof rateBounds)[number]}`
  | 'firstEvent'
  | 'event'
  | 'streams'
  | 'growth'
  | 'cpu'

/** The figures of a target. Undefined: not measured. */
export type Figures = { readonly [key in Key]?: number }

/** A figure that a measurement could not produce, and why. */
export interface Score {
  readonly target: string
  /** `own`: this gateway. `peer`: another one. `reference`: a relay or the upstream, which is no gateway. */
  readonly kind: 'own' | 'peer' | 'reference'
  readonly figures: Figures
}

interface Column {
  readonly key: Key
  readonly title: string
  readonly digits: number
  readonly better: 'lower' | 'higher'
  /** A bound for this gateway. */
  readonly goal?: number
}

const rateColumns = rateBounds.map(
  (bound): Column => ({ key: `rate${bound}`, title: `/s at ${bound} ms`, digits: 0, better: 'higher' }),
)

export const columns: readonly Column[] = [
  { key: 'added50', title: 'p50 ms', digits: 2, better: 'lower' },
  { key: 'added99', title: 'p99 ms', digits: 2, better: 'lower', goal: 0.4 },
  ...rateColumns,
  { key: 'firstEvent', title: 'first event ms', digits: 2, better: 'lower', goal: 0.3 },
  { key: 'event', title: 'event µs', digits: 1, better: 'lower', goal: 10 },
  { key: 'streams', title: 'streams', digits: 0, better: 'higher', goal: 512 },
  { key: 'growth', title: 'MiB a minute', digits: 2, better: 'lower' },
  { key: 'cpu', title: 'µs CPU', digits: 0, better: 'lower' },
]

/** The goal for the rates, as a multiple of Portkey's. */
const rateGoal = 14

/** Memory that shrinks is not better than memory that stays: it only shows what an earlier measurement had left. */
const comparable = ({ key }: Column, value: number): number => (key === 'growth' ? Math.max(0, value) : value)

const isBetter = (column: Column, one: number, other: number): boolean => {
  const [a, b] = [comparable(column, one), comparable(column, other)]
  return column.better === 'lower' ? a < b : a > b
}

const meets = (column: Column, value: number): boolean =>
  column.goal === undefined || value === column.goal || isBetter(column, value, column.goal)

/** The table, with what each gateway reached of the goals, and where a peer was better than it. */
export const boardOf = (scores: readonly Score[]): Section => {
  const shown = columns.filter(({ key }) => scores.some(({ figures }) => figures[key] !== undefined))
  const rows = scores.map(
    ({ target, figures }): Row => ({
      target,
      cells: shown.map(({ key, digits }) => figures[key]?.toFixed(digits) ?? ''),
      figures,
    }),
  )
  const peers = scores.filter(({ kind }) => kind === 'peer')
  const notes = scores
    .filter(({ kind }) => kind === 'own')
    .flatMap((own) => [
      ...shown.flatMap((column) => goalNote(own, column)),
      ...rateNotes(own, peers),
      ...peers.map((peer) => betterNote(own, peer)),
    ])
  return { name: 'board', title: 'beside other gateways', columns: shown.map(({ title }) => title), rows, notes }
}

const goalNote = ({ target, figures }: Score, column: Column): readonly string[] => {
  const value = figures[column.key]
  if (value === undefined || column.goal === undefined) return []
  const bound = column.better === 'lower' ? 'at most' : 'at least'
  const verdict = meets(column, value) ? 'met' : 'missed'
  return [`${target}: ${column.title} ${value.toFixed(column.digits)}, goal ${bound} ${column.goal}: ${verdict}`]
}

const rateNotes = ({ target, figures }: Score, peers: readonly Score[]): readonly string[] => {
  const portkey = peers.find((peer) => peer.target === 'portkey')
  if (portkey === undefined) return []
  return rateColumns.flatMap(({ key, title }) => {
    const [own, theirs] = [figures[key], portkey.figures[key]]
    if (own === undefined || theirs === undefined) return []
    if (theirs === 0) return [`${target}: ${title}, Portkey has none`]
    const times = own / theirs
    return [
      `${target}: ${title} ${times.toFixed(1)} times Portkey's, goal ${rateGoal}: ${times >= rateGoal ? 'met' : 'missed'}`,
    ]
  })
}

const betterNote = (own: Score, peer: Score): string => {
  const compared = columns.flatMap((column) => {
    const [ours, theirs] = [own.figures[column.key], peer.figures[column.key]]
    return ours === undefined || theirs === undefined ? [] : [{ column, ours, theirs }]
  })
  const behind = compared.filter(({ column, ours, theirs }) => isBetter(column, theirs, ours))
  const where = behind.map(
    ({ column: { title, digits }, ours, theirs }) =>
      `${title} (${theirs.toFixed(digits)} against ${ours.toFixed(digits)})`,
  )
  return `${peer.target} was better than ${own.target} in ${where.length === 0 ? `none of ${compared.length} columns` : where.join(', ')}`
}
