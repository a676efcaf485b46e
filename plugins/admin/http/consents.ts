import { noStoreText, success } from '../../shared/http/no-store.ts'
import type { TextSigner } from '../../shared/identity/signed-text.ts'
import type { AdminConsent } from '../consents.ts'
import { optional, readWord } from '../fields.ts'
import type { ConsentOperations } from '../operations/consents.ts'
import { toAdminConsentView } from '../views/consents.ts'
import type { AdminHandler } from './call.ts'
import { pathId, readQuery } from './input.ts'
import { pageParameters, pageRequest, pageResponse, readPage } from './pages.ts'

/** The routes of consents. */
export const adminConsentRoutes = (consents: ConsentOperations, signer: TextSigner) => {
  const respond = (consent: AdminConsent): Response => success({ consent: toAdminConsentView(consent) })
  return {
    list: async ({ actor, request }) => {
      const query = readQuery(request, ['state', ...pageParameters])
      const page = readPage(query, ['consents'], signer)
      const filter = { state: optional(query, 'state', readWord(['withdrawn'])) }
      const found = await consents.list(actor, filter, pageRequest(page))
      return pageResponse('consents', found, page, toAdminConsentView)
    },
    get: async ({ actor, params }) => respond(await consents.get(actor, pathId(params))),
    withdraw: async ({ actor, identity, params }) =>
      respond(await consents.withdraw(actor, pathId(params), identity.user)),
    remove: async ({ actor, identity, params }) => respond(await consents.remove(actor, pathId(params), identity.user)),
    export: async ({ actor, params }) => {
      const response = noStoreText(await consents.export(actor, pathId(params)))
      response.headers.set('content-disposition', `attachment; filename="consent.json"`)
      return response
    },
  } satisfies Record<string, AdminHandler>
}
