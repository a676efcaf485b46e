import { Type } from '@sinclair/typebox'
import type { SchemaOf } from '../../shared/plugin/openapi.ts'
import type {
  CompactedResponse,
  Completion,
  CompletionRequest,
  EmbeddingList,
  EmbeddingRequest,
  InputTokenCount,
  ResponseInputRequest,
} from './forwarded-types.ts'
import { anyObject, chatUsage, count, created, optionalField, responseUsage } from './schemas.ts'

const texts = Type.Union([
  Type.String(),
  Type.Array(Type.Union([Type.String(), Type.Integer(), Type.Array(Type.Integer())])),
])

export const completionRequest: SchemaOf<CompletionRequest> = Type.Object(
  {
    model: Type.String({ minLength: 1 }),
    prompt: optionalField(texts),
    stream: optionalField(Type.Boolean({ default: false })),
    stream_options: optionalField(Type.Object({ include_usage: Type.Optional(Type.Boolean()) })),
  },
  { title: 'CompletionRequest', description: 'Further fields are forwarded to the model' },
)

export const completion: SchemaOf<Completion> = Type.Object(
  {
    id: Type.String(),
    object: Type.String(),
    created,
    model: Type.String(),
    choices: Type.Array(
      Type.Object({ index: count, text: Type.String(), finish_reason: optionalField(Type.String()) }),
    ),
    usage: optionalField(chatUsage),
  },
  { title: 'Completion' },
)

export const embeddingRequest: SchemaOf<EmbeddingRequest> = Type.Object(
  {
    model: Type.String({ minLength: 1 }),
    input: Type.Union([
      Type.String(),
      Type.Array(Type.Union([Type.String(), Type.Integer(), Type.Array(Type.Integer()), anyObject])),
    ]),
  },
  { title: 'EmbeddingRequest', description: 'Further fields are forwarded to the model' },
)

export const embeddingList: SchemaOf<EmbeddingList> = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(Type.Object({ index: count, embedding: Type.Union([Type.Array(Type.Number()), Type.String()]) })),
    model: Type.String(),
    usage: optionalField(Type.Object({ prompt_tokens: count, total_tokens: count })),
  },
  { title: 'EmbeddingList' },
)

export const responseInputRequest: SchemaOf<ResponseInputRequest> = Type.Object(
  {
    model: optionalField(Type.String()),
    input: optionalField(Type.Union([Type.String(), Type.Array(anyObject)])),
    previous_response_id: optionalField(Type.String({ description: "Id of one of the caller's stored responses" })),
  },
  { title: 'ResponseInputRequest', description: 'Further fields of a request for a response are forwarded' },
)

export const compactedResponse: SchemaOf<CompactedResponse> = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('response.compaction'),
    created_at: created,
    output: Type.Array(anyObject, { description: 'Items to send as the input of the next request' }),
    usage: optionalField(responseUsage),
  },
  { title: 'CompactedResponse' },
)

export const inputTokenCount: SchemaOf<InputTokenCount> = Type.Object(
  { object: Type.Literal('response.input_tokens'), input_tokens: count },
  { title: 'InputTokenCount' },
)
