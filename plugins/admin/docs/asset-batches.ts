import { Type } from '@sinclair/typebox'
import { nullable, pathParameter, type SchemaOf } from '../../shared/plugin/openapi.ts'
import { assetBatchCounts } from '../asset-batches.ts'
import type { AdminAssetBatchView } from '../views/asset-batches.ts'
import { assetBatchQuery, type PageQuery } from './requests.ts'
import {
  type ListPage,
  listOf,
  type One,
  objectOf,
  type ReadRoute,
  route,
  type WithId,
  type WriteRoute,
} from './route.ts'

/** The routes of batches of assets below the prefix of `admin`, for Eden. */
export type AssetBatchRoutes = {
  batches: {
    get: ReadRoute<
      ListPage<'batches', AdminAssetBatchView>,
      { query: PageQuery & { readonly user?: string; readonly state?: 'running' } }
    >
    ':id': { cancel: { post: WriteRoute<One<'batch', AdminAssetBatchView>, WithId> } }
  }
}

const text = Type.String()
const time = Type.String({ format: 'date-time' })

const assetBatchSchema: SchemaOf<AdminAssetBatchView> = Type.Object(
  {
    id: text,
    user: text,
    user_name: nullable(text),
    token: nullable(text),
    group: text,
    group_type: text,
    created_at: time,
    cancelled_at: nullable(time),
    ended_at: nullable(time),
    due_at: nullable(
      Type.String({ format: 'date-time', description: 'When the gateway works on it again. Null: it has ended' }),
    ),
    counts: Type.Unsafe<AdminAssetBatchView['counts']>(
      Type.Object(Object.fromEntries(assetBatchCounts.map((state) => [state, Type.Integer({ minimum: 0 })])), {
        description: 'Number of its items in each state',
      }),
    ),
  },
  { title: 'AdminAssetBatch' },
)

/** Elysia options of the routes of batches of assets. */
export const assetBatchDocs = {
  list: route('read', {
    ...{ operationId: 'listAllAssetBatches', summary: 'List the batches of assets of all users, newest first' },
    parameters: assetBatchQuery,
    success: listOf('batches', assetBatchSchema),
  }),
  cancel: route('write', {
    ...{
      operationId: 'cancelAssetBatchFor',
      summary: 'Cancel the items of a batch that wait. What has been created stays',
    },
    parameters: [pathParameter('id', 'Id of the batch')],
    success: objectOf('batch', assetBatchSchema),
  }),
}
