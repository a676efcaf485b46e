import { type Static, Type } from '@sinclair/typebox'
import type { Asset, LibraryResult, ResultPage } from '../../asset-library/index.ts'
import { membersOf } from '../../shared/json/parsed.ts'
import { toolAdviceFor } from '../failure.ts'
import { defineTool, type McpTool, type ToolCall } from '../tool.ts'
import { waitFor } from '../waiting.ts'
import { idInput, secondsToWait, wordInput } from './inputs.ts'

const assetTypes = ['Image', 'Video', 'Audio'] as const
const groupTypes = ['AIGC', 'LivenessFace'] as const

/** Assets of one page. */
const maxAssets = 50

const findInput = Type.Object(
  {
    name: Type.Optional(Type.String({ maxLength: 64, description: 'A part of the name, in any case' })),
    type: wordInput(assetTypes, 'Only assets of this type'),
    status: wordInput(['Active', 'Processing', 'Failed'], 'Only assets with this status'),
    group_id: Type.Optional(idInput('Only assets of this group')),
    group_type: wordInput(groupTypes, 'AIGC (default), or LivenessFace: assets of a person who has consented'),
    scope: wordInput(['own', 'shared', 'all'], 'Whose: own (default), shared (of groups that others lend), or all'),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxAssets, description: 'Default 20' })),
    cursor: Type.Optional(Type.String({ maxLength: 1_024, description: 'next_cursor of the page before' })),
  },
  { additionalProperties: false },
)

const getInput = Type.Object(
  { asset_id: idInput('The id, without asset://'), wait_seconds: secondsToWait('Wait until it is Active or Failed') },
  { additionalProperties: false },
)

/** Tools that read the asset library. @param maxWaitMs the longest wait of one call */
export const assetTools = (library: string, maxWaitMs: number): readonly McpTool[] => [
  defineTool({
    name: 'find_assets',
    title: 'Find assets',
    description:
      "Lists and searches the caller's assets (pictures, videos, audio files), the newest first. The address of an asset can be used in create_video while its status is Active.",
    ...{ scope: 'media', onlyReads: true, input: findInput },
    run: (input, call) => findAssets(input, call, library),
  }),
  defineTool({
    name: 'get_asset',
    title: 'Get an asset',
    description: 'Reads one asset of the caller: its status, and a link to its file. It can wait for its processing.',
    ...{ scope: 'media', onlyReads: true, input: getInput },
    run: ({ asset_id, wait_seconds = 0 }, call) =>
      awaitAsset(asset_id, Math.min(wait_seconds * 1000, maxWaitMs), call, library),
  }),
]

const findAssets = async (input: Static<typeof findInput>, { api }: ToolCall, library: string): Promise<object> => {
  const { Result } = await api.call<LibraryResult<ResultPage<Asset>>>('GET', `${library}/assets`, {
    query: {
      GroupType: input.group_type,
      GroupIds: input.group_id,
      NameContains: input.name,
      AssetTypes: input.type,
      Statuses: input.status,
      scope: input.scope,
      NextToken: input.cursor,
      MaxResults: input.limit ?? 20,
    },
  })
  return {
    assets: Result.Items.map(shownAsset),
    total: Result.TotalCount,
    next_cursor: Result.NextToken === '' ? null : Result.NextToken,
  }
}

/** Waits for the processing of an asset, and shows it. */
export const awaitAsset = async (id: string, maxMs: number, call: ToolCall, library: string): Promise<object> => {
  const path = `${library}/assets/${encodeURIComponent(id)}`
  const look = async () => (await call.api.call<LibraryResult<Asset>>('GET', path)).Result
  const hasEnded = ({ Status }: Asset) => Status !== 'Processing'
  const asset = await waitFor({ look, hasEnded, describe: ({ Status }) => `the asset is ${Status}`, maxMs }, call)
  return { ...shownAsset(asset), link: asset.URL, ...failureIn(asset) }
}

const shownAsset = ({ Id, Name, AssetType, Status, GroupId, CreateTime }: Asset) => ({
  ...{ asset_id: Id, address: `asset://${Id}`, name: Name ?? '', type: AssetType, status: Status },
  ...{ group_id: GroupId, created_at: CreateTime },
})

/** Why the upstream has rejected the file. */
const failureIn = (asset: object): object => {
  const { Error: error } = membersOf(asset)
  const { Code, Message } = membersOf(error)
  if (typeof Code !== 'string') return {}
  const message = typeof Message === 'string' ? Message : ''
  const advice = toolAdviceFor(Code, message)
  return { error: { code: Code, message }, ...(advice && { advice }) }
}
