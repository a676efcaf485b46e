import { Type } from '@sinclair/typebox'
import {
  errorBody,
  forwardedErrors,
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
  type SchemaOf,
} from '../../shared/plugin/openapi.ts'
import type {
  Asset,
  AssetChange,
  AssetGroup,
  CreatedId,
  GroupChange,
  GroupShare,
  LibraryResult,
  NewAsset,
  NewGroup,
  NewShare,
  ResultPage,
  UseCounts,
  UsePage,
} from './types.ts'

const groupType = Type.Union([Type.Literal('AIGC'), Type.Literal('LivenessFace')], { default: 'AIGC' })

const access = (description: string) =>
  Type.Union([Type.Literal('read'), Type.Literal('use')], {
    description: `${description}. read: details and lists. use: also asset:// in video tasks`,
  })

const group: SchemaOf<AssetGroup> = Type.Object(
  {
    Id: Type.String(),
    Name: Type.String(),
    Description: Type.String(),
    GroupType: Type.String({ description: 'AIGC or LivenessFace' }),
    CreateTime: Type.String({ description: 'ISO 8601 with a UTC offset' }),
    UpdateTime: Type.String({ description: 'ISO 8601 with a UTC offset' }),
    Access: Type.Optional(access('Of a group that another user lends to the caller. Absent: it is the own one')),
  },
  { title: 'AssetGroup' },
)

const share: SchemaOf<GroupShare> = Type.Object(
  {
    Id: Type.String(),
    User: Type.Optional(Type.String({ description: 'Id of the borrowing user' })),
    Team: Type.Optional(Type.String({ description: 'Name of the borrowing team' })),
    Access: access('What borrowers may do'),
    CreateTime: Type.String({ description: 'ISO 8601 with a UTC offset' }),
    ExpireTime: Type.Optional(Type.String({ description: 'Absent: until it is revoked' })),
    LastUseTime: Type.Optional(Type.String({ description: 'When a borrower has last sent an asset of the group' })),
  },
  { title: 'GroupShare' },
)

const newShare: SchemaOf<NewShare> = Type.Object(
  {
    User: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description: 'Id of a user' })),
    Team: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description: 'Name of the own team' })),
    Access: Type.Optional(access('Default read')),
    ExpireTime: Type.Optional(Type.String({ description: 'A time to come, ISO 8601. Default: until it is revoked' })),
  },
  { title: 'NewShare', description: 'With either User or Team', additionalProperties: false },
)

const asset: SchemaOf<Asset> = Type.Object(
  {
    Id: Type.String(),
    GroupId: Type.String(),
    Name: Type.Optional(Type.String({ description: 'Absent if the asset was created without one' })),
    AssetType: Type.String({ description: 'Image or Video' }),
    Status: Type.String({ description: 'Processing, then Active or Failed' }),
    URL: Type.String(),
    CreateTime: Type.String(),
    UpdateTime: Type.String(),
  },
  { title: 'Asset' },
)

const created: SchemaOf<CreatedId> = Type.Object({ Id: Type.String() }, { title: 'CreatedId' })

const page = <Item>(title: string, item: SchemaOf<Item>): SchemaOf<ResultPage<Item>> =>
  Type.Unsafe<ResultPage<Item>>(
    Type.Object(
      {
        Items: Type.Array(item),
        NextToken: Type.String({ description: 'Cursor of the next page; empty on the last one' }),
        TotalCount: Type.Integer({ minimum: 0, description: 'Number of items on all pages' }),
      },
      { title },
    ),
  )

const counted = {
  TotalCount: Type.Integer({ minimum: 0, description: 'Number of tasks. At most 10,000' }),
  WaitingCount: Type.Integer({
    minimum: 0,
    description: 'Those of them that have not started: they may need the asset',
  }),
}

const useCounts: SchemaOf<UseCounts> = Type.Object(counted, { title: 'AssetUseCounts' })

const usePage: SchemaOf<UsePage> = Type.Unsafe<UsePage>(
  Type.Object(
    {
      Items: Type.Array(Type.Object({ id: Type.String(), status: Type.String() }, { additionalProperties: true }), {
        description: 'Tasks, as video generation returns them',
      }),
      NextToken: Type.String({ description: 'Cursor of the next page; empty on the last one' }),
      ...counted,
    },
    { title: 'AssetUsePage' },
  ),
)

const newGroup: SchemaOf<NewGroup> = Type.Object(
  {
    Name: Type.String({ minLength: 1, maxLength: 64, description: 'Unique among the groups of the same type' }),
    Description: Type.Optional(Type.String({ maxLength: 300 })),
    GroupType: Type.Optional(Type.Literal('AIGC', { default: 'AIGC' })),
  },
  { title: 'NewGroup', description: 'Further fields are forwarded, except ProjectName' },
)

const groupChange: SchemaOf<GroupChange> = Type.Object(
  {
    Name: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    Description: Type.Optional(Type.String({ maxLength: 300 })),
  },
  { title: 'GroupChange', description: 'An absent field stays as it is' },
)

const newAsset: SchemaOf<NewAsset> = Type.Object(
  {
    GroupId: Type.String({ minLength: 1, description: "Id of one of the caller's groups" }),
    GroupType: Type.Optional(groupType),
    URL: Type.String({ description: 'The HTTPS address from which the upstream fetches the file' }),
    AssetType: Type.String({ description: 'Image or Video' }),
    Name: Type.Optional(Type.String()),
  },
  { title: 'NewAsset', description: 'Further fields are forwarded, except GroupType and ProjectName' },
)

const assetChange: SchemaOf<AssetChange> = Type.Object(
  { Name: Type.Optional(Type.String()) },
  { title: 'AssetChange', description: 'The upstream decides which fields may change. ProjectName is removed' },
)

const result = <Value>(description: string, schema: SchemaOf<Value>): ResponseDescription => {
  const body: SchemaOf<LibraryResult<Value>> = Type.Unsafe<LibraryResult<Value>>(Type.Object({ Result: schema }))
  return jsonResponse(description, body)
}

/** The upstream decides the status of a success. Its response may have no body. */
const changed = { '2XX': jsonResponse("The upstream's response, unchanged. It may have no body", Type.Object({})) }

const errors = forwardedErrors(errorBody, 400, 401, 403, 404, 408, 413, 415, 429, 500, 502, 503)

/** What the creations add: they honor `Idempotency-Key`. */
const createErrors = forwardedErrors(errorBody, 400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 502, 503)

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

const route = (
  operationId: string,
  summary: string,
  success: OperationDescription['responses'],
  { responses: _, ...more }: Partial<OperationDescription> = {},
): RouteOptions =>
  routeOptions({ operationId, summary, tags: ['asset library'], ...more, responses: { ...success, ...errors } })

const idList = Type.Array(Type.String())

const words = (all: readonly string[], preset: string) =>
  Type.Union(
    all.map((word) => Type.Literal(word)),
    { default: preset },
  )

const status = Type.Union([Type.Literal('Active'), Type.Literal('Processing'), Type.Literal('Failed')])

const assetType = Type.Union([Type.Literal('Image'), Type.Literal('Video'), Type.Literal('Audio')])

const pageSize = Type.Integer({ minimum: 1, maximum: 100, default: 10 })

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
  queryParameter('NextToken', 'NextToken of the page before. Takes precedence over PageNumber', Type.String()),
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
  createGroup: createRoute('createAssetGroup', 'Create an asset group', result('The id of the group', created), {
    requestBody: jsonBody(newGroup),
  }),
  listGroups: (hasShares: boolean) =>
    route(
      'listAssetGroups',
      'List asset groups',
      { 200: result('A page of groups', page('AssetGroupPage', group)) },
      { ...listBody, parameters: listParameters(['CreateTime', 'UpdateTime'], hasShares) },
    ),
  getGroup: route('getAssetGroup', 'Get an asset group', { 200: result('The group', group) }, groupId),
  updateGroup: (method: 'PUT' | 'PATCH') =>
    route(`${method === 'PUT' ? 'put' : 'patch'}AssetGroup`, 'Rename or describe an asset group', changed, {
      ...groupId,
      requestBody: jsonBody(groupChange),
    }),
  deleteGroup: route('deleteAssetGroup', 'Delete an asset group and the assets in it', changed, groupId),
  createAsset: createRoute(
    'createAsset',
    'Create an asset',
    result('The id of the asset. It can be used when its Status is Active', created),
    { requestBody: jsonBody(newAsset) },
  ),
  listAssets: (hasShares: boolean) =>
    route(
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
  getAsset: route('getAsset', 'Get an asset', { 200: result('The asset', asset) }, assetId),
  updateAsset: (method: 'PUT' | 'PATCH') =>
    route(`${method === 'PUT' ? 'put' : 'patch'}Asset`, 'Modify an asset', changed, {
      ...assetId,
      requestBody: jsonBody(assetChange),
    }),
  deleteAsset: route('deleteAsset', 'Delete an asset', changed, assetId),
  listUses: route(
    'listAssetUses',
    'List the video tasks that use an asset',
    { 200: result('The tasks, newest first', usePage) },
    {
      parameters: [
        ...assetId.parameters,
        queryParameter('NextToken', 'NextToken of the page before', Type.String()),
        queryParameter('MaxResults', 'Items on a page', pageSize),
      ],
    },
  ),
  countGroupUses: route(
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
  listShares: route(
    'listAssetGroupShares',
    'List to whom an asset group is lent',
    { 200: result('All shares of the group', page('GroupSharePage', share)) },
    groupId,
  ),
  deleteShare: route(
    'revokeAssetGroupShare',
    'End a share of an asset group',
    { 200: result('The id of the share, which has ended', created) },
    { parameters: [...groupId.parameters, pathParameter('share_id', 'Id of the share')] },
  ),
}
