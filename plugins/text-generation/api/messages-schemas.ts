import { Type } from '@sinclair/typebox'
import { nullable, type SchemaOf } from '../../shared/plugin/openapi.ts'
import type {
  CountMessageTokensRequest,
  CreateMessageRequest,
  GeneratedMessage,
  MessagesErrorBody,
  MessageTokens,
} from './messages-types.ts'
import { anyObject, count, optionalField } from './schemas.ts'

const content = Type.Union([
  Type.String(),
  Type.Array(
    Type.Object({ type: Type.String({ description: 'text, image, document, tool_use, tool_result, thinking' }) }),
  ),
])

const input = {
  model: Type.String({ minLength: 1 }),
  messages: Type.Array(
    Type.Object({
      role: Type.Union(['user', 'assistant', 'system'].map((role) => Type.Literal(role))),
      content,
    }),
    { minItems: 1 },
  ),
  system: optionalField(Type.Union([Type.String(), Type.Array(anyObject)])),
  thinking: optionalField(Type.Object({ type: Type.String({ description: 'enabled, adaptive or disabled' }) })),
  tools: optionalField(Type.Array(anyObject)),
  tool_choice: optionalField(Type.Object({ type: Type.String({ description: 'auto, any, tool or none' }) })),
  output_config: optionalField(anyObject),
}

const ignored = 'Fields that have no meaning for the model are ignored'

export const countTokensRequest: SchemaOf<CountMessageTokensRequest> = Type.Object(input, {
  title: 'CountMessageTokensRequest',
  description: ignored,
})

export const messagesRequest: SchemaOf<CreateMessageRequest> = Type.Object(
  {
    ...input,
    max_tokens: Type.Integer({ minimum: 1 }),
    stream: optionalField(Type.Boolean({ default: false })),
    stop_sequences: optionalField(Type.Array(Type.String())),
    temperature: optionalField(Type.Number({ minimum: 0, maximum: 1 })),
    top_p: optionalField(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: optionalField(count),
    metadata: optionalField(Type.Object({ user_id: optionalField(Type.String()) })),
  },
  { title: 'CreateMessageRequest', description: ignored },
)

export const messageSchema: SchemaOf<GeneratedMessage> = Type.Object(
  {
    id: Type.String(),
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    model: Type.String(),
    content: Type.Array(Type.Object({ type: Type.String() })),
    stop_reason: nullable(Type.String({ description: 'end_turn, max_tokens, tool_use, stop_sequence or refusal' })),
    stop_sequence: nullable(Type.String()),
    usage: Type.Object({
      input_tokens: Type.Integer({
        minimum: 0,
        description: 'Without those that were read from the prompt cache or written to it',
      }),
      cache_creation_input_tokens: count,
      cache_read_input_tokens: count,
      output_tokens: count,
    }),
  },
  { title: 'Message' },
)

export const messagesErrorBody: SchemaOf<MessagesErrorBody> = Type.Object(
  {
    type: Type.Literal('error'),
    error: Type.Object({
      type: Type.String(),
      message: Type.String(),
      details: Type.Optional(Type.Object({ error_code: Type.String() })),
    }),
    request_id: nullable(Type.String()),
  },
  { title: 'MessagesError', description: "An error, in the form of Anthropic's API" },
)

export const messageEvent = Type.Union([
  messagesErrorBody,
  Type.Object(
    {
      type: Type.Union(
        [
          'message_start',
          'content_block_start',
          'content_block_delta',
          'content_block_stop',
          'message_delta',
          'message_stop',
          'ping',
        ].map((type) => Type.Literal(type)),
      ),
    },
    { title: 'MessageEvent' },
  ),
])

export const messageTokens: SchemaOf<MessageTokens> = Type.Object(
  { input_tokens: Type.Integer({ minimum: 0, description: 'An estimate' }) },
  { title: 'MessageTokens' },
)
