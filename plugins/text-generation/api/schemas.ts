import { type TSchema, Type } from '@sinclair/typebox'
import { nullable, type SchemaOf } from '../../shared/plugin/openapi.ts'
import type {
  ChatChunk,
  ChatCompletion,
  ChatCompletionRequest,
  ChatMessage,
  ChatUsage,
  ContentBlock,
  CreateResponseRequest,
  DeletedResponse,
  InputItemList,
  Model,
  ModelList,
  ModelResponse,
  TextErrorBody,
} from './types.ts'

export const anyObject = Type.Object({})
/** A field of a request that may be absent. `null` counts as absent. */
export const optionalField = <Schema extends TSchema>(schema: Schema) => Type.Optional(nullable(schema))

export const textErrorBody: SchemaOf<TextErrorBody> = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      param: nullable(Type.String({ description: 'Path of the wrong field' })),
      code: nullable(Type.String()),
    }),
  },
  { title: 'TextError', description: 'An error of this service' },
)

const sampling = {
  temperature: optionalField(Type.Number({ minimum: 0, maximum: 2, description: 'Some models accept at most 1' })),
  top_p: optionalField(Type.Number({ minimum: 0, maximum: 1 })),
}

const contentBlock: SchemaOf<ContentBlock> = Type.Object(
  { type: Type.String({ description: 'text, image_url, video_url, video, or another type that the model knows' }) },
  { description: 'Has a field that its type names: `text`, `image_url.url`, `video_url.url`, `video` (addresses)' },
)

const chatMessage: SchemaOf<ChatMessage> = Type.Object(
  {
    role: Type.Union(
      ['system', 'user', 'assistant', 'tool', 'developer', 'function'].map((role) => Type.Literal(role)),
    ),
    content: optionalField(
      Type.Union([Type.String(), Type.Array(contentBlock)], { description: 'Optional only for role assistant' }),
    ),
    tool_call_id: Type.Optional(Type.String({ minLength: 1, description: 'Required for role tool' })),
  },
  { title: 'ChatMessage' },
)

export const chatCompletionRequest: SchemaOf<ChatCompletionRequest> = Type.Object(
  {
    model: Type.String({ minLength: 1 }),
    messages: Type.Array(chatMessage, { minItems: 1 }),
    stream: optionalField(Type.Boolean({ default: false })),
    stream_options: optionalField(Type.Object({ include_usage: Type.Optional(Type.Boolean()) })),
    max_tokens: optionalField(
      Type.Integer({ minimum: 1, description: 'Default: the setting of the operator, usually 4096' }),
    ),
    max_completion_tokens: optionalField(Type.Integer({ minimum: 1 })),
    ...sampling,
    tools: optionalField(Type.Array(anyObject)),
    response_format: optionalField(Type.Object({ type: Type.String() })),
  },
  { title: 'ChatCompletionRequest', description: 'Further fields are forwarded to the model' },
)

export const responsesRequest: SchemaOf<CreateResponseRequest> = Type.Object(
  {
    model: Type.String({ minLength: 1 }),
    input: Type.Union([Type.String(), Type.Array(anyObject)]),
    stream: optionalField(Type.Boolean({ default: false })),
    background: optionalField(Type.Boolean({ default: false })),
    store: optionalField(Type.Boolean({ default: true })),
    previous_response_id: optionalField(Type.String({ description: "Id of one of the caller's stored responses" })),
    max_output_tokens: optionalField(Type.Integer({ minimum: 1 })),
    ...sampling,
    reasoning: optionalField(Type.Object({ effort: optionalField(Type.String()) })),
    text: optionalField(anyObject),
    tools: optionalField(Type.Array(anyObject)),
    tool_choice: optionalField(Type.Union([Type.String(), anyObject])),
  },
  { title: 'CreateResponseRequest', description: 'Further fields are forwarded to the model' },
)

export const count = Type.Integer({ minimum: 0 })

export const chatUsage: SchemaOf<ChatUsage> = Type.Object(
  { prompt_tokens: count, completion_tokens: count, total_tokens: count },
  { title: 'ChatUsage' },
)

export const responseUsage = Type.Object({ input_tokens: count, output_tokens: count, total_tokens: count })

export const created = Type.Integer({ description: 'Seconds since 1970' })

export const chatCompletion: SchemaOf<ChatCompletion> = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created,
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: count,
        message: Type.Object({
          role: Type.String(),
          content: optionalField(Type.String()),
          tool_calls: Type.Optional(Type.Array(anyObject)),
        }),
        finish_reason: nullable(Type.String()),
      }),
    ),
    usage: optionalField(chatUsage),
  },
  { title: 'ChatCompletion' },
)

export const chatChunk: SchemaOf<ChatChunk> = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion.chunk'),
    created,
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: count,
        delta: Type.Object({
          role: Type.Optional(Type.String()),
          content: optionalField(Type.String()),
          tool_calls: Type.Optional(Type.Array(anyObject)),
        }),
        finish_reason: optionalField(Type.String()),
      }),
    ),
    usage: optionalField(chatUsage),
  },
  { title: 'ChatChunk' },
)

export const modelResponse: SchemaOf<ModelResponse> = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('response'),
    created_at: created,
    status: Type.String({ description: 'completed, failed, in_progress, cancelled, queued or incomplete' }),
    model: Type.String(),
    output: Type.Array(anyObject),
    error: optionalField(anyObject),
    incomplete_details: optionalField(anyObject),
    usage: optionalField(responseUsage),
  },
  { title: 'Response' },
)

export const modelResponseEvent = Type.Object(
  { type: Type.String({ description: 'For example response.output_text.delta' }) },
  { title: 'ResponseEvent' },
)

export const deletedResponse: SchemaOf<DeletedResponse> = Type.Object(
  { id: Type.String(), object: Type.String(), deleted: Type.Boolean() },
  { title: 'DeletedResponse' },
)

export const inputItemList: SchemaOf<InputItemList> = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(anyObject),
    has_more: Type.Optional(Type.Boolean()),
    first_id: optionalField(Type.String()),
    last_id: optionalField(Type.String()),
  },
  { title: 'InputItemList' },
)

export const model: SchemaOf<Model> = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('model'),
    created: Type.Optional(created),
    owned_by: Type.Optional(Type.String()),
    context_length: Type.Optional(
      Type.Integer({ description: 'Maximum length of input and output together, in tokens' }),
    ),
    max_completion_tokens: Type.Optional(Type.Integer({ description: 'Maximum of the output, in tokens' })),
  },
  { title: 'Model' },
)

export const modelList: SchemaOf<ModelList> = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(model) },
  { title: 'ModelList' },
)
