import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client'

/** The values of all metrics of a process at one time. Plain JSON, so that processes can exchange it. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[]

/** Reads all metrics of a registry. */
export const readSnapshot = (registry: Registry): Promise<MetricsSnapshot> =>
  registry.getMetricsAsJSON() as Promise<MetricsSnapshot>

/**
 * Merges the metrics of several processes. Counters and histograms are summed. Gauges follow their `aggregator` option,
 * which is `sum` by default.
 */
export const mergeSnapshots = (snapshots: readonly MetricsSnapshot[]): Registry =>
  AggregatorRegistry.aggregate(snapshots as MetricObjectWithValues<MetricValue<string>>[][])

/**
 * What remains to be counted of a process that has ended: everything except gauges, which describe a running process.
 */
export const withoutGauges = (snapshot: MetricsSnapshot): MetricsSnapshot =>
  // prom-client declares `type` as a number, but writes its name into the JSON.
  snapshot.filter(({ type }) => String(type) !== 'gauge')
