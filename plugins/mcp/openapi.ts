import { Type } from '@sinclair/typebox'
import {
  type ErrorBody,
  errorBody,
  errorResponses,
  jsonBody,
  noStoreHeader,
  pathParameter,
  type RouteOptions,
  routeOptions,
} from '../shared/plugin/openapi.ts'
import type { Responses, Route } from '../shared/plugin/plugin.ts'

/** A message of the protocol, see https://modelcontextprotocol.io/specification. */
export interface McpMessage {
  readonly jsonrpc: '2.0'
  readonly [member: string]: unknown
}

/** The routes of `mcp` below its prefix, for Eden. */
export type McpRoutes = {
  post: Route<
    Responses<McpMessage, ErrorBody | McpMessage, 400 | 401 | 403 | 406 | 413 | 415 | 429 | 500 | 503>,
    { body: McpMessage }
  >
}

const tags = ['MCP']

const message = Type.Unsafe<McpMessage>(
  Type.Object(
    { jsonrpc: Type.Literal('2.0') },
    { title: 'McpMessage', description: 'A JSON-RPC message of the protocol' },
  ),
)
const error = Type.Union([errorBody, message], { title: 'McpError' })
const messageEvent = Type.Object({
  data: Type.Unsafe<string>({ type: 'string', contentMediaType: 'application/json', contentSchema: message }),
})
const file = { schema: Type.String({ format: 'binary' }) }

export const mcpDocs = {
  message: routeOptions({
    operationId: 'sendMcpMessage',
    summary: 'Call tools over the Model Context Protocol',
    description:
      'Streamable HTTP without sessions: each request has one message, and its response is JSON or a stream of events. The list of tools has those that the scopes of the token allow.',
    tags,
    requestBody: jsonBody(message),
    responses: {
      200: {
        description: 'The response to the message',
        headers: noStoreHeader,
        content: { 'application/json': { schema: message }, 'text/event-stream': { itemSchema: messageEvent } },
      },
      202: { description: 'The message needs no response', headers: noStoreHeader },
      '4XX': {
        description: 'The message breaks the rules of the protocol',
        content: { 'application/json': { schema: error } },
      },
      ...errorResponses(error, 400, 401, 403, 408, 413, 415, 429, 500, 503),
    },
  }),
  upload: (method: 'put' | 'post') =>
    routeOptions({
      operationId: method === 'put' ? 'putFileByUploadLink' : 'postFileByUploadLink',
      summary: 'Upload a file by a link of the tool create_upload_link',
      description: 'As `POST /api/uploads`. The link is the credential. A changed or expired link gets 404.',
      tags,
      security: [],
      parameters: [pathParameter('link', 'The last part of the link')],
      requestBody: { required: true, content: { '*/*': file } },
      responses: {
        200: {
          description: 'The response of `POST /api/uploads`',
          headers: noStoreHeader,
          content: { 'application/json': { schema: Type.Object({ success: Type.Literal(true) }) } },
        },
        ...errorResponses(errorBody, 400, 401, 403, 404, 408, 413, 415, 429, 500, 503),
      },
    }),
} satisfies Readonly<Record<string, RouteOptions | ((method: 'put' | 'post') => RouteOptions)>>
