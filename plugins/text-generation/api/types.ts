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

/** A request for a chat completion. */
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

/** A message of a chat. */
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

/** A request for a response. */
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

/** A chat completion. */
export interface ChatCompletion {
  readonly id: string
  readonly object: 'chat.completion'
  /** Seconds since 1970. */
  readonly created: number
  readonly model: string
  readonly choices: readonly ChatChoice[]
  readonly usage?: ChatUsage | null
}

/** One of the answers of a chat completion. */
export interface ChatChoice {
  readonly index: number
  readonly message: {
    readonly role: string
    readonly content?: string | null
    readonly tool_calls?: readonly object[]
  }
  readonly finish_reason: string | null
}

/** The tokens of a chat completion. */
export interface ChatUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
}

/** An event of a chat stream. The last event has the text `[DONE]` as its data. */
export interface ChatEvent {
  readonly data: ChatChunk | TextErrorBody | '[DONE]'
}

/** A part of a chat completion. */
export interface ChatChunk {
  readonly id: string
  readonly object: 'chat.completion.chunk'
  /** Seconds since 1970. */
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

/** A response that was deleted. */
export interface DeletedResponse {
  readonly id: string
  readonly object: string
  readonly deleted: boolean
}

/** A page of the input of a response. */
export interface InputItemList {
  readonly object: 'list'
  readonly data: readonly object[]
  readonly has_more?: boolean
  readonly first_id?: string | null
  readonly last_id?: string | null
}

/** A model that the caller may name. */
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

/** The models that the caller may name. */
export interface ModelList {
  readonly object: 'list'
  readonly data: readonly Model[]
}
