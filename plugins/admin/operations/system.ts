import type { Awaitable } from '../../shared/awaitable.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { ActivityView, AlertsView } from '../activity.ts'
import type { SettingsView, UpstreamView } from '../views/system.ts'
import { type AdminActor, readBy } from './actor.ts'

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
  upstreams: (actor) => readBy(actor, 'upstreams', read(upstreams, 'the upstreams could not be read')),

  async settings(actor) {
    actor.read('settings')
    return settings()
  },

  async activity(actor) {
    if (!activity) throw new Problem(404, 'this server does not count its requests')
    return readBy(actor, 'activity', read(activity, 'the activity could not be read'))
  },

  alerts: (actor) => readBy(actor, 'alerts', read(alerts, 'the alerts could not be read')),
})

const read = <Report>(report: () => Awaitable<Report>, message: string): Promise<Report> =>
  storeCall(Promise.resolve().then(report), message)
