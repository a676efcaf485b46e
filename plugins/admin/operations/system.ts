import type { Awaitable } from '../../shared/awaitable.ts'
import type { SettingsView, UpstreamView } from '../views.ts'
import type { AdminActor } from './actor.ts'

/** What the server says about itself. */
export interface SystemReports {
  /** The state of each upstream. Undefined: there are none. */
  readonly upstreams?: (() => Awaitable<readonly UpstreamView[]>) | undefined
  /** The settings in force. Undefined: there are none. */
  readonly settings?: (() => Awaitable<SettingsView>) | undefined
}

/** Operations on the server itself. They reject as the reports do. */
export interface SystemOperations {
  upstreams(actor: AdminActor): Promise<readonly UpstreamView[]>
  settings(actor: AdminActor): Promise<SettingsView>
}

export const createSystemOperations = ({
  upstreams = () => [],
  settings = () => ({}),
}: SystemReports): SystemOperations => ({
  async upstreams(actor) {
    const reports = await upstreams()
    actor.read('upstreams')
    return reports
  },

  async settings(actor) {
    actor.read('settings')
    return settings()
  },
})
