import type { Json } from '../../shared/json.ts'
import { toMessages } from './input.ts'
import { array, type Members, object, optional, otherMembers, reject } from './json-builder.ts'
import { JsonPath } from './json-path.ts'
import { toLogprobFields, toReasoningFields, toStreamOptions, toTextFields } from './settings.ts'
import { toToolFields } from './tools.ts'

/**
 * Translates a Responses request to a chat completion request.
 *
 * Fields with another name or form are translated. Fields with the same name and unknown fields pass unchanged. `store`
 * is left out, because the upstream keeps no response. `withAdditions` adds the fields about streaming later.
 *
 * Throws TextProblem 400 for the first field that a chat completion cannot express; `param` is its path. No field is
 * dropped silently.
 */
export const toChatRequest = (request: Json): Json => {
  const path = rejectUnsupported(request)
  const translated: Members = {
    model: request.get('model'),
    messages: array(toMessages(request, path)),
    max_tokens: optional(request, 'max_output_tokens'),
    ...toToolFields(request, path),
    ...toLogprobFields(request, path),
    ...toTextFields(request, path),
    ...toReasoningFields(request, path),
    stream_options: toStreamOptions(request, path),
  }
  const shared = Object.fromEntries(sharedFields.map((key) => [key, optional(request, key)]))
  const unknown = otherMembers(request, [...translatedFields, ...Object.keys(unsupportedFields), ...sharedFields])
  for (const key of Object.keys(unknown)) {
    // The request has the same setting twice, under the names of both protocols. Only one of them can be sent.
    if (Object.hasOwn(translated, key) && translated[key]) throw path.at(key).unsupported()
  }
  return object({ ...translated, ...shared, ...unknown })
}

/** Throws TextProblem 400 for a field that a chat completion does not support. Returns the path of the request. */
export const rejectUnsupported = (request: Json): JsonPath => {
  const path = new JsonPath(request.get('model')?.string() ?? '')
  for (const [key, harmless] of Object.entries(unsupportedFields)) reject(request, [key], path, harmless)
  return path
}

/** Fields that a chat completion does not support, and the values that have no effect, as JSON text. */
const unsupportedFields: Readonly<Record<string, readonly string[]>> = {
  previous_response_id: [],
  conversation: [],
  prompt: [],
  background: ['false'],
  max_tool_calls: [],
  context_management: ['[]'],
  truncation: ['"disabled"'],
  access_programs: [],
  image: [],
  // Fields of chat completions. A response cannot hold their results.
  n: ['1'],
  audio: [],
  modalities: ['["text"]'],
}

/** Fields that are translated or left out. */
const translatedFields = [
  'model',
  'input',
  'instructions',
  'max_output_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'include',
  'top_logprobs',
  'text',
  'reasoning',
  'stream_options',
  'store',
]

/** Fields with the same meaning in both protocols. */
const sharedFields = [
  'stream',
  'temperature',
  'top_p',
  'metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'service_tier',
  'moderation',
]
