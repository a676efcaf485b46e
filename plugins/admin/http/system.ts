import { noStoreJson } from '../../shared/http/no-store.ts'
import type { SystemOperations } from '../operations/system.ts'
import type { AdminHandler } from './call.ts'

/** The routes of upstreams and settings. */
export const systemRoutes = (system: SystemOperations) =>
  ({
    async upstreams({ actor }) {
      return noStoreJson({ success: true, upstreams: await system.upstreams(actor) })
    },

    async settings({ actor }) {
      return noStoreJson({ success: true, settings: await system.settings(actor) })
    },
  }) satisfies Record<string, AdminHandler>
