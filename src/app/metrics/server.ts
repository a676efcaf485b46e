import type { Registry } from 'prom-client'
import type { CircuitBreakers } from '../../../plugins/shared/upstream/circuit-breaker.ts'
import type { UsageLimits } from '../../../plugins/usage-limits/index.ts'
import { countDroppedLines } from '../../log/metrics.ts'
import type { LeveledLog } from '../../log.ts'
import type { Health } from '../health.ts'
import { observeCircuits } from './circuits.ts'
import { observeReadiness } from './readiness.ts'
import { observeUsageLimits } from './usage-limits.ts'

/** What the metrics of a server beside those of its plugins are read from. */
interface ObservedServer {
  readonly health: Pick<Health, 'database' | 'storage'>
  readonly usageLimits?: Pick<UsageLimits, 'usedRatios'> | undefined
  /** Default: none. */
  readonly circuits?: Pick<CircuitBreakers, 'counts'> | undefined
  readonly log: LeveledLog
}

/** Adds the metrics of a server to a registry: its limits, its log, its database and its storage. */
export const observeServer = (registry: Registry, { health, usageLimits, circuits, log }: ObservedServer): void => {
  if (usageLimits) observeUsageLimits(registry, usageLimits)
  if (circuits) observeCircuits(registry, circuits)
  countDroppedLines(registry, log)
  observeReadiness(registry, health)
}
