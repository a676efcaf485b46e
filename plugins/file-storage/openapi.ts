import { Type } from '@sinclair/typebox'
import { fileContentTypes } from '../shared/media/file-type.ts'
import {
  errorBody,
  errorResponses,
  noStoreResponses,
  pathParameter,
  queryParameter,
  type RouteOptions,
  routeOptions,
  type SchemaOf,
  successOf,
} from '../shared/plugin/openapi.ts'
import type { ServiceRoute } from '../shared/plugin/plugin.ts'

/** A file that a user has uploaded. */
export interface UploadInfo {
  readonly id: string
  /** A link to the file that needs no credential. */
  readonly url: string
  /** By the content of the file. */
  readonly content_type: string
  /** When the link expires and the file is removed: ISO 8601, in UTC. */
  readonly expires_at: string
}

/** The response to an upload. */
export interface CreatedUpload {
  readonly success: true
  readonly upload: UploadInfo
}

/** The route of `fileStorage` at `uploadPath`, for Eden. */
export type UploadRoutes = {
  post: ServiceRoute<CreatedUpload, 400 | 401 | 403 | 408 | 413 | 415 | 429 | 500 | 503, { body: unknown }>
}

const createdUpload: SchemaOf<CreatedUpload> = successOf('CreatedUpload', {
  upload: Type.Object({
    id: Type.String(),
    url: Type.String({ description: 'A link to the file, which needs no credential: for CreateAsset' }),
    content_type: Type.String({ description: 'By the content of the file' }),
    expires_at: Type.String({ description: 'When the link expires and the file is removed: ISO 8601, in UTC' }),
  }),
})

const tags = ['files']
const file = { schema: Type.String({ format: 'binary' }) }
const form = {
  schema: Type.Object({
    file: Type.String({ format: 'binary', description: 'The part with a file name, whatever its name' }),
  }),
}

const header = (description: string) => ({ description, schema: Type.String() })

const fileHeaders = {
  etag: header('Names the content'),
  'last-modified': header('When the file was stored'),
  'accept-ranges': header('bytes'),
}

const parameters = [
  pathParameter('folder', 'The folder of the file'),
  pathParameter('name', 'The name of the file'),
  queryParameter('expires', 'When the link expires: seconds since 1970', Type.Integer()),
  queryParameter('signature', 'Proves that the gateway has made the link'),
]

const content = Object.fromEntries([...fileContentTypes, 'application/octet-stream'].map((type) => [type, file]))
const fileResponses = {
  200: { description: 'The file', headers: fileHeaders, content },
  206: {
    description: 'A range of the file',
    headers: { ...fileHeaders, 'content-range': header('The range, and the length of the file') },
    content,
  },
  304: { description: 'The file is the one that the request names', headers: fileHeaders },
  416: { description: 'The file has no such range', content: { 'application/json': { schema: errorBody } } },
  ...errorResponses(errorBody, 404, 429, 500, 503),
}

const linkDescription =
  'The link is the permission: it needs no credential, and works until it expires. A changed or expired link, and that of a removed file, all get the same 404. HEAD works too.'

export const fileDocs = {
  upload: routeOptions({
    operationId: 'createUpload',
    summary: 'Upload an image, a video or an audio file',
    description:
      'The body is the file, or a form (multipart/form-data) with one file. Its type is recognized by its content. The file is removed when its link expires.',
    tags,
    requestBody: { required: true, content: { '*/*': file, 'multipart/form-data': form } },
    responses: noStoreResponses(
      'The file and the link to it',
      createdUpload,
      400,
      401,
      403,
      408,
      413,
      415,
      429,
      500,
      503,
    ),
  }),
  get: routeOptions({
    operationId: 'getFile',
    summary: 'Download a file by its signed link',
    description: linkDescription,
    tags,
    security: [],
    parameters,
    responses: fileResponses,
  }),
} satisfies Readonly<Record<string, RouteOptions>>
