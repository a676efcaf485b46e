import { AggregatorRegistry, Gauge, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'

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

/** The processes of a server. */
export interface ProcessCounts {
  /** That it is configured to have. */
  readonly configured: number
  /** That did not respond to a scrape. */
  readonly unresponsive: number
}

/** Registers how many processes a server should have, and how many of them did not respond to a scrape. */
export const registerProcesses = (registry: Registry, { configured, unresponsive }: ProcessCounts): void => {
  const registers = [registry]
  new Gauge({
    name: 'sluice_processes_configured',
    help: 'Processes that the server is configured to have.',
    // Each process counts itself; who starts them knows how many there should be.
    aggregator: 'max',
    registers,
  }).set(configured)
  new Gauge({
    name: 'sluice_processes_unresponsive',
    help: 'Processes that did not respond to this scrape: their values are older.',
    registers,
  }).set(unresponsive)
}

/** What a process that reads the metrics of others adds to them. */
export const processesSnapshot = (counts: ProcessCounts): Promise<MetricsSnapshot> => {
  const registry = new Registry()
  registerProcesses(registry, counts)
  return readSnapshot(registry)
}
