import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMetrics, readSnapshot } from '../../plugins/metrics/index.ts'
import { alertRules, prometheusOnly } from '../../src/operators/alert-rules.ts'
import { createAlertReport } from '../../src/operators/alerts.ts'
import type { MetricObservations } from '../../src/store/index.ts'
import { openStore } from '../../src/store/index.ts'

const minute = 60_000
const now = Date.UTC(2026, 5, 10, 12, 30, 20)

interface PrometheusRule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
}

const file = readFileSync(join(import.meta.dir, '../../examples/operating/alerts.yml'), 'utf8')
const { groups } = Bun.YAML.parse(file) as { groups: { rules: PrometheusRule[] }[] }
const prometheusRules = groups.flatMap(({ rules }) => rules)

describe('the rules of the server are those of alerts.yml', () => {
  const own = new Map(alertRules().map((rule) => [rule.name, rule]))

  test('all of them, but those that only Prometheus can evaluate', () => {
    expect([...own.keys(), ...prometheusOnly].sort()).toEqual(prometheusRules.map(({ alert }) => alert).sort())
  })

  for (const { alert, expr, for: time = '0m', labels } of prometheusRules) {
    const rule = own.get(alert)
    if (!rule) continue
    test(`${alert} has the same severity, times and threshold`, () => {
      const minutes = time.endsWith('h') ? 60 * Number.parseInt(time, 10) : Number.parseInt(time, 10)
      expect([rule.severity, rule.forMinutes]).toEqual([labels.severity as 'critical', minutes])
      const [, window, unit] = /\[(\d+)([mh])\]/.exec(expr) ?? []
      if (window) expect(rule.windowMinutes).toBe(Number(window) * (unit === 'h' ? 60 : 1))
      const threshold = /> ([\d.]+(?: \* \d+)?)\s*$/.exec(expr)?.[1] ?? ''
      const above = threshold.split(' * ').reduce((product, factor) => product * Number(factor), 1)
      // A percentile is a threshold of another kind, and ratios of limits are stored in thousandths.
      if (alert === 'SluiceUpstreamSlow') expect([above, rule.above]).toEqual([5, 0.05])
      else expect(rule.above).toBe(alert === 'SluiceLimitNearlyUsed' ? above * 1000 : above)
    })
  }
})

const openAlerts = async () => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const metrics = createMetrics()
  const report = createAlertReport({ store, clock: { now: () => now } })
  return {
    metrics,
    /** The alerts, without the time since when. */
    read: async () => (await report(() => readSnapshot(metrics.registry))).alerts,
    /** Adds the same to each of the last minutes. */
    add: async (minutes: number, observed: Partial<MetricObservations>, endedAgo = 0) => {
      for (let age = endedAgo; age < endedAgo + minutes; age++)
        await store.addMetricCounts({ counts: [], peaks: [], ...observed }, now - age * minute)
    },
    [Symbol.asyncDispose]: () => store.close(),
  }
}
const count = (value: number, ...series: readonly string[]) => ({ series, value })

describe('alerts', () => {
  test('there are none without counts, and none below the threshold', async () => {
    await using alerts = await openAlerts()
    expect(await alerts.read()).toEqual([])
    await alerts.add(30, { counts: [count(96, 'requests', '200'), count(4, 'requests', '500')] })
    expect(await alerts.read()).toEqual([])
  })

  test('are pending until their condition has held for the time of the rule, and then fire', async () => {
    await using alerts = await openAlerts()
    await alerts.add(30, { counts: [count(90, 'requests', '200')] })
    await alerts.add(5, { counts: [count(60, 'requests', '500')] })
    const [pending, ...others] = await alerts.read()
    expect(others).toEqual([])
    expect(pending).toMatchObject({ name: 'SluiceErrors', severity: 'critical', state: 'pending', labels: {} })
    await alerts.add(20, { counts: [count(60, 'requests', '500')] }, 5)
    expect((await alerts.read()).map(({ name, state }) => [name, state])).toEqual([['SluiceErrors', 'firing']])
  })

  test('end with their condition', async () => {
    await using alerts = await openAlerts()
    await alerts.add(30, { counts: [count(60, 'requests', '500')] }, 12)
    await alerts.add(12, { counts: [count(60, 'requests', '200')] })
    expect(await alerts.read()).toEqual([])
  })

  test('of upstreams are about one upstream and action', async () => {
    await using alerts = await openAlerts()
    await alerts.add(30, {
      counts: [
        count(30, 'calls', 'a.example', 'chat', '0'),
        count(70, 'calls', 'a.example', 'chat', '200'),
        count(100, 'calls', 'b.example', 'chat', '200'),
        count(1, 'calls', 'c.example', 'chat', '403'),
        count(20, 'calls', 'd.example', 'chat', '429'),
        count(90, 'seconds', 'ListAssets', '5'),
        count(100, 'seconds', 'ListAssets', '+Inf'),
      ],
    })
    expect((await alerts.read()).map(({ name, labels, state, value }) => [name, labels, state, value])).toEqual([
      ['SluiceUpstreamFailing', { upstream: 'a.example', action: 'chat' }, 'firing', 0.3],
      ['SluiceUpstreamRejectsAccount', { upstream: 'c.example', action: 'chat' }, 'firing', expect.closeTo(1 / 60)],
      ['SluiceUpstreamRateLimited', { upstream: 'd.example', action: 'chat' }, 'firing', expect.closeTo(1 / 3)],
      ['SluiceUpstreamSlow', { action: 'ListAssets' }, 'firing', expect.closeTo(0.1)],
    ])
  })

  test('of busy processes, unreported usage, deliveries, storage, limits and streams', async () => {
    await using alerts = await openAlerts()
    await alerts.add(125, {
      counts: [
        ...[count(1, 'requests', '503'), count(99, 'requests', '200')],
        ...[count(6, 'text', 'a-model', 'false'), count(4, 'text', 'a-model', 'true')],
        ...[count(6, 'deliveries', 'webhook', '500'), count(4, 'deliveries', 'webhook', '204')],
      ],
      peaks: [
        ...[count(1, 'readiness', 'storage', 'full'), count(1, 'readiness', 'database', 'full')],
        ...[count(950, 'limit', 'user', 'tokens', 'day'), count(999, 'limit', 'user', 'tokens', 'minute')],
        ...[count(4_000, 'queue age', 'a-pool'), count(2, 'overrunning', 'a-pool'), count(14_000, 'streams')],
        count(3, 'slot waits'),
      ],
    })
    const found = await alerts.read()
    expect(found.map(({ name, state }) => [name, state])).toEqual(
      [
        ...['SluiceBusy', 'SluiceStreamsNearLimit', 'SluiceUsageUnreported', 'SluiceDatabaseNotReady'],
        ...['SluiceStorageFull', 'SluiceVideoQueueOld', 'SluiceVideoTaskRunsForEver', 'SluiceAssetSlotsShort'],
        ...['SluiceWebhooksFailing', 'SluiceLimitNearlyUsed'],
      ].map((name) => [name, 'firing']),
    )
    expect(found.at(-1)).toMatchObject({ labels: { subject_type: 'user', unit: 'tokens', window: 'day' }, value: 0.95 })
  })

  test('also see what this process has not written yet', async () => {
    await using alerts = await openAlerts()
    alerts.metrics.videoTasks([{ pool: 'a-pool', phase: 'overrunning', count: 3 }])
    expect(await alerts.read()).toMatchObject([
      { name: 'SluiceVideoTaskRunsForEver', state: 'firing', labels: { pool: 'a-pool' }, value: 3 },
    ])
  })
})
