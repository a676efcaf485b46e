/**
 * A request of Anthropic's Messages API. It may have further fields; those that have no meaning for the upstream are
 * ignored.
 */
export interface CreateMessageRequest extends CountMessageTokensRequest {
  readonly max_tokens: number
  readonly stream?: boolean | null
  readonly stop_sequences?: readonly string[] | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly top_k?: number | null
  readonly metadata?: { readonly user_id?: string | null } | null
}

/** A request for the number of tokens of messages. */
export interface CountMessageTokensRequest {
  readonly model: string
  readonly messages: readonly MessageParam[]
  readonly system?: string | readonly object[] | null
  readonly thinking?: object | null
  readonly tools?: readonly object[] | null
  readonly tool_choice?: object | null
  readonly output_config?: object | null
  readonly [field: string]: unknown
}

/** A message of a conversation. */
export interface MessageParam {
  /** `user`, `assistant` or `system`. */
  readonly role: string
  readonly content: string | readonly object[]
}

/** A message of the model. */
export interface GeneratedMessage {
  readonly id: string
  readonly type: 'message'
  readonly role: 'assistant'
  readonly model: string
  readonly content: readonly { readonly type: string }[]
  /** `end_turn`, `max_tokens`, `tool_use`, `stop_sequence` or `refusal`. */
  readonly stop_reason: string | null
  readonly stop_sequence: string | null
  readonly usage: {
    /** Without those that were read from the prompt cache or written to it. */
    readonly input_tokens: number
    readonly cache_creation_input_tokens: number
    readonly cache_read_input_tokens: number
    readonly output_tokens: number
  }
}

/** An event of a Messages stream. The last is `message_stop` or `error`. */
export interface MessageStreamEvent {
  readonly event: string
  readonly data: { readonly type: string }
}

/** The number of tokens of messages. */
export interface MessageTokens {
  /** An estimate. */
  readonly input_tokens: number
}

/** The body of an error, in the form of Anthropic's API. */
export interface MessagesErrorBody {
  readonly type: 'error'
  readonly error: {
    readonly type: string
    readonly message: string
    readonly details?: { readonly error_code: string }
  }
  readonly request_id: string | null
}
