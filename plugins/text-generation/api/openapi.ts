import { type TSchema, Type } from '@sinclair/typebox'
import {
  errorResponses,
  forwardedErrors,
  jsonBody,
  jsonContent,
  jsonResponse,
  type OperationDescription,
  pathParameter,
  queryParameter,
  type ResponseDescription,
  type RouteOptions,
  routeOptions,
} from '../../shared/plugin/openapi.ts'
import {
  compactedResponse,
  completion,
  completionRequest,
  embeddingList,
  embeddingRequest,
  inputTokenCount,
  responseInputRequest,
} from './forwarded-schemas.ts'
import {
  countTokensRequest,
  messageEvent,
  messageSchema,
  messagesErrorBody,
  messagesRequest,
  messageTokens,
} from './messages-schemas.ts'
import {
  chatChunk,
  chatCompletion,
  chatCompletionRequest,
  deletedResponse,
  inputItemList,
  model,
  modelList,
  modelResponse,
  modelResponseEvent,
  responsesRequest,
  textErrorBody,
} from './schemas.ts'

const droppedHeader = {
  'x-dropped-tools': {
    description: 'Types of hosted tools that the request has, and that the upstream does not get: `web_search, mcp`',
    schema: Type.String(),
  },
}

const partialHeader = {
  'x-upstream-partialresponse': {
    description: '`true`: the call was cut off at the time limit, and the body holds what was generated until then',
    schema: Type.Literal('true'),
  },
}

/** An event whose data is JSON. */
const eventOf = (data: TSchema): TSchema =>
  Type.Object({
    data: Type.String({
      description: 'JSON; the last event has the text `[DONE]` instead',
      contentMediaType: 'application/json',
      contentSchema: data,
    }),
    event: Type.Optional(Type.String()),
  })

/** A response that is JSON, or with `stream` a stream of server-sent events. */
const generated = (
  description: string,
  schema: TSchema,
  event: TSchema,
  headers: ResponseDescription['headers'] = {},
): ResponseDescription => ({
  description: `${description}. With \`stream\`: server-sent events up to \`data: [DONE]\`, or up to an error event when the stream breaks off`,
  headers: { ...partialHeader, ...headers },
  content: {
    ...jsonContent(schema),
    'text/event-stream': { itemSchema: eventOf(Type.Union([event, textErrorBody])) },
  },
})

const route = (
  operationId: string,
  summary: string,
  success: ResponseDescription,
  { responses: _, ...more }: Partial<OperationDescription> = {},
  errorBody: TSchema = textErrorBody,
): RouteOptions =>
  routeOptions({
    ...{ operationId, summary, tags: ['text generation'] },
    ...more,
    responses: {
      200: success,
      ...forwardedErrors(errorBody, 400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 502, 503),
    },
  })

const responseId = pathParameter('response_id', "Id of one of the caller's stored responses")
const include = queryParameter('include', 'Further fields of the response')

const message: ResponseDescription = {
  description:
    'The message. With `stream`: server-sent events up to `message_stop`, or up to an error event when the stream breaks off',
  headers: {
    ...partialHeader,
    'x-dropped-tools': { description: 'Types of the tools that the model does not have', schema: Type.String() },
  },
  content: {
    ...jsonContent(messageSchema),
    'text/event-stream': {
      itemSchema: Type.Object({
        data: Type.String({ contentMediaType: 'application/json', contentSchema: messageEvent }),
        event: Type.String(),
      }),
    },
  },
}

const text = generated('The completion', chatCompletion, chatChunk)
const response = generated('The response', modelResponse, modelResponseEvent, droppedHeader)

/**
 * Elysia options of each route. The handlers read and check the bodies themselves; the schemas are for OpenAPI
 * documents.
 */
export const textDocs = {
  createChatCompletion: route('createChatCompletion', 'Create a chat completion', text, {
    requestBody: jsonBody(chatCompletionRequest),
  }),
  createCompletion: route('createCompletion', 'Complete a text', generated('The completion', completion, completion), {
    requestBody: jsonBody(completionRequest),
  }),
  createEmbedding: route('createEmbedding', 'Create embeddings', jsonResponse('The embeddings', embeddingList), {
    requestBody: jsonBody(embeddingRequest),
  }),
  createResponse: route('createResponse', 'Create a response', response, { requestBody: jsonBody(responsesRequest) }),
  compactResponse: route('compactResponse', 'Compact a conversation', jsonResponse('The items', compactedResponse), {
    requestBody: jsonBody(responseInputRequest),
  }),
  countInputTokens: route('countInputTokens', 'Count input tokens', jsonResponse('The count', inputTokenCount), {
    requestBody: jsonBody(responseInputRequest),
  }),
  connectResponses: routeOptions({
    operationId: 'connectResponses',
    summary: 'Create responses over WebSocket',
    description:
      'Each message `response.create` has the fields of the body of `POST`, and each event of its response comes as a message. Errors are events with `status`.',
    tags: ['text generation'],
    responses: {
      101: { description: 'The connection is open' },
      ...errorResponses(textErrorBody, 401, 403, 426, 429, 500, 502, 503),
    },
  }),
  createMessage: route(
    'createMessage',
    "Create a message, as in Anthropic's API",
    message,
    { requestBody: jsonBody(messagesRequest) },
    messagesErrorBody,
  ),
  countMessageTokens: route(
    'countMessageTokens',
    'Estimate the input tokens of a message',
    jsonResponse('The estimate', messageTokens, {
      'x-token-count': { description: 'Always `estimate`', required: true, schema: Type.Literal('estimate') },
    }),
    { requestBody: jsonBody(countTokensRequest) },
    messagesErrorBody,
  ),
  getResponse: route('getResponse', 'Get a stored response', response, {
    parameters: [
      responseId,
      include,
      queryParameter('stream', 'Stream the events of a background response', Type.Boolean()),
      queryParameter('starting_after', 'Stream only the events after this sequence number', Type.Integer()),
      queryParameter('include_obfuscation', 'Pad the events to equal lengths', Type.Boolean()),
    ],
  }),
  deleteResponse: route('deleteResponse', 'Delete a stored response', jsonResponse('Deleted', deletedResponse), {
    parameters: [responseId],
  }),
  cancelResponse: route('cancelResponse', 'Cancel a background response', jsonResponse('The response', modelResponse), {
    parameters: [responseId],
  }),
  listInputItems: route(
    'listInputItems',
    'List the input items of a stored response',
    jsonResponse('The items', inputItemList),
    {
      parameters: [
        responseId,
        include,
        queryParameter('after', 'List the items after this one'),
        queryParameter('before', 'List the items before this one'),
        queryParameter('limit', 'Maximum number of items', Type.Integer({ minimum: 1 })),
        queryParameter('order', 'Order of the items', Type.Union([Type.Literal('asc'), Type.Literal('desc')])),
      ],
    },
  ),
  listModels: route('listModels', 'List the models', jsonResponse('The models', modelList)),
  getModel: route('getModel', 'Get a model', jsonResponse('The model', model), {
    parameters: [pathParameter('model', 'Id of the model')],
  }),
}
