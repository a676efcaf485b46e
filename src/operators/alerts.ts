import type { AlertsView, AlertView } from '../../plugins/admin/index.ts'
import { isoTime } from '../../plugins/admin/views/time.ts'
import type { MetricsSnapshot } from '../../plugins/metrics/index.ts'
import type { Clock } from '../../plugins/shared/clock.ts'
import type { Store } from '../store/index.ts'
import { beginningOf, countedHourMs, countedMinuteMs, type MetricCount } from '../store/metrics/metric-counts.ts'
import { type AlertRule, alertRules, type MinuteCounts, prometheusOnly } from './alert-rules.ts'
import { peaksIn } from './metric-history.ts'

/** What a report about alerts needs. */
export interface AlertReportOptions {
  readonly store: Pick<Store, 'metricCounts'>
  readonly clock: Pick<Clock, 'now'>
}

/** The longest window with the longest wait. */
const historyMs = 2 * countedHourMs + 5 * countedMinuteMs

/** Creates the report about which alert rules would fire now. @param read reads the metrics of this process */
export const createAlertReport =
  ({ store, clock }: AlertReportOptions) =>
  async (read: () => Promise<MetricsSnapshot>): Promise<AlertsView> => {
    const now = clock.now()
    const [rows, snapshot] = await Promise.all([
      store.metricCounts('minute', beginningOf(now - historyMs, countedMinuteMs)),
      read(),
    ])
    const counts = indexOf(rows)
    const present = minuteOf(now)
    for (const { series, value } of peaksIn(snapshot)) counts.raise(present, series, value)
    return {
      alerts: alertRules().flatMap((rule) => alertsOf(rule, counts, present)),
      not_evaluated: prometheusOnly,
    }
  }

const minuteOf = (time: number): number => Math.floor(time / countedMinuteMs)

/** The alerts of a rule: one for each combination of labels for which its condition holds. */
const alertsOf = (rule: AlertRule, counts: MinuteCounts, present: number): readonly AlertView[] => {
  // The present minute has only begun, and may have no counts yet.
  const now = [present, present - 1].find((minute) => holdsAt(rule, counts, minute).size > 0)
  if (now === undefined) return []
  return [...holdsAt(rule, counts, now)].map(([key, value]) => {
    let since = now
    while (since > present - historyMs / countedMinuteMs && holdsAt(rule, counts, since - 1).has(key)) since--
    return {
      ...{ name: rule.name, severity: rule.severity },
      state: now - since >= rule.forMinutes ? ('firing' as const) : ('pending' as const),
      since: isoTime(since * countedMinuteMs),
      labels: labelsOf(rule, key),
      value: rule.name === 'SluiceLimitNearlyUsed' ? value / 1000 : value,
    }
  })
}

const holdsAt = ({ valuesAt, above }: AlertRule, counts: MinuteCounts, minute: number): ReadonlyMap<string, number> =>
  new Map([...valuesAt(counts, minute)].filter(([, value]) => value > above))

const labelsOf = ({ by }: AlertRule, key: string): Readonly<Record<string, string>> => {
  const values = JSON.parse(key) as readonly string[]
  return Object.fromEntries(by.map((name, index) => [name, values[index] ?? '']))
}

/** The counts by name and minute. */
const indexOf = (rows: readonly MetricCount[]) => {
  const names = new Map<string, Map<number, { readonly labels: readonly string[]; value: number }[]>>()
  const add = (minute: number, [name = '', ...labels]: readonly string[], value: number) => {
    const minutes = names.get(name) ?? new Map<number, { labels: readonly string[]; value: number }[]>()
    names.set(name, minutes)
    const list = minutes.get(minute) ?? []
    minutes.set(minute, list)
    list.push({ labels, value })
  }
  for (const { at, series, value } of rows) add(minuteOf(at), series, value)
  return {
    forEach(name: string, from: number, to: number, each: (labels: readonly string[], value: number) => void): void {
      const minutes = names.get(name)
      for (let minute = from + 1; minutes && minute <= to; minute++)
        for (const { labels, value } of minutes.get(minute) ?? []) each(labels, value)
    },
    /** A value that is newer than those in the store. */
    raise(minute: number, series: readonly string[], value: number): void {
      add(minute, series, value)
    },
  }
}
