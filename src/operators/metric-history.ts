import type { MetricsSnapshot } from '../../plugins/metrics/index.ts'
import type { Background } from '../../plugins/shared/background/background.ts'
import type { Clock } from '../../plugins/shared/clock.ts'
import type { Log } from '../../plugins/shared/problem.ts'
import type { MetricObservations, Store } from '../store/index.ts'

/** What a recorder of metrics needs. */
export interface MetricHistoryOptions {
  readonly store: Pick<Store, 'addMetricCounts'>
  readonly clock: Pick<Clock, 'now'>
  /** Reads the metrics of this process. */
  readonly read: () => Promise<MetricsSnapshot>
}

/** Milliseconds between two writes. */
const metricHistoryMs = 10_000

/** Writes the history as long as the process works in the background, and once more at the end of that. */
export const keepMetricHistory = ({
  background,
  log,
  ...options
}: MetricHistoryOptions & { readonly background: Background; readonly log: Log }): void => {
  const add = createMetricHistory(options)
  const write = () => add().catch((err: unknown) => log.warn({ err }, 'the history of metrics could not be written'))
  void background.run(async (signal) => {
    while (!signal.aborted) {
      await write()
      await background.sleep(metricHistoryMs, signal)
    }
    await write()
  })
}

/**
 * Creates the function that adds what the metrics of this process have counted since the call before to the history in
 * the store, which has those of all processes. So operators see the last week, and what alert rules would say, without
 * a Prometheus server.
 */
export const createMetricHistory = ({ store, clock, read }: MetricHistoryOptions): (() => Promise<void>) => {
  /** The values of counters that are in the store. */
  let written = new Map<string, number>()
  return async () => {
    const snapshot = await read()
    const present = countersIn(snapshot)
    const counts: { series: readonly string[]; value: number }[] = []
    for (const [key, value] of present) {
      const added = value - (written.get(key) ?? 0)
      if (added > 0) counts.push({ series: JSON.parse(key) as readonly string[], value: added })
    }
    const peaks = peaksIn(snapshot)
    if (counts.length > 0 || peaks.length > 0) await store.addMetricCounts({ counts, peaks }, clock.now())
    written = present
  }
}

type Labels = Readonly<Record<string, string | number | undefined>>

/** The series of a counter's value in the history. Labels that no report needs are summed up. */
const counters: Readonly<Record<string, (labels: Labels) => readonly string[] | undefined>> = {
  sluice_requests_total: ({ status }) => ['requests', text(status)],
  sluice_upstream_calls_total: ({ upstream, action, status }) => ['calls', text(upstream), text(action), text(status)],
  sluice_upstream_seconds_bucket: ({ action, le }) =>
    /^(Get|List)/.test(text(action)) && (le === 5 || le === '+Inf') ? ['seconds', text(action), text(le)] : undefined,
  sluice_text_calls_total: ({ model, reported }) => ['text', text(model), text(reported)],
  sluice_webhook_attempts_total: ({ kind, status }) => ['deliveries', text(kind), text(status)],
  sluice_video_tasks_total: ({ status }) => ['videos', text(status)],
}

/** The series of a gauge's value in the history, and the value as an integer. Undefined: nobody needs it. */
const gauges: Readonly<
  Record<string, (labels: Labels, value: number) => MetricObservations['peaks'][number] | undefined>
> = {
  sluice_readiness: ({ part, state }, value) =>
    value > 0 && state !== 'ok' ? { series: ['readiness', text(part), text(state)], value } : undefined,
  sluice_video_queue_age_seconds: ({ pool }, value) => ({
    series: ['queue age', text(pool)],
    value: Math.round(value),
  }),
  sluice_video_tasks: ({ pool, phase }, value) =>
    phase === 'overrunning' && value > 0 ? { series: ['overrunning', text(pool)], value } : undefined,
  sluice_asset_slots: ({ state }, value) =>
    state === 'waiting' && value > 0 ? { series: ['slot waits'], value } : undefined,
  // In thousandths. Below the half nobody is interested.
  sluice_limit_used_ratio: ({ subject_type, unit, window }, value) =>
    value > 0.5
      ? { series: ['limit', text(subject_type), text(unit), text(window)], value: Math.round(value * 1000) }
      : undefined,
  sluice_streams_open: (_labels, value) => (value > 1000 ? { series: ['streams'], value } : undefined),
}

const text = (label: string | number | undefined): string => String(label ?? '')

interface NamedValue {
  readonly value: number
  readonly labels: Labels
  /** The name of one series of a histogram. */
  readonly metricName?: string
}

/** The values of counters, by the JSON of their series. */
const countersIn = (snapshot: MetricsSnapshot): Map<string, number> => {
  const sums = new Map<string, number>()
  for (const { name, values } of snapshot) {
    for (const { value, labels, metricName = name } of values as readonly NamedValue[]) {
      const series = counters[metricName]?.(labels)
      if (!series) continue
      const key = JSON.stringify(series)
      sums.set(key, (sums.get(key) ?? 0) + value)
    }
  }
  return sums
}

/** The values of gauges. */
export const peaksIn = (snapshot: MetricsSnapshot): MetricObservations['peaks'] =>
  snapshot.flatMap(({ name, values }) => {
    const read = gauges[name]
    return read ? (values as readonly NamedValue[]).flatMap(({ labels, value }) => read(labels, value) ?? []) : []
  })
