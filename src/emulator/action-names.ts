/** The actions of the asset API, in both forms (`rest` and `ark`). */
export const assetActions = [
  'CreateAssetGroup',
  'GetAssetGroup',
  'UpdateAssetGroup',
  'DeleteAssetGroup',
  'ListAssetGroups',
  'CreateAsset',
  'GetAsset',
  'UpdateAsset',
  'DeleteAsset',
  'ListAssets',
  'GetAssetQuota',
  'CreateVisualValidateSession',
  'GetVisualValidateResult',
] as const

/** The actions of text generation. */
export const textActions = [
  'CreateChatCompletion',
  'CreateCompletion',
  'CreateEmbedding',
  'ListModels',
  'GetModel',
  'CreateResponse',
  'GetResponse',
  'DeleteResponse',
  'CancelResponse',
  'ListInputItems',
  'CompactResponse',
  'CountInputTokens',
  'CreateConversation',
  'GetConversation',
  'DeleteConversation',
] as const

/** The actions of video generation. `SendVideoCallback`: a callback that the emulator sends; it is no call. */
export const videoActions = [
  'CreateVideoTask',
  'GetVideoTask',
  'ListVideoTasks',
  'DeleteVideoTask',
  'DownloadVideoResult',
  'SendVideoCallback',
] as const

/** An action of the asset API. */
export type AssetAction = (typeof assetActions)[number]

/** An action of text generation. */
export type TextAction = (typeof textActions)[number]

/** An action of video generation. */
export type VideoAction = (typeof videoActions)[number]

/** An action of the emulator: of the asset API, of text generation, or of video generation. */
export type EmulatorAction = AssetAction | TextAction | VideoAction

/** The names of actions that a name or a pattern selects. */
export const selectActions = (wanted: string | RegExp, names: readonly string[]): readonly string[] =>
  names.filter((name) => selects(wanted, name))

/** Whether a name or a pattern selects an action. */
export const selects = (wanted: string | RegExp, name: string): boolean =>
  typeof wanted === 'string' ? wanted === name : new RegExp(wanted.source, wanted.flags.replace(/[gy]/g, '')).test(name)
