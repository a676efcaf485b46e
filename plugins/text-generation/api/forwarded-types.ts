import type { ChatUsage, ModelResponse, TextErrorBody } from './types.ts'

/** A request for a text completion. Further fields are forwarded. */
export interface CompletionRequest {
  readonly model: string
  /** A text, a list of tokens, or a list of either. */
  readonly prompt?: string | readonly (string | number | readonly number[])[] | null
  readonly stream?: boolean | null
  readonly stream_options?: { readonly include_usage?: boolean } | null
  readonly [field: string]: unknown
}

/** A request for embeddings. Further fields are forwarded. */
export interface EmbeddingRequest {
  readonly model: string
  /** A text, a list of tokens, or a list of either. */
  readonly input: string | readonly (string | number | readonly number[] | object)[]
  readonly [field: string]: unknown
}

/** A text completion. Each event of its stream is one too, with a part of the text. */
export interface Completion {
  readonly id: string
  readonly object: string
  /** Seconds since 1970. */
  readonly created: number
  readonly model: string
  readonly choices: readonly {
    readonly index: number
    readonly text: string
    readonly finish_reason?: string | null
  }[]
  readonly usage?: ChatUsage | null
}

/** An event of a stream of a text completion. The last event has the text `[DONE]` as its data. */
export interface CompletionEvent {
  readonly data: Completion | TextErrorBody | '[DONE]'
}

/** Embeddings of the texts of a request. */
export interface EmbeddingList {
  readonly object: 'list'
  readonly data: readonly {
    readonly index: number
    /** Numbers; with `encoding_format: base64` one text. */
    readonly embedding: readonly number[] | string
  }[]
  readonly model: string
  readonly usage?: { readonly prompt_tokens: number; readonly total_tokens: number } | null
}

/** Fields of `CreateResponseRequest`; others are forwarded. */
export interface ResponseInputRequest {
  readonly model?: string | null
  readonly input?: string | readonly object[] | null
  readonly previous_response_id?: string | null
  readonly [field: string]: unknown
}

/** What stands for the messages of a conversation, as input of the next request. */
export interface CompactedResponse {
  readonly id: string
  readonly object: 'response.compaction'
  /** Seconds since 1970. */
  readonly created_at: number
  readonly output: readonly object[]
  readonly usage?: ModelResponse['usage']
}

/** The number of tokens of an input. */
export interface InputTokenCount {
  readonly object: 'response.input_tokens'
  readonly input_tokens: number
}
