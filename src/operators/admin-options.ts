import type { AdminOptions, AlertsView } from '../../plugins/admin/index.ts'
import type { UpstreamView } from '../../plugins/admin/views/system.ts'
import type { MetricsSnapshot } from '../../plugins/metrics/index.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import type { UsageLimits } from '../../plugins/usage-limits/index.ts'
import type { UpstreamCallReport, UpstreamStates } from '../app/upstreams/states.ts'
import { type Config, settingsInForce } from '../config.ts'
import type { Store } from '../store/index.ts'
import { createActivityReport } from './activity.ts'
import { createAlertReport } from './alerts.ts'
import { createUpstreamReport } from './upstreams.ts'
import { createAdminVideos } from './videos.ts'

/** What the admin API of the default server gets from its other parts. */
export interface AdminParts extends Pick<AdminOptions, 'identify' | 'publicUrl' | 'secrets'> {
  readonly store: Store
  readonly usageLimits: UsageLimits
}

/** Options of the admin API of the default server. */
export interface ServerAdminOptions extends Omit<AdminOptions, 'upstreams' | 'alerts' | 'errors' | 'log' | 'audit'> {
  /** Reports about the upstreams, from their calls by this process. Default: there are none. */
  readonly upstreamReport?: (calls: readonly UpstreamCallReport[]) => Promise<readonly UpstreamView[]>
  /** Reports about alerts, also from the metrics of this process. Default: there are none. */
  readonly alertReport?: (read: () => Promise<MetricsSnapshot>) => Promise<AlertsView>
}

/** The options of the admin API of the default server. */
export const adminOptions = (config: Config, { store, usageLimits, ...parts }: AdminParts): ServerAdminOptions => ({
  ...parts,
  store,
  idempotency: store.idempotency,
  videos: createAdminVideos(store, systemClock),
  upstreamReport: createUpstreamReport({ config, store, clock: systemClock }),
  settings: () => settingsInForce(config),
  activity: createActivityReport({ store, clock: systemClock }),
  alertReport: createAlertReport({ store, clock: systemClock }),
  limits: (user) => usageLimits.report({ user }),
})

/** Adds the reports about what this process observes: the upstreams of `states`, and its metrics. */
export const withObservations = (
  { upstreamReport, alertReport, ...options }: ServerAdminOptions,
  states: Pick<UpstreamStates, 'reports'>,
  readMetrics: () => Promise<MetricsSnapshot>,
): Omit<AdminOptions, 'errors' | 'log' | 'audit'> => ({
  ...options,
  upstreams: upstreamReport && (() => upstreamReport(states.reports())),
  alerts: alertReport && (() => alertReport(readMetrics)),
})
