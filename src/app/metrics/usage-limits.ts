import { Gauge, type Registry } from 'prom-client'
import type { UsageLimits } from '../../../plugins/usage-limits/index.ts'

/** Adds how much of their amounts limits have used to a registry. */
export const observeUsageLimits = (registry: Registry, limits: Pick<UsageLimits, 'usedRatios'>): void => {
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
