import { type Account, type Action, getAssetQuota } from '../account.ts'
import type { ActionRequest, ActionResult } from '../action.ts'
import type { AssetAction } from '../action-names.ts'
import { createVisualValidateSession, getVisualValidateResult } from '../face/actions.ts'
import { createAsset, deleteAsset, getAsset, updateAsset } from '../library/assets.ts'
import { createAssetGroup, deleteAssetGroup, getAssetGroup, updateAssetGroup } from '../library/groups.ts'
import { listAssetGroups, listAssets } from '../library/list-actions.ts'

/**
 * Every action of the asset API by name. A vendor page such as 2318271 is a page of the ModelArk documentation:
 * `https://docs.byteplus.com/en/docs/ModelArk/2318271` or `https://www.volcengine.com/docs/82379/2318271`.
 */
const actions: Readonly<Record<AssetAction, Action>> = {
  CreateAssetGroup: createAssetGroup,
  GetAssetGroup: getAssetGroup,
  UpdateAssetGroup: updateAssetGroup,
  DeleteAssetGroup: deleteAssetGroup,
  ListAssetGroups: listAssetGroups,
  CreateAsset: createAsset,
  GetAsset: getAsset,
  UpdateAsset: updateAsset,
  DeleteAsset: deleteAsset,
  ListAssets: listAssets,
  GetAssetQuota: getAssetQuota,
  CreateVisualValidateSession: createVisualValidateSession,
  GetVisualValidateResult: getVisualValidateResult,
}

/** Whether the asset API has an action with this name. */
export const isAction = (name: string): name is AssetAction => Object.hasOwn(actions, name)

/** Runs an action under the account's rate limits. The caller must be authenticated already. */
export const runAction = (account: Account, request: ActionRequest): ActionResult => {
  if (!isAction(request.action)) throw new Error(`no action ${request.action}`)
  account.callLimits.take(request.action)
  return actions[request.action](account, request)
}
