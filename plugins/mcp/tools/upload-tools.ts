import { type Static, Type } from '@sinclair/typebox'
import type { AssetGroup, CreatedId, LibraryResult, ResultPage } from '../../asset-library/index.ts'
import type { CreatedUpload } from '../../file-storage/index.ts'
import { ApiError } from '../api.ts'
import { defineTool, InputError, type McpTool, type ToolCall } from '../tool.ts'
import { awaitAsset } from './asset-tools.ts'
import { addressInput, idInput, secondsToWait, wordInput } from './inputs.ts'

/** A link for uploads. */
export interface UploadLink {
  readonly url: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** What the upload tools need of the server. */
export interface UploadToolsOptions {
  /** Base path of the asset library. */
  readonly library: string
  /** Path of uploads. Undefined: the server takes no files. */
  readonly uploads: string | undefined
  /** The longest wait of one call. */
  readonly maxWaitMs: number
  /** A link for uploads of the caller. Undefined: there is none for this caller. */
  readonly createLink: (headers: Headers) => UploadLink | undefined
}

/** Tools that add to the asset library. */
export const uploadTools = (options: UploadToolsOptions): readonly McpTool[] => [
  ...(options.uploads === undefined ? [] : [uploadLink(options)]),
  defineTool({
    name: 'create_asset',
    title: 'Create an asset',
    description: [
      "Adds a picture, video or audio file to the caller's library and waits until it is Active, so that create_video can use its address.",
      options.uploads === undefined
        ? 'Give the public address of the file.'
        : 'Give the address of the file: a public one, or the url in the response of an upload. A small file can also be given in base64.',
    ].join(' '),
    ...{ scope: 'media', onlyReads: false, input: options.uploads === undefined ? fromAddress : fromAddressOrData },
    run: (input: Static<typeof fromAddressOrData>, call) => createAsset(input, call, options),
  }),
]

const uploadLink = ({ createLink }: UploadToolsOptions): McpTool =>
  defineTool({
    name: 'create_upload_link',
    title: 'Create an upload link',
    description:
      'Makes a link to which a local file is sent with PUT, without a credential: run the command with the path of the file. The response has upload.url, which create_asset takes. The link is a secret, and works for some minutes.',
    ...{ scope: 'media', onlyReads: false, input: Type.Object({}, { additionalProperties: false }) },
    async run(_input, { headers }) {
      const link = createLink(headers)
      if (!link)
        throw new InputError('this credential cannot be put into a link: send the file to the API, or in base64')
      return {
        upload_link: link.url,
        method: 'PUT',
        command: `curl -sS -T FILE '${link.url}'`,
        expires_at: new Date(link.expiresAt).toISOString(),
      }
    },
  })

/** Characters of a file in base64: the body of a request is bounded too. */
const maxDataLength = 1_000_000

const fields = {
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'The name of the asset' })),
  type: wordInput(['Image', 'Video', 'Audio'], 'Default: by the ending of the address, else Image'),
  group_id: Type.Optional(idInput('An asset group of the caller. Default: the one named "MCP"')),
  wait_seconds: secondsToWait('Wait until it is Active or Failed (default 30)'),
}
const noOthers = { additionalProperties: false }
const fromAddress = Type.Object({ url: addressInput('The address of the file'), ...fields }, noOthers)
const fromAddressOrData = Type.Object(
  {
    url: Type.Optional(addressInput('The address of the file')),
    data: Type.Optional(Type.String({ maxLength: maxDataLength, description: 'Instead of url: the file in base64' })),
    ...fields,
  },
  noOthers,
)

const createAsset = async (
  { url, data, name, type, group_id, wait_seconds = 30 }: Static<typeof fromAddressOrData>,
  call: ToolCall,
  { library, uploads, maxWaitMs }: UploadToolsOptions,
): Promise<object> => {
  if ((url === undefined) === (data === undefined)) throw new InputError('give either url or data')
  const address = url ?? (await uploaded(data ?? '', call, uploads ?? ''))
  const group = group_id ?? (await defaultGroup(call, library))
  const json = {
    GroupId: group,
    URL: address,
    AssetType: type ?? typeOf(address),
    ...(name !== undefined && { Name: name }),
  }
  const { Result } = await call.api.call<LibraryResult<CreatedId>>('POST', `${library}/assets`, { json })
  return awaitAsset(Result.Id, Math.min(wait_seconds * 1000, maxWaitMs), call, library)
}

const uploaded = async (data: string, { api }: ToolCall, path: string): Promise<string> => {
  const bytes = bytesOf(data)
  const { upload } = await api.call<CreatedUpload>('POST', path, { bytes })
  return upload.url
}

const bytesOf = (data: string): Uint8Array<ArrayBuffer> => {
  try {
    return Uint8Array.fromBase64(data)
  } catch {
    throw new InputError('data is not valid base64')
  }
}

const groupName = 'MCP'

/** The group for assets without one. Two calls at once may both find none: then the second creation is refused. */
const defaultGroup = async ({ api }: ToolCall, library: string): Promise<string> => {
  const find = async () => {
    const query = { GroupType: 'AIGC', Name: groupName, PageNumber: 1, PageSize: 1 }
    const { Result } = await api.call<LibraryResult<ResultPage<AssetGroup>>>('GET', `${library}/assets/groups`, {
      query,
    })
    return Result.Items[0]?.Id
  }
  const found = await find()
  if (found !== undefined) return found
  try {
    const json = { Name: groupName, GroupType: 'AIGC' }
    return (await api.call<LibraryResult<CreatedId>>('POST', `${library}/assets/groups`, { json })).Result.Id
  } catch (error) {
    const other = error instanceof ApiError && error.status < 500 ? await find() : undefined
    if (other === undefined) throw error
    return other
  }
}

const typeOf = (address: string): 'Image' | 'Video' | 'Audio' => {
  const ending = /\.(\w+)(?:[?#]|$)/.exec(address)?.[1]?.toLowerCase() ?? ''
  if (['mp4', 'mov', 'webm'].includes(ending)) return 'Video'
  return ['mp3', 'wav', 'm4a'].includes(ending) ? 'Audio' : 'Image'
}
