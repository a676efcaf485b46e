import type { UsageDimension, UsageSumFilter, UsageSumKey, UsageTotal } from '../../../plugins/admin/usage-sums.ts'
import { nextTurn } from '../../../plugins/shared/background/turns.ts'
import { compareTexts } from '../../../plugins/shared/text.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import {
  endOfStep,
  type KeyColumn,
  type SummedBy,
  sumStep,
  type UsageOrder,
  type UsagePlace,
  usageOrders,
} from './usage-order.ts'

/** Rows that one statement reads: SQLite answers nothing else meanwhile. */
const stepRows = 1_000
/** A report by user over a time with fewer rows reads that time, and not all rows of each user. */
const fewRows = 1_000

/** How to sum. Sums with the same values of the `lead` columns follow each other in the order. */
interface Plan {
  readonly order: UsageOrder
  readonly lead: readonly KeyColumn[]
  readonly rest: readonly UsageDimension[]
  /** Whether each row is a sum of its own. */
  readonly single: boolean
  readonly by: SummedBy
}

/** What to sum, and how much of it. */
export interface UsageScan {
  readonly filter: UsageSumFilter
  /** With `user` if it has `token`. */
  readonly dimensions: ReadonlySet<UsageDimension>
  readonly limit: number
  readonly after: UsageSumKey | undefined
}

/** Reads the sums of a page, and one more, from the rows: quickly only where an index has their order. */
export const scanUsage = async (
  database: Database,
  { filter, dimensions, limit, after }: UsageScan,
): Promise<readonly Sum[]> => {
  const plan = await planOf(database, filter, dimensions)
  const scan = new Scan(plan, limit + 1, after)
  for (let begin = beginningOf(plan, filter, after); ; ) {
    const step = { order: plan.order, filter, begin }
    const [end] = await database.query<UsagePlace>(endOfStep(step, plan.single ? limit + 1 : stepRows))
    if (!end) break
    for (const sum of await database.query<Sum>(sumStep(step, end, plan.by))) scan.add(sum)
    if (scan.isFull) break
    begin = { place: end, inclusive: false }
    await nextTurn()
  }
  return scan.end()
}

const planOf = async (
  database: Database,
  filter: UsageSumFilter,
  wanted: ReadonlySet<UsageDimension>,
): Promise<Plan> => {
  const by = {
    ...{ day: Number(wanted.has('day')), user: Number(wanted.has('user')), team: Number(wanted.has('team')) },
    ...{ token: Number(wanted.has('token')), model: Number(wanted.has('model')) },
  }
  const order = await orderOf(database, filter, by)
  const end = order.columns.findIndex((column) => by[column] === 0)
  const lead = end === -1 ? order.columns : order.columns.slice(0, end)
  const rest = (['day', 'user', 'token', 'model', 'team'] as const).filter(
    (dimension) => by[dimension] === 1 && !(lead as readonly string[]).includes(dimension),
  )
  return { order, lead, rest, single: end === -1, by }
}

const orderOf = async (database: Database, filter: UsageSumFilter, by: SummedBy): Promise<UsageOrder> => {
  for (const name of ['token', 'user'] as const) if (filter[name] !== undefined) return usageOrders[name]
  // There are fewer videos than calls of a team or a model.
  if (filter.kind === 'video') return usageOrders.video
  for (const name of ['team', 'model'] as const) if (filter[name] !== undefined) return usageOrders[name]
  if (by.day === 1 || by.user === 0) return usageOrders.day
  const { since, until } = filter
  const few = (since !== undefined || until !== undefined) && (await hasFewRows(database, since, until))
  return few ? usageOrders.day : usageOrders.userFirst
}

/** Whether it takes little time to read all rows of some days. */
export const hasFewRows = async (database: Database, since = '', until = '9999-12-31'): Promise<boolean> => {
  const [counted] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from (
      select 1 as one
      from text_usage
      where day >= ${since}
      and day <= ${until}
      limit ${fewRows}
    ) counted`)
  return Number(counted?.count) < fewRows
}

/** Where the scan begins: with the first row, or where the page before has ended. */
const beginningOf = ({ lead, single }: Plan, { since = '' }: UsageSumFilter, after: UsageSumKey | undefined) => {
  const place: Record<KeyColumn, string> = { day: '', user: '', token: '', model: '' }
  for (const column of lead) place[column] = after?.[column] ?? (column === 'day' ? since : '')
  if (after === undefined && lead.length === 0) place.day = since
  // Sums with the same lead as the last one, but after it, are yet to come.
  return { place, inclusive: after === undefined || !single }
}

/** Collects the sums of a page from those of the steps. */
class Scan {
  readonly #plan: Plan
  readonly #max: number
  readonly #after: Sum | undefined
  readonly #ended: Sum[] = []
  /** Sums with the values of the lead columns that come now, by the rest of their values. */
  #open = new Map<string, Sum>()
  #lead: string | undefined

  constructor(plan: Plan, max: number, after: UsageSumKey | undefined) {
    this.#plan = plan
    this.#max = max
    this.#after = after && ({ day: '', user: '', team: '', token: '', model: '', ...after } as Sum)
  }

  /** Whether the page is complete. */
  get isFull(): boolean {
    return this.#ended.length >= this.#max
  }

  add(sum: Sum): void {
    const lead = textOf(sum, this.#plan.lead)
    if (lead !== this.#lead) {
      this.#close()
      this.#lead = lead
    }
    const after = this.#after
    if (after && lead === textOf(after, this.#plan.lead) && this.#compare(sum, after) <= 0) return
    const key = textOf(sum, this.#plan.rest)
    const known = this.#open.get(key)
    this.#open.set(key, known ? addSums(known, sum) : sum)
    if (this.#open.size > 4 * this.#max + 1_000) this.#drop()
  }

  /** The sums in their order, at least `max` if there are so many. */
  end(): readonly Sum[] {
    this.#close()
    return this.#ended
  }

  #close(): void {
    this.#ended.push(...this.#sorted())
    this.#open = new Map()
  }

  /** What is not among the first ones will not be: the others only grow. */
  #drop(): void {
    this.#open = new Map(
      this.#sorted()
        .slice(0, this.#max)
        .map((sum) => [textOf(sum, this.#plan.rest), sum]),
    )
  }

  #sorted(): readonly Sum[] {
    return [...this.#open.values()].sort((a, b) => this.#compare(a, b))
  }

  #compare(a: Sum, b: Sum): number {
    for (const dimension of this.#plan.rest) {
      const compared = compareTexts(a[dimension], b[dimension])
      if (compared !== 0) return compared
    }
    return 0
  }
}

const textOf = (sum: Sum, dimensions: readonly UsageDimension[]): string =>
  dimensions.length === 1 && dimensions[0] ? sum[dimensions[0]] : JSON.stringify(dimensions.map((each) => sum[each]))

/** A sum, as a statement returns it: what it is not summed by is empty. */
export type Sum = Readonly<Record<UsageDimension, string>> & Omit<UsageTotal, UsageDimension>

/** The sum of two, with the key of the first. */
export const addSums = (a: Sum, b: Sum): Sum => ({
  ...a,
  calls: a.calls + b.calls,
  unreported: a.unreported + b.unreported,
  inputTokens: a.inputTokens + b.inputTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  videoSeconds: addOptional(a.videoSeconds, b.videoSeconds),
  cost: addOptional(a.cost, b.cost),
})

const addOptional = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : a + (b ?? 0)
