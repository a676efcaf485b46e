import { success } from '../../shared/http/no-store.ts'
import type { TextSigner } from '../../shared/identity/signed-text.ts'
import { optional, readWord } from '../fields.ts'
import type { AssetBatchOperations } from '../operations/asset-batches.ts'
import { toAdminAssetBatchView } from '../views/asset-batches.ts'
import type { AdminHandler } from './call.ts'
import { pathId, readQuery } from './input.ts'
import { pageParameters, pageRequest, pageResponse, readPage } from './pages.ts'

/** The routes of batches of assets. */
export const assetBatchRoutes = (batches: AssetBatchOperations, signer: TextSigner) =>
  ({
    async list({ actor, request }) {
      const query = readQuery(request, ['user', 'state', ...pageParameters])
      const page = readPage(query, ['batches'], signer)
      const filter = { user: query.user, state: optional(query, 'state', readWord(['running'])) }
      return pageResponse('batches', await batches.list(actor, filter, pageRequest(page)), page, toAdminAssetBatchView)
    },

    async cancel({ actor, params }) {
      return success({ batch: toAdminAssetBatchView(await batches.cancel(actor, pathId(params))) })
    },
  }) satisfies Record<string, AdminHandler>
