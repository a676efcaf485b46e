import { type TSchema, Type } from '@sinclair/typebox'

const json = (schema: TSchema) => ({ 'application/json': { schema } })

const errors = {
  default: {
    description: 'Error of the gateway or of the upstream',
    content: json(
      Type.Object({
        error: Type.Object({
          message: Type.String(),
          type: Type.String(),
          param: Type.Union([Type.String(), Type.Null()]),
          code: Type.Union([Type.String(), Type.Null()]),
        }),
      }),
    ),
  },
}

const partial = {
  'x-upstream-partialresponse': {
    description: '`true` when the call was cut off at the time limit; absent otherwise',
    schema: Type.String(),
  },
}

interface Success {
  readonly description: string
  readonly [extra: string]: unknown
}

const route = (summary: string, success: Success, extra: object = {}) => ({
  parse: 'none' as const,
  detail: { summary, tags: ['text generation'], responses: { 200: success, ...errors }, ...extra },
})

const generated = (description: string) => ({
  description: `${description}; with \`stream\`, server-sent events that end with \`data: [DONE]\``,
  headers: partial,
  content: { ...json(Type.Object({})), 'text/event-stream': { schema: Type.String() } },
})

const body = (schema: TSchema) => ({ requestBody: { required: true, content: json(schema) } })

const completion = Type.Object({
  model: Type.String(),
  messages: Type.Array(
    Type.Object({
      role: Type.String({ description: 'system, user, assistant or tool' }),
      content: Type.Optional(Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String() }))])),
      tool_call_id: Type.Optional(Type.String({ description: 'Required for role tool' })),
    }),
    { minItems: 1 },
  ),
  stream: Type.Optional(Type.Boolean({ default: false })),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1, default: 4096 })),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2, default: 1 })),
  top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  tools: Type.Optional(Type.Array(Type.Object({}))),
  response_format: Type.Optional(Type.Object({ type: Type.String() })),
})

const response = Type.Object({
  model: Type.String(),
  input: Type.Union([Type.String(), Type.Array(Type.Object({}))]),
  stream: Type.Optional(Type.Boolean({ default: false })),
  reasoning: Type.Optional(Type.Object({ effort: Type.Optional(Type.String()) })),
  tools: Type.Optional(Type.Array(Type.Object({}))),
  tool_choice: Type.Optional(Type.Union([Type.String(), Type.Object({})])),
})

const model = Type.Object({
  id: Type.String(),
  object: Type.Literal('model'),
  created: Type.Integer(),
  owned_by: Type.String(),
})
const models = Type.Object({ object: Type.Literal('list'), data: Type.Array(model) })

/** Elysia options of each route. The handlers read the bodies themselves; `GET /openapi` shows a summary of the schemas. */
export const textDocs = {
  createChatCompletion: route('Create a chat completion', generated('The completion'), body(completion)),
  createResponse: route('Create a response', generated('The response'), body(response)),
  getResponse: route('Get a stored response', generated('The response')),
  deleteResponse: route('Delete a stored response', { description: 'Deleted', content: json(Type.Object({})) }),
  cancelResponse: route('Cancel a background response', {
    description: 'The response',
    content: json(Type.Object({})),
  }),
  listInputItems: route('List the input items of a stored response', {
    description: 'Items',
    content: json(Type.Object({})),
  }),
  listModels: route('List models', { description: 'Models', content: json(models) }),
  getModel: route('Get a model', { description: 'The model', content: json(model) }),
}
