/**
 * The vendor's documented limits of an account, in calls per second (CreateAsset: 300 a minute). For `limits.perSecond`
 * of the kind `ark`.
 */
export const arkLimits: Readonly<Record<string, number>> = {
  CreateAssetGroup: 10,
  CreateAsset: 5,
  ListAssetGroups: 10,
  ListAssets: 10,
  GetAsset: 100,
  GetAssetGroup: 10,
  UpdateAsset: 10,
  UpdateAssetGroup: 10,
  DeleteAsset: 10,
  DeleteAssetGroup: 5,
  CreateVisualValidateSession: 3,
  GetVisualValidateResult: 3,
}
