import { type TSchema, Type } from '@sinclair/typebox'

const group = Type.Object({
  Id: Type.String(),
  Name: Type.String(),
  Description: Type.String(),
  GroupType: Type.String(),
  CreateTime: Type.String({ description: 'ISO 8601 with a UTC offset' }),
  UpdateTime: Type.String(),
})

const asset = Type.Object({
  Id: Type.String(),
  GroupId: Type.String(),
  Name: Type.String(),
  AssetType: Type.String({ description: 'Image or Video' }),
  Status: Type.String({ description: 'Active, Processing or Failed' }),
  URL: Type.String(),
  CreateTime: Type.String(),
  UpdateTime: Type.String(),
})

const created = Type.Object({ Id: Type.String() })
const page = (item: TSchema) =>
  Type.Object({ Items: Type.Array(item), NextToken: Type.String(), TotalCount: Type.Integer() })

const newGroup = Type.Object({
  Name: Type.String({ minLength: 1, maxLength: 64 }),
  Description: Type.Optional(Type.String({ maxLength: 300 })),
  GroupType: Type.Optional(Type.Literal('AIGC')),
})

const newAsset = Type.Object({
  GroupId: Type.String(),
  GroupType: Type.Optional(Type.String({ description: 'AIGC (default) or LivenessFace; not forwarded' })),
  URL: Type.String(),
  AssetType: Type.String({ description: 'Image or Video' }),
  Name: Type.Optional(Type.String()),
})

const json = (schema: TSchema) => ({ 'application/json': { schema } })

const route = (summary: string, result: TSchema | undefined, more: object = {}) => ({
  parse: 'none' as const,
  detail: { summary, tags: ['asset library'], responses: responses(result), ...more },
})

const responses = (result: TSchema | undefined) => ({
  200: { description: 'Success', ...(result && { content: json(Type.Object({ Result: result })) }) },
  default: {
    description: 'Rejected by the gateway or by the upstream',
    content: json(
      Type.Object({
        success: Type.Literal(false),
        error: Type.Object({ message: Type.String(), type: Type.String() }),
      }),
    ),
  },
})

const body = (schema: TSchema) => ({ requestBody: { required: true, content: json(schema) } })

const listed = (...filters: readonly string[]) => ({
  parameters: [...filters, 'SortBy', 'SortOrder', 'NextToken', 'MaxResults', 'PageNumber', 'PageSize'].map((name) => ({
    name,
    in: 'query' as const,
    schema: /^(?:MaxResults|Page)/.test(name) ? Type.Integer({ minimum: 1 }) : Type.String(),
  })),
})

/** Options of the asset library routes for Elysia: no body parsing, because the routes read bodies themselves, and the descriptions for `GET /openapi`. */
export const docs = {
  createGroup: route('Create an asset group', created, body(newGroup)),
  listGroups: route('List asset groups', page(group), listed('GroupType', 'GroupIds', 'Name')),
  getGroup: route('An asset group', group),
  updateGroup: route('Rename or describe an asset group', undefined, body(Type.Partial(newGroup))),
  deleteGroup: route('Delete an asset group and the assets in it', undefined),
  createAsset: route('Create an asset; it is processed until its Status is Active or Failed', created, body(newAsset)),
  listAssets: route('List assets', page(asset), listed('GroupType', 'GroupIds', 'Name', 'Statuses')),
  getAsset: route('An asset', asset),
  updateAsset: route('Modify an asset', undefined, body(Type.Object({ Name: Type.Optional(Type.String()) }))),
  deleteAsset: route('Delete an asset', undefined),
}
