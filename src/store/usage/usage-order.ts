import type { UsageSumFilter } from '../../../plugins/admin/usage-sums.ts'
import { clause, type Statement, withCommas } from '../database/statement.ts'

/** The key of a row of usage: where a step of a scan ends. */
export interface UsagePlace {
  readonly day: string
  readonly user: string
  /** Empty: no token. */
  readonly token: string
  readonly model: string
}

/** A column of the key. */
export type KeyColumn = keyof UsagePlace

/** An order in which an index has rows of usage. */
export interface UsageOrder {
  /** The columns in their order, without the one that is the same in all rows. */
  readonly columns: readonly KeyColumn[]
  /** The rows of the order. */
  readonly rows: (filter: UsageSumFilter) => Statement
  readonly from: (place: UsagePlace) => Statement
  readonly after: (place: UsagePlace) => Statement
  readonly upTo: (place: UsagePlace) => Statement
  readonly sorted: Statement
  readonly reversed: Statement
  /** Sorts sums, whose columns are numbered as those of `UsageDimension`. */
  readonly sums: Statement
}

const columnNames = {
  ...{ day: clause`day`, user: clause`user_id`, token: clause`token_id`, model: clause`model` },
} satisfies Record<KeyColumn, Statement>

/** The columns of sums, in the order of `UsageDimension`: a statement sorts by their numbers. */
const sumColumns = ['day', 'user', 'team', 'token', 'model']
const sumNumbers = [clause`1`, clause`2`, clause`3`, clause`4`, clause`5`]

const orderBy = (columns: readonly KeyColumn[], rows: UsageOrder['rows'] = () => clause`true`): UsageOrder => {
  const names = columns.map((column) => columnNames[column])
  const compared = (operator: Statement) => {
    const key = clause`(${withCommas(names)}) ${operator}`
    return (at: UsagePlace) => clause`${key} (${withCommas(columns.map((column) => clause`${at[column]}`))})`
  }
  const summed = [...columns, ...sumColumns.filter((column) => !columns.some((known) => known === column))]
  return {
    columns,
    rows,
    from: compared(clause`>=`),
    after: compared(clause`>`),
    upTo: compared(clause`<=`),
    sorted: clause`order by ${withCommas(names)}`,
    reversed: clause`order by ${withCommas(names.map((name) => clause`${name} desc`))}`,
    sums: clause`order by ${withCommas(summed.map((column) => sumNumbers[sumColumns.indexOf(column)] ?? clause``))}`,
  }
}

/** Orders by the filter of which each has the rows: all of them, those of one user, team, token or model, or videos. */
export const usageOrders = {
  day: orderBy(['day', 'user', 'token', 'model']),
  userFirst: orderBy(['user', 'day', 'token', 'model']),
  user: orderBy(['day', 'token', 'model'], ({ user }) => clause`user_id = ${user}`),
  team: orderBy(['day', 'user', 'token', 'model'], ({ team }) => clause`team_id = ${team}`),
  token: orderBy(['day', 'user', 'model'], ({ token }) => clause`token_id = ${token}`),
  model: orderBy(['day', 'user', 'token'], ({ model }) => clause`model = ${model}`),
  video: orderBy(['day', 'user', 'token', 'model'], () => clause`video_seconds is not null`),
} as const satisfies Readonly<Record<string, UsageOrder>>

/** A step of a scan: rows of an order that follow a place. */
export interface UsageStep {
  readonly order: UsageOrder
  readonly filter: UsageSumFilter
  /** Where it begins: with the row at that place, or after it. */
  readonly begin: { readonly place: UsagePlace; readonly inclusive: boolean }
}

const startOf = ({ order, begin }: UsageStep): Statement => (begin.inclusive ? order.from : order.after)(begin.place)

const lastDay = '9999-12-31'

/** The last of the first `max` rows of a step. No row: there are none. */
export const endOfStep = (step: UsageStep, max: number): Statement => clause`
  select day, user_id as "user", token_id as token, model
  from (
    select day, user_id, token_id, model
    from text_usage
    where ${step.order.rows(step.filter)}
    and ${startOf(step)}
    and day <= ${step.filter.until ?? lastDay}
    ${step.order.sorted}
    limit ${max}
  ) step_rows
  ${step.order.reversed}
  limit 1`

/** The columns with sums, also of roll-ups. */
export const usageTotals = clause`
  cast(sum(calls) as bigint) as calls, cast(sum(unreported) as bigint) as unreported,
  cast(sum(input_tokens) as bigint) as "inputTokens", cast(sum(cached_tokens) as bigint) as "cachedTokens",
  cast(sum(output_tokens) as bigint) as "outputTokens", cast(sum(reasoning_tokens) as bigint) as "reasoningTokens",
  cast(sum(video_seconds) as bigint) as "videoSeconds", cast(sum(cost) as bigint) as cost`

/** Whether to sum by each dimension: 1 or 0. */
export type SummedBy = Readonly<Record<'day' | 'user' | 'team' | 'token' | 'model', number>>

/** Sums the rows of a step up to a place. Columns by which it does not sum are empty. */
export const sumStep = (step: UsageStep, end: UsagePlace, by: SummedBy): Statement => {
  const { user, team, token, model, kind, since = '' } = step.filter
  return clause`
    select case when ${by.day} = 1 then day else '' end as day,
      case when ${by.user} = 1 then user_id else '' end as "user",
      case when ${by.team} = 1 then coalesce(team_id, '') else '' end as team,
      case when ${by.token} = 1 then token_id else '' end as token,
      case when ${by.model} = 1 then model else '' end as model,
      ${usageTotals}
    from text_usage
    where ${step.order.rows(step.filter)}
    and ${startOf(step)}
    and ${step.order.upTo(end)}
    and day >= ${since} and day <= ${step.filter.until ?? lastDay}
    and (cast(${user} as text) is null or user_id = ${user})
    and (cast(${team} as text) is null or team_id = ${team})
    and (cast(${token} as text) is null or token_id = ${token})
    and (cast(${model} as text) is null or model = ${model})
    and (cast(${kind} as text) is null or (video_seconds is not null) = (cast(${kind} as text) = 'video'))
    group by 1, 2, 3, 4, 5
    ${step.order.sums}`
}
