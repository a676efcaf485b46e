import { type TSchema, Type } from '@sinclair/typebox'
import type { SchemaOf } from '../../shared/plugin/openapi.ts'
import { nullable } from '../../shared/plugin/openapi.ts'
import type {
  CountMessageTokensRequest,
  CreateMessageRequest,
  GeneratedMessage,
  MessagesErrorBody,
  MessageTokens,
} from './types.ts'

const object = Type.Object({})
/** A field of a request that may be absent. `null` counts as absent. */
const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(nullable(schema))
const count = Type.Integer({ minimum: 0 })

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
  system: optional(Type.Union([Type.String(), Type.Array(object)])),
  thinking: optional(Type.Object({ type: Type.String({ description: 'enabled, adaptive or disabled' }) })),
  tools: optional(Type.Array(object)),
  tool_choice: optional(Type.Object({ type: Type.String({ description: 'auto, any, tool or none' }) })),
  output_config: optional(object),
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
    stream: optional(Type.Boolean({ default: false })),
    stop_sequences: optional(Type.Array(Type.String())),
    temperature: optional(Type.Number({ minimum: 0, maximum: 1 })),
    top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: optional(count),
    metadata: optional(Type.Object({ user_id: optional(Type.String()) })),
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
