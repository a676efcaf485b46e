import type { UsageSumFilter, UsageSumKey } from '../../../plugins/admin/usage-sums.ts'
import { clause, type Statement, withCommas } from '../database/statement.ts'
import {
  columnsOf,
  type PeriodRange,
  type RollupColumn,
  type RollupLevel,
  type RollupPeriods,
  rollupColumns,
} from './rollup-periods.ts'
import { usageTotals } from './usage-order.ts'

/** A report that is read from roll-ups. */
export interface RollupReport {
  readonly level: RollupLevel
  /** By which it sums, besides the day, in the order of the key. */
  readonly columns: readonly RollupColumn[]
  readonly byDay: boolean
  readonly filter: UsageSumFilter
  readonly periods: RollupPeriods
}

/**
 * The first sums after a place, over the months of a report. A key of which a month has only days in the report is
 * among them, with what its whole months have.
 */
export const sumMonths = (report: RollupReport, after: UsageSumKey | undefined, limit: number): Statement => {
  const { months, whole } = report.periods
  const { from, to } = whole
  const keys = keysOf(report)
  const table = report.filter.token === undefined ? columns : unordered
  return clause`
    ${selected(report, clause`'' as day`, table)}
    cast(sum(case when period between ${from} and ${to} then calls else 0 end) as bigint) as calls,
    cast(sum(case when period between ${from} and ${to} then unreported else 0 end) as bigint) as unreported,
    cast(sum(case when period between ${from} and ${to} then input_tokens else 0 end) as bigint) as "inputTokens",
    cast(sum(case when period between ${from} and ${to} then cached_tokens else 0 end) as bigint) as "cachedTokens",
    cast(sum(case when period between ${from} and ${to} then output_tokens else 0 end) as bigint) as "outputTokens",
    cast(sum(case when period between ${from} and ${to} then reasoning_tokens else 0 end) as bigint)
      as "reasoningTokens",
    cast(sum(case when period between ${from} and ${to} then video_seconds end) as bigint) as "videoSeconds",
    cast(sum(case when period between ${from} and ${to} then cost end) as bigint) as cost
    from usage_rollups as sums
    where grain = 'month'
    ${wanted(report)}
    and period between ${months.from} and ${months.to}
    ${after ? afterPlace(keys, keyOf(report, keys, after)) : []}
    ${groupedBy(keys, table)}
    limit ${limit}`
}

/** The first sums after a place, of each day. For a level with days. */
export const sumEachDay = (report: RollupReport, after: UsageSumKey | undefined, limit: number): Statement => {
  const { since = '', until = '9999-12-31' } = report.filter
  // Those of the index. A level has one value in a column by which the report does not sum.
  const [day, ...rest] = ['day', 'model', 'team'] as const
  return clause`
    ${selected(report, clause`period as day`)} ${usageTotals}
    from usage_rollups as sums
    where grain = 'day'
    ${wanted(report)}
    and period between ${since} and ${until}
    ${after ? afterPlace([day, ...rest], [after.day ?? '', ...keyOf(report, rest, after)]) : []}
    ${groupedBy([day, ...rest])}
    limit ${limit}`
}

/** The sums over some days. For a level with days. */
export const sumDays = (report: RollupReport, { from, to }: PeriodRange): Statement => clause`
  ${selected(report, clause`'' as day`)} ${usageTotals}
  from usage_rollups as sums
  where grain = 'day'
  ${wanted(report)}
  and period between ${from} and ${to}
  ${groupedBy(report.columns)}`

/** Users whose rows one statement sums, at most. */
export const usersOfStep = 20

/** The sums over the rows of some days. @param users default: those of the filter */
export const sumRows = (
  report: RollupReport,
  { from, to }: PeriodRange,
  users?: readonly string[],
): Statement => clause`
  ${selected(report, clause`'' as day`)} ${usageTotals}
  from text_usage as sums
  where day between ${from} and ${to}
  ${users ? ofUsers(users) : []}
  ${filtered(report.filter).map(([column, value]) => clause` and ${columns[column].equals(value)}`)}
  ${report.filter.kind === undefined ? [] : rowKinds[report.filter.kind]}
  ${groupedBy(report.columns)}`

/** The condition of the rows that a report is about, without their time. */
const wanted = ({ level, filter }: RollupReport): readonly Statement[] => [
  clause` and level = ${level}`,
  // An index of those that are not empty has the rows.
  ...filtered(filter).map(([column, value]) =>
    value === ''
      ? clause` and ${columns[column].equals(value)}`
      : clause` and ${columns[column].equals(value)} and ${columns[column].name} <> ''`,
  ),
  ...(filter.kind === undefined ? [] : [kinds[filter.kind]]),
]

const filtered = (filter: UsageSumFilter): readonly (readonly [RollupColumn, string])[] =>
  rollupColumns.flatMap((column) => {
    const value = filter[column]
    return value === undefined ? [] : [[column, value] as const]
  })

/**
 * The columns by which months are grouped: those of the report, and before them the ones with one value, so that an
 * index has their order.
 */
const keysOf = ({ level, columns: wantedColumns, filter }: RollupReport): readonly RollupColumn[] => {
  const end = rollupColumns.findLastIndex((column) => wantedColumns.includes(column))
  const hasOneValue = (column: RollupColumn) => !columnsOf[level].includes(column) || filter[column] !== undefined
  return rollupColumns.slice(0, end + 1).filter((column) => wantedColumns.includes(column) || hasOneValue(column))
}

const keyOf = (report: RollupReport, keys: readonly RollupColumn[], place: UsageSumKey): readonly string[] =>
  keys.map((column) => (report.columns.includes(column) ? place[column] : report.filter[column]) ?? '')

/** The columns of a sum. Those by which the report does not sum are empty. */
const selected = (report: RollupReport, day: Statement, from: Columns = columns): Statement => {
  const others = rollupColumns.map((column) => from[column][report.columns.includes(column) ? 'selected' : 'empty'])
  return clause`select ${withCommas([day, ...others])},`
}

const afterPlace = (keys: readonly Key[], values: readonly string[]): Statement => clause`
  and (${withCommas(keys.map((key) => columns[key].name))})
    > (${withCommas(values.map((value) => clause`${value}`))})`

/** Without columns there is one sum, or none where there are no rows. */
const groupedBy = (keys: readonly Key[], from: Columns = columns): Statement => {
  if (keys.length === 0) return clause`having count(*) > 0`
  const names = withCommas(keys.map((key) => from[key].name))
  return clause`group by ${names} order by ${names}`
}

type Columns = typeof columns
type Key = keyof Columns

/** With the table: `order by model` would mean an empty column of the report. */
const columns = {
  day: { name: clause`sums.period` },
  user: {
    name: clause`sums.user_id`,
    selected: clause`user_id as "user"`,
    empty: clause`'' as "user"`,
    equals: (value: string) => clause`sums.user_id = ${value}`,
  },
  token: {
    name: clause`sums.token_id`,
    selected: clause`token_id as token`,
    empty: clause`'' as token`,
    equals: (value: string) => clause`sums.token_id = ${value}`,
  },
  model: {
    name: clause`sums.model`,
    selected: clause`model`,
    empty: clause`'' as model`,
    equals: (value: string) => clause`sums.model = ${value}`,
  },
  team: {
    name: clause`sums.team_id`,
    // Null in rows without a team.
    selected: clause`coalesce(team_id, '') as team`,
    empty: clause`'' as team`,
    equals: (value: string) => clause`sums.team_id = ${value}`,
  },
}

/** An index with the order of users would have all tokens: those of one are few, and sorted. */
const unordered: Columns = {
  ...columns,
  user: {
    ...columns.user,
    name: clause`coalesce(sums.user_id, '')`,
    selected: clause`coalesce(sums.user_id, '') as "user"`,
  },
}

const kinds = { text: clause` and kind = 'text'`, video: clause` and kind = 'video'` }
const rowKinds = { text: clause` and video_seconds is null`, video: clause` and video_seconds is not null` }

const ofUsers = (users: readonly string[]): Statement => {
  const u = [...users, ...Array<string>(usersOfStep - users.length).fill('')]
  return clause`
    and user_id in (
      ${u[0]}, ${u[1]}, ${u[2]}, ${u[3]}, ${u[4]}, ${u[5]}, ${u[6]}, ${u[7]}, ${u[8]}, ${u[9]},
      ${u[10]}, ${u[11]}, ${u[12]}, ${u[13]}, ${u[14]}, ${u[15]}, ${u[16]}, ${u[17]}, ${u[18]}, ${u[19]}
    )`
}
