import { noStoreJson } from '../../shared/http/no-store.ts'
import type { SystemOperations } from '../operations/system.ts'
import type { AdminHandler } from './call.ts'

/** The routes of upstreams, settings, activity and alerts. */
export const systemRoutes = (system: SystemOperations) =>
  ({
    async upstreams({ actor }) {
      return noStoreJson({ success: true, upstreams: await system.upstreams(actor) })
    },

    async settings({ actor }) {
      return noStoreJson({ success: true, settings: await system.settings(actor) })
    },

    async activity({ actor }) {
      return noStoreJson({ success: true, activity: await system.activity(actor) })
    },

    async alerts({ actor }) {
      return noStoreJson({ success: true, ...(await system.alerts(actor)) })
    },
  }) satisfies Record<string, AdminHandler>
