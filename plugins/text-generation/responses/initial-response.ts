import type { Json } from '../../shared/json/json.ts'
import { parseLossless } from '../../shared/json/lossless.ts'
import { isMutableObject, type MutableObject } from './mutable-json.ts'

/** The members of a response that do not come from the request. */
export interface ResponseStart {
  readonly id: string
  /** Seconds since 1970. */
  readonly createdAt: number
  /** The upstream's name for the model. Default: the request's. */
  readonly model?: string
}

/** Bytes of the fields that a response repeats: each stream has them three times. */
const maxRepeatedBytes = 2 ** 22

/** The same for their keys and values. */
const maxRepeatedEntries = 8_192

/**
 * The fields of a request that a response may repeat: all but the input, which may be large, and those that exceed 4
 * MiB, or 8,192 keys and values, with the fields before them. Numbers keep all their digits.
 */
export const repeatableFields = (request: Json): MutableObject => laterFields(request)()

/**
 * The same, parsed only when they are needed. The function does not keep the request in memory, which has the input.
 */
export const laterFields = (request: Json): (() => MutableObject) => {
  let bytes = 0
  let entries = 0
  const omitted = new Set(['input'])
  for (const { key, value } of request.members()) {
    if (key === 'input') continue
    if (bytes + value.byteLength > maxRepeatedBytes || entries + value.entryCount > maxRepeatedEntries) omitted.add(key)
    else {
      bytes += value.byteLength
      entries += value.entryCount
    }
  }
  const text = request.without((key) => omitted.has(key)).raw
  return () => parseLossless(text) as MutableObject
}

/**
 * A response before any output.
 *
 * It repeats fields of the request. The others have the defaults of OpenAI's API reference; `null` counts as absent. It
 * has every member that the API reference or Open Responses (https://www.openresponses.org/reference) requires, because
 * strict clients check them.
 *
 * `service_tier` is that of the request, by default `auto`, as in OpenAI's own `response.created`: only the upstream
 * knows the tier that serves the request.
 *
 * @param request the fields of the request; anything but an object counts as an empty one
 */
export const initialResponse = (request: unknown, { id, createdAt, model }: ResponseStart): MutableObject => {
  const fields = isMutableObject(request) ? request : {}
  return {
    id,
    object: 'response',
    created_at: createdAt,
    status: 'in_progress',
    access_programs: null,
    background: fields.background ?? false,
    completed_at: null,
    error: null,
    frequency_penalty: fields.frequency_penalty ?? 0,
    incomplete_details: null,
    instructions: fields.instructions ?? null,
    max_output_tokens: fields.max_output_tokens ?? null,
    max_tool_calls: fields.max_tool_calls ?? null,
    metadata: fields.metadata ?? {},
    model: model ?? (typeof fields.model === 'string' ? fields.model : ''),
    output: [],
    parallel_tool_calls: fields.parallel_tool_calls ?? true,
    presence_penalty: fields.presence_penalty ?? 0,
    previous_response_id: fields.previous_response_id ?? null,
    prompt_cache_key: fields.prompt_cache_key ?? null,
    reasoning: withDefaults({ effort: null, summary: null }, fields.reasoning),
    safety_identifier: fields.safety_identifier ?? null,
    service_tier: fields.service_tier ?? 'auto',
    store: fields.store ?? true,
    temperature: fields.temperature ?? 1,
    text: withDefaults({ format: { type: 'text' }, verbosity: 'medium' }, fields.text),
    tool_choice: fields.tool_choice ?? 'auto',
    tools: Array.isArray(fields.tools) ? fields.tools.map(toolWithDefaults) : [],
    top_logprobs: fields.top_logprobs ?? 0,
    top_p: fields.top_p ?? 1,
    truncation: fields.truncation ?? 'disabled',
    usage: null,
    user: fields.user ?? null,
    // These have no default.
    prompt_cache_options: fields.prompt_cache_options ?? undefined,
    prompt_cache_retention: fields.prompt_cache_retention ?? undefined,
  }
}

/** The members of `value` that are not null, and the defaults of the others. */
const withDefaults = (defaults: MutableObject, value: unknown): MutableObject => {
  const present = isMutableObject(value) ? Object.entries(value).filter(([, member]) => member !== null) : []
  return { ...defaults, ...Object.fromEntries(present) }
}

/**
 * A function tool in the form of the Responses protocol has members that clients require. Other tools pass unchanged.
 */
const toolWithDefaults = (tool: unknown): unknown =>
  isMutableObject(tool) && tool.type === 'function' && !isMutableObject(tool.function)
    ? withDefaults({ description: null, parameters: null, strict: null }, tool)
    : tool
