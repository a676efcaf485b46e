import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parser } from '@prometheus-io/lezer-promql'
import { createMetrics, readSnapshot } from '../../plugins/metrics/index.ts'
import type { VideoTaskCount } from '../../plugins/video-generation/index.ts'
import { partStates } from '../../src/app/health.ts'
import { countDeliveries } from '../../src/app/metrics/deliveries.ts'
import { observeServer } from '../../src/app/metrics/server.ts'
import { createLog } from '../../src/log.ts'

const folder = join(import.meta.dir, '../../examples/operating')
const read = (file: string) => readFileSync(join(folder, file), 'utf8')

/** Names of time series, with their labels. */
type Series = ReadonlyMap<string, readonly string[]>

/** Labels that Prometheus adds to every sample of a target. */
const targetLabels = ['job', 'instance']

const phases = ['waiting', 'running', 'overrunning'] satisfies VideoTaskCount['phase'][]

/** Values of labels that are words of the gateway. */
const words: Readonly<Record<string, readonly string[]>> = {
  phase: phases,
  part: ['database', 'storage'],
  state: [...partStates, 'used', 'waiting', 'limit'],
  kind: ['webhook', 'callback', 'input', 'output', 'cached_input', 'reasoning'],
  reported: ['true', 'false'],
}

/** The time series that the gateway exports, and `up` of Prometheus. */
const readSeries = async (): Promise<Series> => {
  const metrics = createMetrics()
  metrics.request({ method: 'GET', status: 200, seconds: 1 })
  metrics.upstream({ action: 'GetAsset', status: 200, seconds: 1 })
  metrics.upstream({ action: 'GetAsset', upstream: 'api.example', status: 200, seconds: 1 })
  metrics.text({ model: 'm', accepted: true, tokens: { input: 1, cachedInput: 1, output: 1, reasoning: 1 }, cost: 1 })
  metrics.inFlight(() => ({ requests: 1, streams: 1, bodyBytes: 1 }))
  metrics.videoEnd('succeeded')
  metrics.videoTasks(phases.map((phase) => ({ pool: 'm', phase, count: 1, oldestAt: 0 })))
  metrics.assetSlots({ used: 1, waiting: 1, limit: 1, account: 'one' })
  metrics.assetSlotChange('evicted', 'one')
  countDeliveries(metrics.registry)({ kind: 'webhook', status: 200, seconds: 1 })
  observeServer(metrics.registry, {
    health: { database: async () => {}, storage: async () => {} },
    usageLimits: { usedRatios: () => [{ subjectType: 'user', unit: 'tokens', window: 'day', ratio: 0.5 }] },
    log: createLog({ level: 'silent', secrets: [] }),
  })
  const series = new Map<string, readonly string[]>([['up', []]])
  for (const { name, values } of await readSnapshot(metrics.registry)) {
    for (const value of values) {
      // The name of one series of a histogram, which prom-client does not declare.
      series.set((value as { metricName?: string }).metricName ?? name, Object.keys(value.labels))
    }
  }
  return series
}
const series = await readSeries()

type SyntaxNode = ReturnType<typeof parser.parse>['topNode']

const parse = (query: string) => {
  const text = query.replaceAll('$__rate_interval', '5m')
  const root = parser.parse(text).topNode
  /** All nodes of a type, in the order of the text. */
  const nodes = (name: string, inside: SyntaxNode = root): SyntaxNode[] => {
    const found: SyntaxNode[] = []
    inside.cursor().iterate((node) => {
      // The iteration goes beyond the end of a node.
      if (node.name === name && node.from >= inside.from && node.to <= inside.to) found.push(node.node)
    })
    return found
  }
  const textOf = ({ from, to }: SyntaxNode) => text.slice(from, to)
  const grouping = nodes('GroupingLabels').flatMap((node) => nodes('LabelName', node).map(textOf))
  return { nodes, textOf, grouping }
}

/** What is wrong in a query: its syntax, its metrics, or its labels. */
const faultsIn = (query: string): string[] => {
  const { nodes, textOf, grouping } = parse(query)
  if (nodes('⚠').length > 0) return ['syntax']
  const known = new Set<string>(targetLabels)
  const faults: string[] = []
  for (const selector of nodes('VectorSelector')) {
    const name = nodes('Identifier', selector).map(textOf)[0] ?? ''
    const labels = series.get(name)
    if (!labels) faults.push(`metric ${name}`)
    for (const label of labels ?? []) known.add(label)
    for (const [, label = '', value = ''] of textOf(selector).matchAll(/(\w+)!?="([^"]*)"/g))
      if (words[label]?.includes(value) === false) faults.push(`value ${value} of ${label}`)
    for (const label of nodes('LabelName', selector).map(textOf)) {
      if (!labels?.includes(label) && !targetLabels.includes(label)) faults.push(`label ${label} of ${name}`)
    }
  }
  return [...faults, ...grouping.filter((label) => !known.has(label)).map((label) => `group ${label}`)]
}

/** The labels that the result of a query has: those of its groups, or all of its metrics. */
const resultLabels = (query: string): readonly string[] => {
  const { nodes, textOf, grouping } = parse(query)
  if (nodes('AggregateExpr').length > 0) return grouping
  return [...targetLabels, ...nodes('Identifier').flatMap((node) => series.get(textOf(node)) ?? [])]
}

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string }
}
interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}
interface Dashboard {
  readonly panels: readonly Panel[]
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly query: string | { query: string } }[]
  }
}

const { groups } = Bun.YAML.parse(read('alerts.yml')) as { groups: { rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)
const { panels, templating }: Dashboard = JSON.parse(read('grafana-dashboard.json'))
const targets = panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })))

describe('the check of queries finds', () => {
  test.each([
    ['sum(rate(', ['syntax']],
    ['sluice_requests', ['metric sluice_requests']],
    [
      'rate(sluice_requests_total{path="/"}[5m]) / up{zone="a"}',
      ['label path of sluice_requests_total', 'label zone of up'],
    ],
    ['sum by (user) (sluice_requests_total)', ['group user']],
    [
      'sluice_video_tasks{phase="queued"} + sluice_readiness{state!="fine"}',
      ['value queued of phase', 'value fine of state'],
    ],
    ['sluice_request_seconds', ['metric sluice_request_seconds']],
    ['sum by (le) (rate(sluice_request_seconds_bucket{job="a"}[$__rate_interval])) > 1', []],
  ])('%p', (query, faults) => {
    expect(faultsIn(query)).toEqual(faults)
  })
})

describe('the alert rules use metrics and labels that exist', () => {
  test('there are rules', () => expect(rules.length).toBeGreaterThan(5))
  for (const { alert, expr, annotations } of rules) {
    test(alert, () => {
      expect(faultsIn(expr)).toEqual([])
      const used = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label)
      expect(resultLabels(expr)).toEqual(expect.arrayContaining(used))
    })
  }
})

describe('the dashboard uses metrics and labels that exist', () => {
  for (const { title, expr, legendFormat } of targets) {
    test(`${title}: ${legendFormat}`, () => {
      expect(faultsIn(expr)).toEqual([])
      const used = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
      expect(resultLabels(expr)).toEqual(expect.arrayContaining(used))
      const variables = [...expr.matchAll(/\$(\w+)/g)].map(([, name]) => name)
      expect([...templating.list.map(({ name }) => name), '__rate_interval']).toEqual(expect.arrayContaining(variables))
    })
  }

  test('every metric of the gateway is in a panel', () => {
    const text = targets.map(({ expr }) => expr).join('\n')
    expect([...series.keys()].filter((name) => name !== 'up' && !text.includes(name))).toEqual([])
  })

  test('the variables select from a metric that exists', () => {
    const queries = templating.list.flatMap(({ query }) => (typeof query === 'object' ? query.query : []))
    expect(queries).not.toBeEmpty()
    for (const query of queries) expect(faultsIn(/^label_values\((.*), \w+\)$/.exec(query)?.[1] ?? '')).toEqual([])
  })
})
