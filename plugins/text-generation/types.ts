import type { UpstreamErrorBody } from '../shared/openapi.ts'
import type { Responses, Route } from '../shared/plugin.ts'
import type {
  CompactedResponse,
  Completion,
  CompletionEvent,
  CompletionRequest,
  EmbeddingList,
  EmbeddingRequest,
  InputTokenCount,
  ResponseInputRequest,
} from './forwarded/types.ts'
import type {
  CountMessageTokensRequest,
  CreateMessageRequest,
  GeneratedMessage,
  MessageStreamEvent,
  MessagesErrorBody,
  MessageTokens,
} from './messages/types.ts'

export type * from './messages/types.ts'

/** The body of an error, in the form of the OpenAI API. */
export interface TextErrorBody {
  readonly error: {
    readonly message: string
    readonly type: string
    /** Path of the wrong field. */
    readonly param: string | null
    readonly code: string | null
  }
}

// Both requests have further fields, which the gateway forwards. `null` counts as absent.

export interface ChatCompletionRequest {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly stream?: boolean | null
  readonly stream_options?: { readonly include_usage?: boolean } | null
  readonly max_tokens?: number | null
  readonly max_completion_tokens?: number | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly tools?: readonly object[] | null
  readonly response_format?: { readonly type: string } | null
  readonly [field: string]: unknown
}

export interface ChatMessage {
  readonly role: string
  /** Absent only in messages of role `assistant`. */
  readonly content?: string | readonly ContentBlock[] | null
  readonly tool_call_id?: string
  readonly [field: string]: unknown
}

/** A block has a field that its type names, for example `text`. */
export interface ContentBlock {
  readonly type: string
  readonly [field: string]: unknown
}

export interface CreateResponseRequest {
  readonly model: string
  readonly input: string | readonly object[]
  readonly stream?: boolean | null
  readonly background?: boolean | null
  readonly store?: boolean | null
  readonly previous_response_id?: string | null
  readonly max_output_tokens?: number | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly reasoning?: object | null
  readonly text?: object | null
  readonly tools?: readonly object[] | null
  readonly tool_choice?: string | object | null
  readonly [field: string]: unknown
}

// The upstream may add fields to all of these.

export interface ChatCompletion {
  readonly id: string
  readonly object: 'chat.completion'
  /** Seconds since 1970. */
  readonly created: number
  readonly model: string
  readonly choices: readonly ChatChoice[]
  readonly usage?: ChatUsage | null
}

export interface ChatChoice {
  readonly index: number
  readonly message: {
    readonly role: string
    readonly content?: string | null
    readonly tool_calls?: readonly object[]
  }
  readonly finish_reason: string | null
}

export interface ChatUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
}

/** An event of a chat stream. The last event has the text `[DONE]` as its data. */
export interface ChatEvent {
  readonly data: ChatChunk | TextErrorBody | '[DONE]'
}

export interface ChatChunk {
  readonly id: string
  readonly object: 'chat.completion.chunk'
  readonly created: number
  readonly model: string
  readonly choices: readonly {
    readonly index: number
    readonly delta: {
      readonly role?: string
      readonly content?: string | null
      readonly tool_calls?: readonly object[]
    }
    readonly finish_reason?: string | null
  }[]
  readonly usage?: ChatUsage | null
}

/** A response of the Responses protocol. */
export interface ModelResponse {
  readonly id: string
  readonly object: 'response'
  /** Seconds since 1970. */
  readonly created_at: number
  readonly status: string
  readonly model: string
  readonly output: readonly object[]
  readonly error?: object | null
  readonly incomplete_details?: object | null
  readonly usage?: {
    readonly input_tokens: number
    readonly output_tokens: number
    readonly total_tokens: number
  } | null
}

/** An event of a stream of the Responses protocol. The last event has the text `[DONE]` as its data. */
export interface ModelResponseEvent {
  readonly data: { readonly type: string } | '[DONE]'
}

export interface DeletedResponse {
  readonly id: string
  readonly object: string
  readonly deleted: boolean
}

export interface InputItemList {
  readonly object: 'list'
  readonly data: readonly object[]
  readonly has_more?: boolean
  readonly first_id?: string | null
  readonly last_id?: string | null
}

export interface Model {
  readonly id: string
  readonly object: 'model'
  readonly created?: number
  readonly owned_by?: string
  /** Maximum length of input and output together, in tokens. */
  readonly context_length?: number
  /** Maximum of the output, in tokens. */
  readonly max_completion_tokens?: number
}

export interface ModelList {
  readonly object: 'list'
  readonly data: readonly Model[]
}

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
