import { slopeOf } from '../board/growth.ts'

/** What a process uses at a moment. */
export interface Reading {
  /** Seconds since the start of the traffic. */
  readonly at: number
  /** Open descriptors, and those of them that are sockets. */
  readonly descriptors: number
  readonly sockets: number
}

/** What a collection of all garbage has left. */
export interface Collection {
  /** Seconds since the start of the traffic. */
  readonly at: number
  /** Resident memory, in bytes. */
  readonly memory: number
  /** The part of it that is the JavaScript heap, with what its objects hold outside of it. In bytes. */
  readonly heap: number
  /** How many objects of each type there are. */
  readonly objects: Readonly<Record<string, number>>
}

/** What is there while nobody sends anything. */
export interface Rest {
  readonly descriptors: number
  readonly sockets: number
  /** Rows of each table. */
  readonly rows: ReadonlyMap<string, number>
}

export interface Finding {
  readonly what: string
  readonly text: string
  readonly flat: boolean
}

/** Tables whose rows are records that stay for a time of their own: traffic adds to them, and nothing of it is left over. */
const records: ReadonlyMap<string, string> = new Map([
  ['audit_entries', 'AUDIT_DAYS'],
  ['events', 'EVENT_DAYS'],
  ['idempotency_keys', 'a day'],
  ['login_attempts', 'a day'],
  // One for each user, token, model and day.
  ['text_usage', 'for ever'],
  ['usage_rollups', 'for ever'],
  // Also the items of a response that was deleted.
  ['text_objects', 'TEXT_OBJECT_DAYS'],
  ['metric_counts', 'minutes for three hours, hours for eight days'],
  ['changes', 'a bounded number'],
])

export interface Bounds {
  /** MiB a minute. */
  readonly memory: number
  /** The part of the traffic that only warms up. */
  readonly warmUp: number
  /** Idle connections that clients of upstreams may keep: one for each call that ran at the same time. */
  readonly idle: number
}

/** Whether memory, descriptors, sockets and rows stay flat. */
export const verdictOf = (
  collections: readonly Collection[],
  before: Rest,
  after: Rest,
  { memory, warmUp, idle }: Bounds,
): readonly Finding[] => [
  memoryFinding(collections, memory, warmUp),
  countFinding('descriptors', before, after, idle),
  countFinding('sockets', before, after, idle),
  ...rowFindings(before.rows, after.rows),
]

/** The slope of the line through what collections have left since `from`, in MiB a minute. */
const growthOf = (collections: readonly Collection[], from: number, of: (left: Collection) => number): number => {
  const samples = collections.filter(({ at }) => at >= from).map((left) => ({ at: left.at, value: of(left) }))
  return (60 * slopeOf(samples)) / 2 ** 20
}

const memoryFinding = (collections: readonly Collection[], bound: number, warmUp: number): Finding => {
  const end = collections.at(-1)?.at ?? 0
  const memory = (from: number) => growthOf(collections, from, (left) => left.memory)
  const heap = (from: number) => growthOf(collections, from, (left) => left.heap)
  const [warm, late] = [end * warmUp, (end * 2) / 3]
  const mebibytes = (bytes = 0) => (bytes / 2 ** 20).toFixed(0)
  const [first, last] = [collections[0], collections.at(-1)]
  const text =
    `${memory(warm).toFixed(2)} MiB a minute after the warm-up (at most ${bound}), ${heap(warm).toFixed(2)} in the JavaScript heap; ` +
    `${memory(late).toFixed(2)} and ${heap(late).toFixed(2)} in the last third; ` +
    `${mebibytes(first?.memory)} MiB at the start, ${mebibytes(last?.memory)} at the end, the heap ${mebibytes(first?.heap)} and ${mebibytes(last?.heap)}`
  return { what: 'memory', text, flat: memory(warm) <= bound }
}

const countFinding = (what: 'descriptors' | 'sockets', before: Rest, after: Rest, idle: number): Finding => ({
  what,
  text: `${after[what]} at rest, ${before[what]} before (at most ${idle} more)`,
  flat: after[what] <= before[what] + idle,
})

const rowFindings = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): readonly Finding[] => {
  const grown = [...after].flatMap(([table, count]) => {
    const more = count - (before.get(table) ?? 0)
    return more > 0 ? [{ table, more }] : []
  })
  const kept = grown.filter(({ table }) => records.has(table))
  const left = grown.filter(({ table }) => !records.has(table))
  const listed = (some: typeof grown) => some.map(({ table, more }) => `${more} of ${table}`).join(', ') || 'none'
  return [
    { what: 'rows', text: `left over: ${listed(left)}`, flat: left.length === 0 },
    { what: 'records', text: `new: ${listed(kept)}`, flat: true },
  ]
}
