import { noStoreJson } from '../../shared/http/no-store.ts'
import type { ConsentOperations } from '../operations/consents.ts'
import { toAdminConsentView } from '../views/consents.ts'
import type { AdminHandler } from './call.ts'
import { pathId } from './input.ts'

/** The routes of consents. */
export const adminConsentRoutes = (consents: ConsentOperations) => {
  const respond = (consent: Awaited<ReturnType<ConsentOperations['get']>>): Response =>
    noStoreJson({ success: true, consent: toAdminConsentView(consent) })
  return {
    get: async ({ actor, params }) => respond(await consents.get(actor, pathId(params))),
    withdraw: async ({ actor, identity, params }) =>
      respond(await consents.withdraw(actor, pathId(params), identity.user)),
    remove: async ({ actor, identity, params }) => respond(await consents.remove(actor, pathId(params), identity.user)),
  } satisfies Record<string, AdminHandler>
}
