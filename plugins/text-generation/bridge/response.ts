import type { Json } from '../../shared/json.ts'
import { parseLossless } from '../../shared/lossless-json.ts'
import { type ChunkObject, elementsOf, isChunkObject } from '../chat/chunk.ts'
import { given, object } from './json-builder.ts'

/** What is known of a response when it begins. */
export interface ResponseStart {
  readonly id: string
  /** Seconds since 1970. */
  readonly createdAt: number
  /** As the upstream names it, if it does. */
  readonly model: string | undefined
}

/**
 * The response object at its beginning: it repeats the request, with the API's own defaults for what was not said, because strict readers want all of
 * it. `store` is false, whatever was asked: nothing is kept.
 */
export const beginResponse = (request: Json, { id, createdAt, model }: ResponseStart): object => {
  // As one object, in which numbers are kept as they were written.
  const known = parseLossless(
    object(Object.fromEntries(repeated.map((key) => [key, given(request, key)]))).raw,
  ) as ChunkObject
  const said = (key: Repeated, otherwise: unknown): unknown => known[key] ?? otherwise
  return {
    id,
    object: 'response',
    created_at: createdAt,
    status: 'in_progress',
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: said('instructions', null),
    max_output_tokens: said('max_output_tokens', null),
    max_tool_calls: null,
    metadata: said('metadata', {}),
    model: model ?? said('model', ''),
    output: [],
    parallel_tool_calls: said('parallel_tool_calls', true),
    previous_response_id: null,
    prompt_cache_key: said('prompt_cache_key', null),
    reasoning: withDefaults({ effort: null, summary: null }, said('reasoning', {})),
    safety_identifier: said('safety_identifier', null),
    service_tier: said('service_tier', 'auto'),
    store: false,
    temperature: said('temperature', 1),
    text: textWithDefaults(said('text', {})),
    tool_choice: said('tool_choice', 'auto'),
    tools: elementsOf(said('tools', [])).map(toolWithDefaults),
    top_logprobs: said('top_logprobs', 0),
    top_p: said('top_p', 1),
    truncation: 'disabled',
    usage: null,
    // Without a default of their own.
    user: known.user,
    prompt_cache_options: known.prompt_cache_options,
    prompt_cache_retention: known.prompt_cache_retention,
  }
}

/** What of a request its response repeats. */
const repeated = [
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

type Repeated = (typeof repeated)[number]

/** Defaults under what was said; `null` says nothing. */
const withDefaults = (defaults: object, said: unknown): object => {
  const entries = isChunkObject(said) ? Object.entries(said).filter(([, value]) => value !== null) : []
  return { ...defaults, ...Object.fromEntries(entries) }
}

const textWithDefaults = (text: unknown): object =>
  withDefaults({ format: { type: 'text' }, verbosity: 'medium' }, text)

const toolWithDefaults = (tool: unknown): unknown =>
  isChunkObject(tool) && tool.type === 'function' && !isChunkObject(tool.function)
    ? withDefaults({ description: null, parameters: null, strict: null }, tool)
    : tool
