/** The counts of minutes, as alert rules look at them. */
export interface MinuteCounts {
  /**
   * Calls `each` with every series of a name in the minutes after `from` up to `to`, which are numbers of minutes since
   * 1970.
   */
  forEach(name: string, from: number, to: number, each: (labels: readonly string[], value: number) => void): void
}

/** A rule of `alerts.yml`, about what this server counts itself. */
export interface AlertRule {
  /** As in `examples/operating/alerts.yml`. */
  readonly name: string
  readonly severity: 'critical' | 'warning'
  /** Minutes for which the condition must hold. */
  readonly forMinutes: number
  /** The condition holds where the value is above. */
  readonly above: number
  /** Minutes that a value is computed from. */
  readonly windowMinutes: number
  /** Names of the labels that its values have, in their order. */
  readonly by: readonly string[]
  /** The values at a minute, by the JSON of their labels. */
  readonly valuesAt: (counts: MinuteCounts, minute: number) => ReadonlyMap<string, number>
}

/** The rules that only Prometheus can evaluate: a server that is down says nothing. */
export const prometheusOnly: readonly string[] = ['SluiceDown', 'SluiceWorkerMissing', 'SluiceWorkerUnresponsive']

/** The rules of `alerts.yml` but `prometheusOnly`. */
export const alertRules = (): readonly AlertRule[] => [
  {
    ...{ name: 'SluiceErrors', severity: 'critical', forMinutes: 10, by: [] },
    ...share({
      series: 'requests',
      windowMinutes: 10,
      above: 0.05,
      labels: 0,
      isBad: ([status]) => isServerError(status),
    }),
  },
  {
    ...{ name: 'SluiceBusy', severity: 'warning', forMinutes: 5, by: [] },
    ...rate({ series: 'requests', windowMinutes: 5, above: 0, labels: 0, counts: ([status]) => status === '503' }),
  },
  // 16384 is the default of MAX_STREAMS, which applies to each process.
  {
    ...{ name: 'SluiceStreamsNearLimit', severity: 'warning', forMinutes: 5, by: [] },
    ...peak('streams', 0.8 * 16_384),
  },
  {
    ...{ name: 'SluiceUpstreamFailing', severity: 'critical', forMinutes: 10, by: ['upstream', 'action'] },
    ...share({
      ...{ series: 'calls', windowMinutes: 10, above: 0.2, labels: 2 },
      isBad: ([, , status]) => status === '0' || isServerError(status),
    }),
  },
  {
    ...{ name: 'SluiceUpstreamRejectsAccount', severity: 'critical', forMinutes: 10, by: ['upstream', 'action'] },
    ...rate({
      ...{ series: 'calls', windowMinutes: 10, above: 0, labels: 2 },
      counts: ([, , status]) => status === '401' || status === '403',
    }),
  },
  {
    ...{ name: 'SluiceUpstreamRateLimited', severity: 'warning', forMinutes: 15, by: ['upstream', 'action'] },
    ...rate({
      ...{ series: 'calls', windowMinutes: 10, above: 0.1, labels: 2 },
      counts: ([, , status]) => status === '429',
    }),
  },
  {
    // The 95th percentile is above 5 s where more than 5 % of the calls took longer.
    ...{ name: 'SluiceUpstreamSlow', severity: 'warning', forMinutes: 15, by: ['action'] },
    ...slowShare({ windowMinutes: 10, above: 0.05 }),
  },
  {
    ...{ name: 'SluiceUsageUnreported', severity: 'warning', forMinutes: 60, by: ['model'] },
    ...share({
      ...{ series: 'text', windowMinutes: 60, above: 0.5, labels: 1 },
      isBad: ([, reported]) => reported === 'false',
    }),
  },
  {
    ...{ name: 'SluiceDatabaseNotReady', severity: 'critical', forMinutes: 1, by: ['state'] },
    ...peak('readiness', 0, ([part, state]) => (part === 'database' ? [state ?? ''] : undefined)),
  },
  {
    ...{ name: 'SluiceStorageFull', severity: 'critical', forMinutes: 1, by: [] },
    ...peak('readiness', 0, ([part, state]) => (part === 'storage' && state === 'full' ? [] : undefined)),
  },
  {
    ...{ name: 'SluiceStorageDown', severity: 'critical', forMinutes: 5, by: [] },
    ...peak('readiness', 0, ([part, state]) => (part === 'storage' && state === 'down' ? [] : undefined)),
  },
  { ...{ name: 'SluiceVideoQueueOld', severity: 'warning', forMinutes: 5, by: ['pool'] }, ...peak('queue age', 3_600) },
  {
    ...{ name: 'SluiceVideoTaskRunsForEver', severity: 'warning', forMinutes: 0, by: ['pool'] },
    ...peak('overrunning', 0),
  },
  { ...{ name: 'SluiceAssetSlotsShort', severity: 'warning', forMinutes: 15, by: [] }, ...peak('slot waits', 0) },
  {
    ...{ name: 'SluiceWebhooksFailing', severity: 'warning', forMinutes: 15, by: ['kind'] },
    ...share({
      ...{ series: 'deliveries', windowMinutes: 30, above: 0.5, labels: 1 },
      isBad: ([, status]) => !/^2..$/.test(status ?? ''),
    }),
  },
  {
    // In thousandths. Without the windows of a minute and an hour, which fill and empty all the time.
    ...{ name: 'SluiceLimitNearlyUsed', severity: 'warning', forMinutes: 5, by: ['subject_type', 'unit', 'window'] },
    ...peak('limit', 900, (labels) => (/^(day|week|month|none)$/.test(labels[2] ?? '') ? labels : undefined)),
  },
]

type Condition = Pick<AlertRule, 'above' | 'windowMinutes' | 'valuesAt'>

const isServerError = (status: string | undefined): boolean => /^5..$/.test(status ?? '')

/** The part of the counts of a window that is bad, for each combination of the first labels. */
const share = ({ series, windowMinutes, above, labels, isBad }: WindowCondition & { isBad: Test }): Condition => ({
  ...{ above, windowMinutes },
  valuesAt(counts, minute) {
    const sums = new Map<string, { all: number; bad: number }>()
    counts.forEach(series, minute - windowMinutes, minute, (found, value) => {
      const key = JSON.stringify(found.slice(0, labels))
      const sum = sums.get(key) ?? { all: 0, bad: 0 }
      sum.all += value
      if (isBad(found)) sum.bad += value
      sums.set(key, sum)
    })
    return new Map([...sums].map(([key, { all, bad }]) => [key, bad / all]))
  },
})

/** How many a second are counted in a window, for each combination of the first labels. */
const rate = ({
  series,
  windowMinutes,
  above,
  labels,
  counts: isCounted,
}: WindowCondition & { counts: Test }): Condition => ({
  ...{ above, windowMinutes },
  valuesAt(counts, minute) {
    const sums = new Map<string, number>()
    counts.forEach(series, minute - windowMinutes, minute, (found, value) => {
      if (!isCounted(found)) return
      const key = JSON.stringify(found.slice(0, labels))
      sums.set(key, (sums.get(key) ?? 0) + value / (windowMinutes * 60))
    })
    return sums
  },
})

/** The part of the calls of an action that took more than five seconds. */
const slowShare = ({ windowMinutes, above }: Pick<WindowCondition, 'windowMinutes' | 'above'>): Condition => ({
  ...{ above, windowMinutes },
  valuesAt(counts, minute) {
    const sums = new Map<string, { all: number; quick: number }>()
    counts.forEach('seconds', minute - windowMinutes, minute, ([action = '', le], value) => {
      const key = JSON.stringify([action])
      const sum = sums.get(key) ?? { all: 0, quick: 0 }
      if (le === '5') sum.quick += value
      else sum.all += value
      sums.set(key, sum)
    })
    return new Map([...sums].map(([key, { all, quick }]) => [key, all > 0 ? 1 - quick / all : 0]))
  },
})

/** The highest value of a minute. @param labelsOf undefined for a series that the rule is not about */
const peak = (
  series: string,
  above: number,
  labelsOf: (labels: readonly string[]) => readonly string[] | undefined = (labels) => labels,
): Condition => ({
  ...{ above, windowMinutes: 1 },
  valuesAt(counts, minute) {
    const values = new Map<string, number>()
    counts.forEach(series, minute - 1, minute, (found, value) => {
      const labels = labelsOf(found)
      if (!labels) return
      const key = JSON.stringify(labels)
      values.set(key, Math.max(value, values.get(key) ?? 0))
    })
    return values
  },
})

interface WindowCondition {
  readonly series: string
  readonly windowMinutes: number
  readonly above: number
  /** How many of the first labels a value has. */
  readonly labels: number
}

type Test = (labels: readonly string[]) => boolean
