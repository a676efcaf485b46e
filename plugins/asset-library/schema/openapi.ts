import { Type } from '@sinclair/typebox'
import {
  idempotencyKeyParameter,
  jsonBody,
  jsonResponse,
  type OperationDescription,
  pathParameter,
  queryParameter,
  type ResponseDescription,
  type RouteOptions,
  replayedHeaders,
  routeOptions,
} from '../../shared/plugin/openapi.ts'
import {
  asset,
  assetChange,
  group,
  groupChange,
  groupType,
  idBody,
  newAsset,
  newGroup,
  newShare,
  page,
  share,
  sharedUses,
  useCounts,
  usePage,
} from './bodies.ts'
import { createErrors, keysetParameters, libraryOperation, pageSize, result } from './operations.ts'

/** The upstream decides the status of a success. Its response may have no body. */
const changed = { '2XX': jsonResponse("The upstream's response, unchanged. It may have no body", Type.Object({})) }

const createRoute = (
  operationId: string,
  summary: string,
  success: ResponseDescription,
  { parameters = [], ...more }: Partial<OperationDescription>,
): RouteOptions =>
  routeOptions({
    ...{ operationId, summary, tags: ['asset library'], parameters: [...parameters, idempotencyKeyParameter], ...more },
    responses: { 200: { ...success, headers: replayedHeaders }, ...createErrors },
  })

const idList = Type.Array(Type.String())

const words = (all: readonly string[], preset: string) =>
  Type.Union(
    all.map((word) => Type.Literal(word)),
    { default: preset },
  )

const status = Type.Union([Type.Literal('Active'), Type.Literal('Processing'), Type.Literal('Failed')])

const assetType = Type.Union([Type.Literal('Image'), Type.Literal('Video'), Type.Literal('Audio')])

const scopeParameter = queryParameter(
  'scope',
  'Own groups, those that other users lend to the caller, or both',
  words(['own', 'shared', 'all'], 'own'),
)

const listParameters = (sortBy: readonly string[], hasShares: boolean) => [
  ...(hasShares ? [scopeParameter] : []),
  queryParameter('GroupType', 'Type of the groups', groupType),
  queryParameter('GroupIds', "Ids of the caller's groups, separated by commas or repeated. Default: all", idList),
  queryParameter('Name', 'The exact name', Type.String({ maxLength: 64 })),
  queryParameter('NameContains', 'A part of the name, in any case', Type.String({ maxLength: 64 })),
  queryParameter('SortBy', 'The field to sort by', words(sortBy, 'CreateTime')),
  queryParameter('SortOrder', 'The order', words(['Asc', 'Desc'], 'Desc')),
  queryParameter('NextToken', 'NextToken of the page before. Takes precedence over PageNumber'),
  queryParameter('PageNumber', 'Number of the page', Type.Integer({ minimum: 1, default: 1 })),
  queryParameter('PageSize', 'Items on a page', pageSize),
  queryParameter('MaxResults', 'Items on a page. PageSize takes precedence', pageSize),
]

const listBody = {
  description:
    'Alternatively the parameters may be given in a JSON body: `PageNumber` and `PageSize` as its members, the others in a member `Filter`. The query takes precedence',
}

const groupId = { parameters: [pathParameter('group_id', "Id of one of the caller's groups")] }
const assetId = { parameters: [pathParameter('asset_id', "Id of an asset in one of the caller's groups")] }

/**
 * Options of the asset library routes for Elysia: no body parsing, because the routes read bodies themselves, and the
 * descriptions for `GET /openapi`.
 */
export const docs = {
  createGroup: createRoute('createAssetGroup', 'Create an asset group', result('The id of the group', idBody), {
    requestBody: jsonBody(newGroup),
  }),
  listGroups: (hasShares: boolean) =>
    libraryOperation(
      'listAssetGroups',
      'List asset groups',
      { 200: result('A page of groups', page('AssetGroupPage', group)) },
      { ...listBody, parameters: listParameters(['CreateTime', 'UpdateTime'], hasShares) },
    ),
  getGroup: libraryOperation('getAssetGroup', 'Get an asset group', { 200: result('The group', group) }, groupId),
  updateGroup: (method: 'PUT' | 'PATCH') =>
    libraryOperation(`${method === 'PUT' ? 'put' : 'patch'}AssetGroup`, 'Rename or describe an asset group', changed, {
      ...groupId,
      requestBody: jsonBody(groupChange),
    }),
  deleteGroup: libraryOperation('deleteAssetGroup', 'Delete an asset group and the assets in it', changed, groupId),
  createAsset: createRoute(
    'createAsset',
    'Create an asset',
    result('The id of the asset. It can be used when its Status is Active', idBody),
    { requestBody: jsonBody(newAsset) },
  ),
  listAssets: (hasShares: boolean) =>
    libraryOperation(
      'listAssets',
      'List assets',
      { 200: result('A page of assets', page('AssetPage', asset)) },
      {
        ...listBody,
        parameters: [
          ...listParameters(['CreateTime', 'UpdateTime', 'GroupId'], hasShares),
          queryParameter('Statuses', 'Any of these, separated by commas or repeated', Type.Array(status)),
          queryParameter('AssetTypes', 'Any of these, separated by commas or repeated', Type.Array(assetType)),
        ],
      },
    ),
  getAsset: libraryOperation('getAsset', 'Get an asset', { 200: result('The asset', asset) }, assetId),
  updateAsset: (method: 'PUT' | 'PATCH') =>
    libraryOperation(`${method === 'PUT' ? 'put' : 'patch'}Asset`, 'Modify an asset', changed, {
      ...assetId,
      requestBody: jsonBody(assetChange),
    }),
  deleteAsset: libraryOperation('deleteAsset', 'Delete an asset', changed, assetId),
  listUses: libraryOperation(
    'listAssetUses',
    'List the video tasks that use an asset',
    { 200: result('The tasks, newest first', usePage) },
    {
      parameters: [...assetId.parameters, ...keysetParameters],
    },
  ),
  countGroupUses: libraryOperation(
    'countAssetGroupUses',
    'Count the video tasks that use an asset of a group',
    { 200: result('The numbers', useCounts) },
    groupId,
  ),
  createShare: createRoute('shareAssetGroup', 'Lend an asset group to a user or a team', result('The share', share), {
    ...groupId,
    requestBody: jsonBody(newShare),
    description: 'A share with the same borrower is changed. Borrowers can neither change the group nor lend it on',
  }),
  listShares: libraryOperation(
    'listAssetGroupShares',
    'List to whom an asset group is lent',
    { 200: result('All shares of the group', page('GroupSharePage', share)) },
    groupId,
  ),
  deleteShare: libraryOperation(
    'revokeAssetGroupShare',
    'End a share of an asset group',
    { 200: result('The id of the share, which has ended', idBody) },
    { parameters: [...groupId.parameters, pathParameter('share_id', 'Id of the share')] },
  ),
  listSharedUses: libraryOperation(
    'listAssetGroupSharedUses',
    'List how borrowers have used the assets of a group',
    { 200: result('Who has used which asset, and when; the newest first', sharedUses) },
    groupId,
  ),
  returnGroup: libraryOperation(
    'returnAssetGroup',
    'Give a borrowed asset group back',
    { ...createErrors, 200: result('The id of the group', idBody) },
    {
      ...groupId,
      description: 'Ends the share with the caller at once. 409: it is the own group, or one that is lent to the team',
    },
  ),
}
