import { type Sample, slopeOf } from '../board/growth.ts'

/** What a process uses at a moment. */
export interface Reading {
  /** Seconds since the start of the traffic. */
  readonly at: number
  /** Resident memory, in MiB. */
  readonly memory: number
  /** Open descriptors, and those of them that are sockets. */
  readonly descriptors: number
  readonly sockets: number
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
  readings: readonly Reading[],
  before: Rest,
  after: Rest,
  { memory, warmUp, idle }: Bounds,
): readonly Finding[] => [
  memoryFinding(readings, memory, warmUp),
  countFinding('descriptors', before, after, idle),
  countFinding('sockets', before, after, idle),
  ...rowFindings(before.rows, after.rows),
]

/** In how many parts the time after the warm-up is divided. Of each the lowest value counts: what a collection leaves. */
const parts = 10

/** The lowest memory of each part of the time after the warm-up. */
const floorOf = (readings: readonly Reading[], warmUp: number): readonly Sample[] => {
  const end = readings.at(-1)?.at ?? 0
  const from = end * warmUp
  const length = (end - from) / parts
  const lowest = new Map<number, Sample>()
  for (const { at, memory } of readings) {
    if (at < from) continue
    const part = Math.min(parts - 1, Math.floor((at - from) / length))
    if (memory < (lowest.get(part)?.value ?? Number.POSITIVE_INFINITY)) lowest.set(part, { at, value: memory })
  }
  return [...lowest.values()]
}

const memoryFinding = (readings: readonly Reading[], bound: number, warmUp: number): Finding => {
  const perMinute = 60 * slopeOf(floorOf(readings, warmUp))
  const [first, last] = [readings[0]?.memory ?? 0, readings.at(-1)?.memory ?? 0]
  const text = `${perMinute.toFixed(2)} MiB a minute after the warm-up (at most ${bound}); ${first.toFixed(0)} MiB at the start, ${last.toFixed(0)} at the end`
  return { what: 'memory', text, flat: perMinute <= bound }
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
