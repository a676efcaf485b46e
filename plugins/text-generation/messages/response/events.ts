/** The type of an error of Anthropic's API (https://platform.claude.com/docs/en/api/errors). */
export type MessagesErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'billing_error'
  | 'permission_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'request_too_large'
  | 'rate_limit_error'
  | 'timeout_error'
  | 'api_error'
  | 'overloaded_error'

/** Tokens of a message. `input_tokens` are those that were neither read from the prompt cache nor written to it. */
export interface MessageUsage {
  input_tokens: number
  cache_creation_input_tokens: number
  cache_read_input_tokens: number
  output_tokens: number
  output_tokens_details: { thinking_tokens: number } | null
  server_tool_use: null
}

export type StopReason = 'end_turn' | 'max_tokens' | 'tool_use' | 'stop_sequence' | 'refusal'

/** Why a message ended. */
export interface MessageEnd {
  stop_reason: StopReason | null
  stop_sequence: string | null
  stop_details: { type: 'refusal'; category: null; explanation: null } | null
  container: null
}

export type MessageBlock =
  | { type: 'text'; text: string; citations: null }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown; caller: { type: 'direct' } }

export interface Message extends MessageEnd {
  id: string
  type: 'message'
  role: 'assistant'
  model: string
  content: readonly MessageBlock[]
  diagnostics: null
  usage: MessageUsage & { cache_creation: null; inference_geo: null; service_tier: null; speed: null }
}

export type BlockDelta =
  | { type: 'text_delta'; text: string }
  | { type: 'thinking_delta'; thinking: string }
  | { type: 'signature_delta'; signature: string }
  | { type: 'input_json_delta'; partial_json: string }

/** An event of a Messages stream (https://platform.claude.com/docs/en/build-with-claude/streaming). */
export type MessageEvent =
  | { type: 'message_start'; message: Message }
  | { type: 'content_block_start'; index: number; content_block: MessageBlock }
  | { type: 'content_block_delta'; index: number; delta: BlockDelta }
  | { type: 'content_block_stop'; index: number }
  | { type: 'message_delta'; delta: MessageEnd; usage: MessageUsage }
  | { type: 'message_stop' }
  | { type: 'ping' }
  | {
      type: 'error'
      error: { type: MessagesErrorType; message: string; details?: { error_code: string } }
      request_id: string | null
    }

/** The text of an event. */
export const messageEventText = (event: MessageEvent): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
