import { Counter, Gauge, type Registry } from 'prom-client'
import { within } from '../../../plugins/shared/background/within.ts'
import type { CircuitState } from '../../../plugins/shared/upstream/circuit.ts'
import type { CircuitBreakers } from '../../../plugins/shared/upstream/circuit-breaker.ts'
import type { UsageLimits } from '../../../plugins/usage-limits/index.ts'
import { countDroppedLines } from '../../log/metrics.ts'
import type { LeveledLog } from '../../log.ts'
import { type Health, partStates, stateOf } from '../health.ts'

/** What the metrics of a server beside those of its plugins are read from. */
interface ObservedServer {
  readonly health: Pick<Health, 'database' | 'storage'>
  readonly usageLimits?: Pick<UsageLimits, 'usedRatios'> | undefined
  /** Default: none. */
  readonly circuits?: Pick<CircuitBreakers, 'counts'> | undefined
  /** The rows of each kind that are older than they are kept. Default: none. */
  readonly overdue?: (() => Readonly<Record<string, number | undefined>>) | undefined
  readonly log: LeveledLog
}

/** Adds the metrics of a server to a registry: its limits, its log, its database, its storage, and what it removes. */
export const observeServer = (
  registry: Registry,
  { health, usageLimits, circuits, overdue, log }: ObservedServer,
): void => {
  if (usageLimits) observeUsageLimits(registry, usageLimits)
  if (circuits) observeCircuits(registry, circuits)
  if (overdue) observeOverdue(registry, overdue)
  countDroppedLines(registry, log)
  observeReadiness(registry, health)
}

const states: readonly CircuitState[] = ['closed', 'open', 'half-open']

/** Adds the circuits of the upstreams to a registry. */
const observeCircuits = (registry: Registry, circuits: Pick<CircuitBreakers, 'counts'>): void => {
  new Gauge({
    name: 'sluice_upstream_circuits',
    help: 'Upstreams and actions by the state of their circuit. Calls to an open one fail at once.',
    labelNames: ['state'],
    aggregator: 'max',
    registers: [registry],
    collect() {
      const counts = circuits.counts()
      for (const state of states) this.set({ state }, counts[state])
    },
  })
  let counted = 0
  new Counter({
    name: 'sluice_upstream_calls_refused_total',
    help: 'Calls that failed at once, because the circuit of their upstream was open.',
    registers: [registry],
    collect() {
      const { refused } = circuits.counts()
      this.inc(refused - counted)
      counted = refused
    },
  })
}

/** Longest wait for a part at a scrape. The metrics of all workers are read within a second. */
const maxWaitMs = 500

/**
 * Adds the states of the database and of the storage, as `/readyz` reports them, to a registry. A part that responds
 * after the scrape has the state that it had before.
 */
export const observeReadiness = (registry: Registry, { database, storage }: Pick<Health, 'database' | 'storage'>) => {
  new Gauge({
    name: 'sluice_readiness',
    help: 'The state of the database and of the storage: 1 for the state in which a process finds it, otherwise 0.',
    labelNames: ['part', 'state'],
    // Of several processes, each one that finds a part in another state.
    aggregator: 'max',
    registers: [registry],
    async collect() {
      const observe = async (part: string, check: (() => Promise<void>) | undefined) => {
        const current = check && (await stateOf(check))
        if (current) for (const state of partStates) this.set({ part, state }, Number(state === current))
      }
      await within(Promise.all([observe('database', database), observe('storage', storage)]), maxWaitMs)
    },
  })
}

/** Adds what is older than it is kept to a registry. */
const observeOverdue = (registry: Registry, overdue: NonNullable<ObservedServer['overdue']>): void => {
  new Gauge({
    name: 'sluice_overdue_rows',
    help: 'Rows that are older than they are kept, by at least two hours, and have not been removed; at most 10,000.',
    labelNames: ['kind'],
    aggregator: 'max',
    registers: [registry],
    collect() {
      for (const [kind, count] of Object.entries(overdue())) if (count !== undefined) this.set({ kind }, count)
    },
  })
}

/** Adds how much of their amounts limits have used to a registry. */
const observeUsageLimits = (registry: Registry, limits: Pick<UsageLimits, 'usedRatios'>): void => {
  new Gauge({
    name: 'sluice_limit_used_ratio',
    help: 'The highest part of its amount that a limit has used, of those that calls have used lately.',
    labelNames: ['subject_type', 'unit', 'window'],
    aggregator: 'max',
    registers: [registry],
    collect() {
      this.reset()
      for (const { subjectType, unit, window, ratio } of limits.usedRatios())
        this.set({ subject_type: subjectType, unit, window: window ?? 'none' }, ratio)
    },
  })
}
