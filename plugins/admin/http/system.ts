import { success } from '../../shared/http/no-store.ts'
import type { SystemOperations } from '../operations/system.ts'
import type { AdminHandler } from './call.ts'

/** The routes of upstreams, settings, activity and alerts. */
export const systemRoutes = (system: SystemOperations) =>
  ({
    async upstreams({ actor }) {
      return success({ upstreams: await system.upstreams(actor) })
    },

    async settings({ actor }) {
      return success({ settings: await system.settings(actor) })
    },

    async activity({ actor }) {
      return success({ activity: await system.activity(actor) })
    },

    async alerts({ actor }) {
      return success(await system.alerts(actor))
    },
  }) satisfies Record<string, AdminHandler>
