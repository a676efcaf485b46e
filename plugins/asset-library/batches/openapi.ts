import { Type } from '@sinclair/typebox'
import {
  idempotencyKeyParameter,
  pathParameter,
  queryParameter,
  replayedHeaders,
  routeOptions,
  type SchemaOf,
} from '../../shared/plugin/openapi.ts'
import { groupType } from '../schema/bodies.ts'
import { createErrors, keysetParameters, libraryOperation, result } from '../schema/operations.ts'
import type { KeysetPage } from '../schema/types.ts'
import { type AssetBatchItemView, type AssetBatchView, stateNames } from './view.ts'

const itemStateName = Type.Union(Object.values(stateNames).map((name) => Type.Literal(name)))

const batch: SchemaOf<AssetBatchView> = Type.Object(
  {
    Id: Type.String(),
    GroupId: Type.String(),
    State: Type.Union([Type.Literal('Running'), Type.Literal('Ended')]),
    CreateTime: Type.String({ description: 'ISO 8601 with a UTC offset' }),
    CancelTime: Type.Optional(Type.String()),
    EndTime: Type.Optional(Type.String()),
    TotalCount: Type.Integer({ minimum: 1, description: 'Number of items' }),
    Counts: Type.Unsafe<AssetBatchView['Counts']>(
      Type.Object(Object.fromEntries(Object.values(stateNames).map((name) => [name, Type.Integer({ minimum: 0 })])), {
        description: 'Number of items in each state',
      }),
    ),
  },
  { title: 'AssetBatch' },
)

const batchItem: SchemaOf<AssetBatchItemView> = Type.Object(
  {
    Position: Type.Integer({ minimum: 1, description: 'In the order of the lines' }),
    Name: Type.String(),
    State: itemStateName,
    AssetId: Type.Optional(Type.String({ description: 'Of a created item' })),
    Error: Type.Optional(
      Type.Object(
        {
          Code: Type.String(),
          Message: Type.String(),
          Advice: Type.Optional(Type.Object({}, { additionalProperties: true })),
        },
        { description: 'Of a failed or unknown item. `Advice`: as `GET /api/failure-advice/{code}`' },
      ),
    ),
  },
  { title: 'AssetBatchItem' },
)

const keysetPage = <Item>(title: string, item: SchemaOf<Item>): SchemaOf<KeysetPage<Item>> =>
  Type.Unsafe<KeysetPage<Item>>(
    Type.Object(
      {
        Items: Type.Array(item),
        NextToken: Type.String({ description: 'Cursor of the next page; empty on the last one' }),
      },
      { title },
    ),
  )

const batchId = [pathParameter('batch_id', "Id of one of the caller's batches")]

const retried =
  'Only failed items. A batch that has ended goes on, and its end is told again. 409: nothing of it has failed, or it was cancelled'

/** Options of the routes of batches for Elysia. */
export const batchDocs = {
  createBatch: routeOptions({
    ...{ operationId: 'createAssetBatch', summary: 'Create many assets', tags: ['asset library'] },
    parameters: [
      idempotencyKeyParameter,
      queryParameter('GroupId', "Id of one of the caller's groups. Required"),
      queryParameter('GroupType', 'Type of that group', groupType),
    ],
    requestBody: {
      required: true,
      content: {
        'application/x-ndjson': {
          schema: Type.String({
            description:
              'A JSON object in each line, with the fields of an asset but GroupId and GroupType. At most 1,000. Each Name once',
          }),
        },
        'multipart/form-data': {
          schema: Type.Object({
            file: Type.Array(Type.String({ format: 'binary' }), {
              description:
                'Each part with a file name, whatever the name of the part. Its asset has the name of the file. At most 1,000 files, and 200 MiB in all; they are uploads of the caller',
            }),
          }),
        },
      },
    },
    responses: {
      202: { ...result('The batch. Its assets are created one after another', batch), headers: replayedHeaders },
      ...createErrors,
    },
  }),
  listBatches: libraryOperation(
    'listAssetBatches',
    'List batches of assets',
    { 200: result('The batches, newest first', keysetPage('AssetBatchPage', batch)) },
    { parameters: keysetParameters },
  ),
  getBatch: libraryOperation(
    'getAssetBatch',
    'Get the progress of a batch of assets',
    { 200: result('The batch', batch) },
    { parameters: batchId },
  ),
  listBatchItems: libraryOperation(
    'listAssetBatchItems',
    'List the items of a batch with their outcomes',
    { 200: result('The items, in their order', keysetPage('AssetBatchItemPage', batchItem)) },
    {
      parameters: [...batchId, ...keysetParameters, queryParameter('State', 'Only items in this state', itemStateName)],
    },
  ),
  cancelBatch: libraryOperation(
    'cancelAssetBatch',
    'Cancel the items of a batch that wait. What has been created stays',
    { 200: result('The batch', batch) },
    { parameters: batchId },
  ),
  retryBatch: libraryOperation(
    'retryAssetBatch',
    'Try all failed items of a batch again',
    { ...createErrors, 200: result('The batch. Its failed items wait again', batch) },
    { parameters: batchId, description: retried },
  ),
  retryBatchItem: libraryOperation(
    'retryAssetBatchItem',
    'Try a failed item of a batch again',
    { ...createErrors, 200: result('The batch. The item waits again', batch) },
    {
      parameters: [...batchId, pathParameter('position', 'Position of the item, from 1')],
      description: retried,
    },
  ),
}
