import { compareTexts } from '../../../plugins/shared/text.ts'
import type { Database } from '../database/database.ts'
import { type Statement, sql } from '../database/statement.ts'

/** What all processes have counted of something in a minute or an hour. */
export interface MetricCount {
  /** The beginning of the minute or hour. Milliseconds since 1970. */
  readonly at: number
  /** A name and its labels. */
  readonly series: readonly string[]
  readonly value: number
}

/** What a process has observed since it has written last. */
export interface MetricObservations {
  /** Added to the counts of the present minute and of the present hour. Integers. */
  readonly counts: readonly Pick<MetricCount, 'series' | 'value'>[]
  /** Of the present minute, the highest value stays. Integers. */
  readonly peaks: readonly Pick<MetricCount, 'series' | 'value'>[]
}

/** A short history of metrics of all processes, for operators. */
export interface MetricCountRecords {
  /** Adds to the history, and deletes minutes and hours that are too old. */
  addMetricCounts(observed: MetricObservations, now: number): Promise<void>
  /** Lists the minutes or hours from a time on, oldest first. */
  metricCounts(span: 'minute' | 'hour', since: number): Promise<readonly MetricCount[]>
}

export const countedMinuteMs = 60_000
export const countedHourMs = 3_600_000
/** The longest alert rule looks back over two hours. */
const keptMinutesMs = 3 * 3_600_000
/** Eight days, so that a week is complete. */
const keptHoursMs = 192 * 3_600_000

export const createMetricCountStore = (database: Database): MetricCountRecords => ({
  async addMetricCounts({ counts, peaks }, now) {
    const minute = beginningOf(now, countedMinuteMs)
    const hour = beginningOf(now, countedHourMs)
    // Always in the same order: two batches with the same rows cannot deadlock.
    const sorted = (list: MetricObservations['counts']) =>
      list
        .map(({ series, value }) => ({ series: JSON.stringify(series), value }))
        .toSorted((a, b) => compareTexts(a.series, b.series))
    await database.batch([
      ...sorted(counts).flatMap(({ series, value }) => [
        add('hour', hour, series, value),
        add('minute', minute, series, value),
      ]),
      ...sorted(peaks).map(({ series, value }) => raise(minute, series, value)),
      sql`delete from metric_counts where span = 'minute' and at < ${now - keptMinutesMs}`,
      sql`delete from metric_counts where span = 'hour' and at < ${now - keptHoursMs}`,
    ])
  },

  async metricCounts(span, since) {
    const rows = await database.query<{ at: number; series: string; value: number }>(sql`
      select at, series, value
      from metric_counts
      where span = ${span}
      and at >= ${since}
      order by at`)
    return rows.map(({ at, series, value }) => ({
      ...{ at: Number(at), value: Number(value) },
      series: JSON.parse(series) as readonly string[],
    }))
  },
})

/** The beginning of the minute or hour of a time. */
export const beginningOf = (time: number, lengthMs: number): number => Math.floor(time / lengthMs) * lengthMs

const add = (span: 'minute' | 'hour', at: number, series: string, value: number): Statement => sql`
  insert into metric_counts (span, at, series, value)
  values (${span}, ${at}, ${series}, ${value})
  on conflict (span, at, series) do update
  set value = metric_counts.value + excluded.value`

const raise = (at: number, series: string, value: number): Statement => sql`
  insert into metric_counts (span, at, series, value)
  values ('minute', ${at}, ${series}, ${value})
  on conflict (span, at, series) do update
  set value = excluded.value
  where excluded.value > metric_counts.value`
