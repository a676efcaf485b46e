import type { UpstreamErrorBody, ValueOf } from '../../shared/plugin/openapi.ts'
import type { Responses, Route } from '../../shared/plugin/plugin.ts'
import type * as forwarded from './forwarded-schemas.ts'
import type * as messages from './messages-schemas.ts'
import type * as schemas from './schemas.ts'

/** The body of an error, in the form of the OpenAI API. */
export type TextErrorBody = ValueOf<typeof schemas.textErrorBody>
/** A request for a chat completion. */
export type ChatCompletionRequest = ValueOf<typeof schemas.chatCompletionRequest>
/** A message of a chat. */
export type ChatMessage = ChatCompletionRequest['messages'][number]
/** A request for a response. */
export type CreateResponseRequest = ValueOf<typeof schemas.responsesRequest>
/** The tokens of a chat completion. */
export type ChatUsage = ValueOf<typeof schemas.chatUsage>
/** A chat completion. The upstream may add fields to it, as to all that follow. */
export type ChatCompletion = ValueOf<typeof schemas.chatCompletion>
/** A part of a chat completion. */
export type ChatChunk = ValueOf<typeof schemas.chatChunk>
/** An event of a chat stream. The last event has the text `[DONE]` as its data. */
export interface ChatEvent {
  readonly data: ChatChunk | TextErrorBody | '[DONE]'
}
/** A response of the Responses protocol. */
export type ModelResponse = ValueOf<typeof schemas.modelResponse>
/** An event of a stream of the Responses protocol. The last event has the text `[DONE]` as its data. */
export interface ModelResponseEvent {
  readonly data: ValueOf<typeof schemas.modelResponseEvent> | '[DONE]'
}
/** A response that was deleted. */
export type DeletedResponse = ValueOf<typeof schemas.deletedResponse>
/** A page of the input of a response. */
export type InputItemList = ValueOf<typeof schemas.inputItemList>
/** A model that the caller may name. */
export type Model = ValueOf<typeof schemas.model>
/** The models that the caller may name. */
export type ModelList = ValueOf<typeof schemas.modelList>

/** A request for a text completion. Its prompt is a text, a list of tokens, or a list of either. */
export type CompletionRequest = ValueOf<typeof forwarded.completionRequest>
/** A text completion. Each event of its stream is one too, with a part of the text. */
export type Completion = ValueOf<typeof forwarded.completion>
/** An event of a stream of a text completion. The last event has the text `[DONE]` as its data. */
export interface CompletionEvent {
  readonly data: Completion | TextErrorBody | '[DONE]'
}
/** A request for embeddings. Its input is a text, a list of tokens, or a list of either. */
export type EmbeddingRequest = ValueOf<typeof forwarded.embeddingRequest>
/** Embeddings: numbers; with `encoding_format: base64` texts. */
export type EmbeddingList = ValueOf<typeof forwarded.embeddingList>
/** Fields of `CreateResponseRequest`. */
export type ResponseInputRequest = ValueOf<typeof forwarded.responseInputRequest>
/** What stands for the messages of a conversation, as input of the next request. */
export type CompactedResponse = ValueOf<typeof forwarded.compactedResponse>
/** The number of tokens of an input. */
export type InputTokenCount = ValueOf<typeof forwarded.inputTokenCount>

/** A request of Anthropic's Messages API. */
export type CreateMessageRequest = ValueOf<typeof messages.messagesRequest>
/** A request for the number of tokens of messages. */
export type CountMessageTokensRequest = ValueOf<typeof messages.countTokensRequest>
/** A message of the model. */
export type GeneratedMessage = ValueOf<typeof messages.messageSchema>
/** An event of a Messages stream. The last is `message_stop` or `error`. */
export interface MessageStreamEvent {
  readonly event: string
  readonly data: { readonly type: string }
}
/** An estimate of the number of tokens. */
export type MessageTokens = ValueOf<typeof messages.messageTokens>
/** The body of an error, in the form of Anthropic's API. */
export type MessagesErrorBody = ValueOf<typeof messages.messagesErrorBody>

type TextRoute<
  Success,
  Parts extends { body?: unknown; query?: unknown; params?: unknown } = Record<never, never>,
> = Route<
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
