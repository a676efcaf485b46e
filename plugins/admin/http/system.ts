import type { Awaitable } from '../../shared/awaitable.ts'
import { noStoreJson } from '../../shared/http/no-store.ts'
import type { SettingsView, UpstreamView } from '../views.ts'
import type { AdminHandler } from './call.ts'

/** What the routes of upstreams and settings need. */
export interface SystemRoutesOptions {
  readonly upstreams?: (() => Awaitable<readonly UpstreamView[]>) | undefined
  readonly settings?: (() => SettingsView) | undefined
}

/** The routes of upstreams and settings. */
export const systemRoutes = ({ upstreams = () => [], settings = () => ({}) }: SystemRoutesOptions) =>
  ({
    async upstreams({ actor }) {
      const reports = await upstreams()
      actor.read('upstreams')
      return noStoreJson({ success: true, upstreams: reports })
    },

    async settings({ actor }) {
      actor.read('settings')
      return noStoreJson({ success: true, settings: settings() })
    },
  }) satisfies Record<string, AdminHandler>
