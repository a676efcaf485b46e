import type { UpstreamErrorBody } from '../../shared/plugin/openapi.ts'
import type { Responses, Route, RouteParts } from '../../shared/plugin/plugin.ts'
import type {
  CompactedResponse,
  Completion,
  CompletionEvent,
  CompletionRequest,
  EmbeddingList,
  EmbeddingRequest,
  InputTokenCount,
  ResponseInputRequest,
} from './forwarded-types.ts'
import type {
  CountMessageTokensRequest,
  CreateMessageRequest,
  GeneratedMessage,
  MessageStreamEvent,
  MessagesErrorBody,
  MessageTokens,
} from './messages-types.ts'
import type {
  ChatCompletion,
  ChatCompletionRequest,
  ChatEvent,
  CreateResponseRequest,
  DeletedResponse,
  InputItemList,
  Model,
  ModelList,
  ModelResponse,
  ModelResponseEvent,
  TextErrorBody,
} from './types.ts'

type TextRoute<Success, Parts extends RouteParts = Record<never, never>> = Route<
  Responses<
    Success,
    TextErrorBody | UpstreamErrorBody,
    400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 429 | 500 | 502 | 503
  >,
  Parts
>

type MessagesRoute<Success, Body> = Route<
  Responses<
    Success,
    MessagesErrorBody | UpstreamErrorBody,
    400 | 401 | 403 | 404 | 408 | 409 | 413 | 429 | 500 | 502 | 503
  >,
  { body: Body }
>

type WithResponseId = { params: { response_id: string } }

/** The routes of `textGeneration` below its prefix, for Eden. */
export type TextRoutes = {
  chat: {
    completions: {
      post: TextRoute<ChatCompletion | AsyncGenerator<ChatEvent, void, unknown>, { body: ChatCompletionRequest }>
    }
  }
  completions: {
    post: TextRoute<Completion | AsyncGenerator<CompletionEvent, void, unknown>, { body: CompletionRequest }>
  }
  embeddings: { post: TextRoute<EmbeddingList, { body: EmbeddingRequest }> }
  responses: {
    post: TextRoute<ModelResponse | AsyncGenerator<ModelResponseEvent, void, unknown>, { body: CreateResponseRequest }>
    compact: { post: TextRoute<CompactedResponse, { body: ResponseInputRequest }> }
    input_tokens: { post: TextRoute<InputTokenCount, { body: ResponseInputRequest }> }
    ':response_id': {
      get: TextRoute<
        ModelResponse | AsyncGenerator<ModelResponseEvent, void, unknown>,
        WithResponseId & {
          query: { stream?: boolean; starting_after?: number; include_obfuscation?: boolean; include?: string }
        }
      >
      delete: TextRoute<DeletedResponse, WithResponseId>
      cancel: { post: TextRoute<ModelResponse, WithResponseId> }
      input_items: {
        get: TextRoute<
          InputItemList,
          WithResponseId & {
            query: { after?: string; before?: string; limit?: number; order?: 'asc' | 'desc'; include?: string }
          }
        >
      }
    }
  }
  messages: {
    post: MessagesRoute<GeneratedMessage | AsyncGenerator<MessageStreamEvent, void, unknown>, CreateMessageRequest>
    count_tokens: { post: MessagesRoute<MessageTokens, CountMessageTokensRequest> }
  }
  models: {
    get: TextRoute<ModelList>
    ':model': { get: TextRoute<Model, { params: { model: string } }> }
  }
}
