import { type Account, type Action, type Answer, type Ask, getAssetQuota } from './account.ts'
import { createAsset, deleteAsset, getAsset, updateAsset } from './assets.ts'
import { createVisualValidateSession, getVisualValidateResult } from './face/actions.ts'
import { createAssetGroup, deleteAssetGroup, getAssetGroup, updateAssetGroup } from './groups.ts'
import { listAssetGroups, listAssets } from './lists.ts'

/** Every action of the upstream by its name. */
const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ['CreateAssetGroup', createAssetGroup],
  ['GetAssetGroup', getAssetGroup],
  ['UpdateAssetGroup', updateAssetGroup],
  ['DeleteAssetGroup', deleteAssetGroup],
  ['ListAssetGroups', listAssetGroups],
  ['CreateAsset', createAsset],
  ['GetAsset', getAsset],
  ['UpdateAsset', updateAsset],
  ['DeleteAsset', deleteAsset],
  ['ListAssets', listAssets],
  ['GetAssetQuota', getAssetQuota],
  ['CreateVisualValidateSession', createVisualValidateSession],
  ['GetVisualValidateResult', getVisualValidateResult],
])

/** Whether the upstream has such an action. */
export function isAction(name: string): boolean {
  return ACTIONS.has(name)
}

/** Does what a call asks, under the account's limits. The caller is already known to be entitled. */
export function perform(account: Account, ask: Ask): Answer {
  const action = ACTIONS.get(ask.action)
  if (action === undefined) throw new Error(`no action ${ask.action}`)
  account.limits.take(ask.action)
  return action(account, ask)
}
