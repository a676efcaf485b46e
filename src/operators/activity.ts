import type { ActivityCounts, ActivityView } from '../../plugins/admin/index.ts'
import { isoTime } from '../../plugins/admin/views/time.ts'
import type { Clock } from '../../plugins/shared/clock.ts'
import type { Store } from '../store/index.ts'
import { beginningOf, countedHourMs, countedMinuteMs, type MetricCount } from '../store/metrics/metric-counts.ts'

/** What a report about the activity of the server needs. */
export interface ActivityReportOptions {
  readonly store: Pick<Store, 'metricCounts' | 'countVideoTasks'>
  readonly clock: Pick<Clock, 'now'>
}

const dayMs = 24 * countedHourMs
/** Days of the report, with today. */
const days = 7
/** Hours of the report, with the present one. */
const hours = 24
/** Pools of videos that are counted. */
const maxPools = 1_000

/** Creates the report about the requests and videos of the last minute, hours and days. */
export const createActivityReport =
  ({ store, clock }: ActivityReportOptions) =>
  async (): Promise<ActivityView> => {
    const now = clock.now()
    const today = beginningOf(now, dayMs)
    const firstDay = today - (days - 1) * dayMs
    const minute = beginningOf(now, countedMinuteMs) - countedMinuteMs
    const [minutes, perHour, tasks] = await Promise.all([
      store.metricCounts('minute', minute),
      store.metricCounts('hour', firstDay),
      store.countVideoTasks(maxPools),
    ])
    const between = (from: number, lengthMs: number) => perHour.filter(({ at }) => at >= from && at < from + lengthMs)
    const firstHour = beginningOf(now, countedHourMs) - (hours - 1) * countedHourMs
    const tasksIn = (...phases: readonly string[]) =>
      tasks.reduce((sum, { phase, count }) => (phases.includes(phase) ? sum + count : sum), 0)
    return {
      at: isoTime(now),
      last_minute: countsOf(minutes.filter(({ at }) => at === minute)),
      hours: Array.from({ length: hours }, (_, index) => {
        const at = firstHour + index * countedHourMs
        return { at: isoTime(at), ...countsOf(between(at, countedHourMs)) }
      }),
      days: Array.from({ length: days }, (_, index) => {
        const at = firstDay + index * dayMs
        return { day: isoTime(at).slice(0, 10), ...countsOf(between(at, dayMs)), videos: videosOf(between(at, dayMs)) }
      }),
      videos: { running: tasksIn('running', 'overrunning'), waiting: tasksIn('waiting') },
    }
  }

const countsOf = (counts: readonly MetricCount[]): ActivityCounts => {
  const sums = { requests: 0, rejected: 0, errors: 0 }
  for (const { series, value } of counts) {
    const [name, status = ''] = series
    if (name !== 'requests') continue
    sums.requests += value
    if (status.startsWith('4')) sums.rejected += value
    if (status.startsWith('5')) sums.errors += value
  }
  return sums
}

/** Ended videos by status. */
const videosOf = (counts: readonly MetricCount[]): Readonly<Record<string, number>> => {
  const sums: Record<string, number> = {}
  for (const { series, value } of counts) {
    const [name, status = ''] = series
    if (name === 'videos') sums[status] = (sums[status] ?? 0) + value
  }
  return sums
}
