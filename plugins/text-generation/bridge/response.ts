import type { Json } from '../../shared/json.ts'
import { parseLossless } from '../../shared/lossless-json.ts'
import { asArray, type ChunkObject, isChunkObject } from '../chat/chunk.ts'
import { object, optional } from './json-builder.ts'

/** Values of a response that do not come from the request. */
export interface ResponseStart {
  readonly id: string
  /** Seconds since 1970. */
  readonly createdAt: number
  /** The upstream's name for the model. Undefined: the request's. */
  readonly model: string | undefined
}

/**
 * The response object before any output.
 *
 * It repeats fields of the request. The others have the API's defaults, because strict clients require all of them.
 * `store` is always false, because the upstream keeps no response.
 */
export const initialResponse = (request: Json, { id, createdAt, model }: ResponseStart): object => {
  // Parsed without loss, so that long numbers keep their digits.
  const echoed = parseLossless(
    object(Object.fromEntries(echoedFields.map((key) => [key, optional(request, key)]))).raw,
  ) as ChunkObject
  const fieldOr = (key: EchoedField, fallback: unknown): unknown => echoed[key] ?? fallback
  return {
    id,
    object: 'response',
    created_at: createdAt,
    status: 'in_progress',
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: fieldOr('instructions', null),
    max_output_tokens: fieldOr('max_output_tokens', null),
    max_tool_calls: null,
    metadata: fieldOr('metadata', {}),
    model: model ?? fieldOr('model', ''),
    output: [],
    parallel_tool_calls: fieldOr('parallel_tool_calls', true),
    previous_response_id: null,
    prompt_cache_key: fieldOr('prompt_cache_key', null),
    reasoning: withDefaults({ effort: null, summary: null }, fieldOr('reasoning', {})),
    safety_identifier: fieldOr('safety_identifier', null),
    service_tier: fieldOr('service_tier', 'auto'),
    store: false,
    temperature: fieldOr('temperature', 1),
    text: textWithDefaults(fieldOr('text', {})),
    tool_choice: fieldOr('tool_choice', 'auto'),
    tools: asArray(fieldOr('tools', [])).map(toolWithDefaults),
    top_logprobs: fieldOr('top_logprobs', 0),
    top_p: fieldOr('top_p', 1),
    truncation: 'disabled',
    usage: null,
    // These have no default.
    user: echoed.user,
    prompt_cache_options: echoed.prompt_cache_options,
    prompt_cache_retention: echoed.prompt_cache_retention,
  }
}

/** Fields of the request that the response repeats. */
const echoedFields = [
  'instructions',
  'max_output_tokens',
  'metadata',
  'model',
  'parallel_tool_calls',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'safety_identifier',
  'service_tier',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'user',
] as const

type EchoedField = (typeof echoedFields)[number]

/** The members of `value` over the defaults. `null` counts as absent. */
const withDefaults = (defaults: object, value: unknown): object => {
  const entries = isChunkObject(value) ? Object.entries(value).filter(([, value]) => value !== null) : []
  return { ...defaults, ...Object.fromEntries(entries) }
}

const textWithDefaults = (text: unknown): object =>
  withDefaults({ format: { type: 'text' }, verbosity: 'medium' }, text)

const toolWithDefaults = (tool: unknown): unknown =>
  isChunkObject(tool) && tool.type === 'function' && !isChunkObject(tool.function)
    ? withDefaults({ description: null, parameters: null, strict: null }, tool)
    : tool
