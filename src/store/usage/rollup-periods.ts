import type { UsageDimension } from '../../../plugins/admin/usage-sums.ts'

/** Days (`2026-01-31`) or months (`2026-01`), both inclusive. Empty if `from` is after `to`. */
export interface PeriodRange {
  readonly from: string
  readonly to: string
}

/** How a time is made of months and days. */
export interface RollupPeriods {
  /** All months of which at least a day is in the time. */
  readonly months: PeriodRange
  /** Those of which all days are. */
  readonly whole: PeriodRange
  /** The days that are in no whole month: none, or one or two ranges within a month each. */
  readonly days: readonly PeriodRange[]
}

/** Divides a time into months and days. Undefined: it has no beginning, or no end. */
export const periodsOf = (since = firstDay, until = lastDay): RollupPeriods => {
  const months = { from: since.slice(0, 7), to: until.slice(0, 7) }
  const [startsWhole, endsWhole] = [since.endsWith('-01'), until === lastDayOf(months.to)]
  const whole = {
    from: startsWhole ? months.from : monthAfter(months.from, 1),
    to: endsWhole ? months.to : monthAfter(months.to, -1),
  }
  if (months.from === months.to) {
    const isWhole = startsWhole && endsWhole
    return { months, whole: isWhole ? whole : noPeriods, days: isWhole ? [] : [{ from: since, to: until }] }
  }
  const days = [
    ...(startsWhole ? [] : [{ from: since, to: lastDayOf(months.from) }]),
    ...(endsWhole ? [] : [{ from: `${months.to}-01`, to: until }]),
  ]
  return { months, whole, days }
}

const firstDay = '0000-01-01'
const lastDay = '9999-12-31'
const noPeriods: PeriodRange = { from: '9999-12', to: '0000-01' }

const monthAfter = (month: string, months: 1 | -1): string => {
  const number = Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1 + months
  if (number < 0) return ''
  return `${String(Math.floor(number / 12)).padStart(4, '0')}-${String((number % 12) + 1).padStart(2, '0')}`
}

const lastDayOf = (month: string): string => {
  const year = Number(month.slice(0, 4))
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][Number(month.slice(5)) - 1]
  return `${month}-${days}`
}

/** A column of the key of a roll-up, besides its period and kind. */
export type RollupColumn = Exclude<UsageDimension, 'day'>

/** Each level has the sums by some columns. */
export const rollupLevels = [
  ...(['all', 'model', 'team', 'model-team'] as const),
  ...(['user', 'user-model', 'token', 'token-model'] as const),
] as const

/** A level of roll-ups. */
export type RollupLevel = (typeof rollupLevels)[number]

/**
 * The columns by which a level tells usage apart, in the order of the key. A user has few teams over time, so that the
 * levels of users and tokens have theirs, too.
 */
export const columnsOf: Readonly<Record<RollupLevel, readonly RollupColumn[]>> = {
  all: [],
  model: ['model'],
  team: ['team'],
  'model-team': ['model', 'team'],
  user: ['user', 'team'],
  'user-model': ['user', 'model', 'team'],
  token: ['user', 'token', 'team'],
  'token-model': ['user', 'token', 'model', 'team'],
}

/** All columns, in the order of the key. */
export const rollupColumns = columnsOf['token-model']

/** Whether a level has sums by day: users and tokens have about as many as there are rows. */
export const isDaily = (level: RollupLevel): boolean => !columnsOf[level].includes('user')

/** The level that tells usage apart by these properties, with the fewest rows. */
export const levelOf = (dimensions: ReadonlySet<UsageDimension>): RollupLevel => {
  const byModel = dimensions.has('model')
  if (dimensions.has('token')) return byModel ? 'token-model' : 'token'
  if (dimensions.has('user')) return byModel ? 'user-model' : 'user'
  if (dimensions.has('team')) return byModel ? 'model-team' : 'team'
  return byModel ? 'model' : 'all'
}
