import type { Awaitable } from '../../shared/awaitable.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { ActivityView, AlertsView } from '../activity.ts'
import type { SettingsView, UpstreamView } from '../views/system.ts'
import type { AdminActor } from './actor.ts'

/** What the server says about itself. */
export interface SystemReports {
  /** The state of each upstream. Undefined: there are none. */
  readonly upstreams?: (() => Awaitable<readonly UpstreamView[]>) | undefined
  /** The settings in force. Undefined: there are none. */
  readonly settings?: (() => Awaitable<SettingsView>) | undefined
  /** What the server has done lately. Undefined: it does not know. */
  readonly activity?: (() => Awaitable<ActivityView>) | undefined
  /** The alerts of the server's rules. Undefined: it has no rules. */
  readonly alerts?: (() => Awaitable<AlertsView>) | undefined
}

/** Operations on the server itself. Each throws Problem 500 when its report rejects. */
export interface SystemOperations {
  upstreams(actor: AdminActor): Promise<readonly UpstreamView[]>
  settings(actor: AdminActor): Promise<SettingsView>
  activity(actor: AdminActor): Promise<ActivityView>
  alerts(actor: AdminActor): Promise<AlertsView>
}

export const createSystemOperations = ({
  upstreams = () => [],
  settings = () => ({}),
  activity,
  alerts = () => ({ alerts: [], not_evaluated: [] }),
}: SystemReports): SystemOperations => ({
  async upstreams(actor) {
    const reports = await read(upstreams, 'the upstreams could not be read')
    actor.read('upstreams')
    return reports
  },

  async settings(actor) {
    actor.read('settings')
    return settings()
  },

  async activity(actor) {
    if (!activity) throw new Problem(404, 'this server does not count its requests')
    const report = await read(activity, 'the activity could not be read')
    actor.read('activity')
    return report
  },

  async alerts(actor) {
    const report = await read(alerts, 'the alerts could not be read')
    actor.read('alerts')
    return report
  },
})

const read = <Report>(report: () => Awaitable<Report>, message: string): Promise<Report> =>
  storeCall(Promise.resolve().then(report), message)
