import { Type } from '@sinclair/typebox'
import type { SchemaOf } from '../../shared/plugin/openapi.ts'
import type {
  Asset,
  AssetChange,
  AssetGroup,
  CreatedId,
  GroupChange,
  GroupShare,
  NewAsset,
  NewGroup,
  NewShare,
  ResultPage,
  UseCounts,
  UsePage,
} from './types.ts'

// The bodies of requests and responses in the description for `GET /openapi`.

export const groupType = Type.Union([Type.Literal('AIGC'), Type.Literal('LivenessFace')], { default: 'AIGC' })

const access = (description: string) =>
  Type.Union([Type.Literal('read'), Type.Literal('use')], {
    description: `${description}. read: details and lists. use: also asset:// in video tasks`,
  })

export const group: SchemaOf<AssetGroup> = Type.Object(
  {
    Id: Type.String(),
    Name: Type.String(),
    Description: Type.String(),
    GroupType: Type.String({ description: 'AIGC or LivenessFace' }),
    CreateTime: Type.String({ description: 'ISO 8601 with a UTC offset' }),
    UpdateTime: Type.String({ description: 'ISO 8601 with a UTC offset' }),
    Access: Type.Optional(access('Of a group that another user lends to the caller. Absent: it is the own one')),
    Lender: Type.Optional(Type.String({ description: 'Name of the user who lends the group to the caller' })),
    Account: Type.Optional(
      Type.String({ description: 'The account that has the group. Absent: there is one account' }),
    ),
  },
  { title: 'AssetGroup' },
)

export const share: SchemaOf<GroupShare> = Type.Object(
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

export const newShare: SchemaOf<NewShare> = Type.Object(
  {
    User: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description: 'Id of a user' })),
    Team: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description: 'Name of the own team' })),
    Access: Type.Optional(access('Default read')),
    ExpireTime: Type.Optional(Type.String({ description: 'A time to come, ISO 8601. Default: until it is revoked' })),
  },
  { title: 'NewShare', description: 'With either User or Team', additionalProperties: false },
)

export const asset: SchemaOf<Asset> = Type.Object(
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

export const idBody: SchemaOf<CreatedId> = Type.Object({ Id: Type.String() }, { title: 'CreatedId' })

export const page = <Item>(title: string, item: SchemaOf<Item>): SchemaOf<ResultPage<Item>> =>
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

export const sharedUses = Type.Object(
  {
    Items: Type.Array(
      Type.Object({
        User: Type.Optional(
          Type.String({ description: 'Id of the borrower, if the group is lent to that user by id' }),
        ),
        UserName: Type.Optional(Type.String({ description: 'Name of the borrower' })),
        AssetId: Type.String(),
        UseTime: Type.String({ description: 'When a task with the asset was sent. ISO 8601 with a UTC offset' }),
      }),
      { description: 'The newest, at most 100' },
    ),
    HasMore: Type.Boolean({ description: 'Whether there are more' }),
  },
  { title: 'SharedUses' },
)

export const useCounts: SchemaOf<UseCounts> = Type.Object(counted, { title: 'AssetUseCounts' })

export const usePage: SchemaOf<UsePage> = Type.Unsafe<UsePage>(
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

export const newGroup: SchemaOf<NewGroup> = Type.Object(
  {
    Name: Type.String({ minLength: 1, maxLength: 64, description: 'Unique among the groups of the same type' }),
    Description: Type.Optional(Type.String({ maxLength: 300 })),
    GroupType: Type.Optional(Type.Literal('AIGC', { default: 'AIGC' })),
  },
  { title: 'NewGroup', description: 'Further fields are forwarded, except ProjectName' },
)

export const groupChange: SchemaOf<GroupChange> = Type.Object(
  {
    Name: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    Description: Type.Optional(Type.String({ maxLength: 300 })),
  },
  { title: 'GroupChange', description: 'An absent field stays as it is' },
)

export const newAsset: SchemaOf<NewAsset> = Type.Object(
  {
    GroupId: Type.String({ minLength: 1, description: "Id of one of the caller's groups" }),
    GroupType: Type.Optional(groupType),
    URL: Type.String({ description: 'The HTTPS address from which the upstream fetches the file' }),
    AssetType: Type.String({ description: 'Image or Video' }),
    Name: Type.Optional(Type.String()),
  },
  { title: 'NewAsset', description: 'Further fields are forwarded, except GroupType and ProjectName' },
)

export const assetChange: SchemaOf<AssetChange> = Type.Object(
  { Name: Type.Optional(Type.String()) },
  { title: 'AssetChange', description: 'The upstream decides which fields may change. ProjectName is removed' },
)
