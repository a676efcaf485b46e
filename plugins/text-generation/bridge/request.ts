import type { Json } from '../../shared/json.ts'
import { toMessages } from './input.ts'
import { array, given, type Members, object, others, refuse } from './json-builder.ts'
import { JsonPath } from './json-path.ts'
import { toLogprobs, toReasoning, toStreamOptions, toText } from './settings.ts'
import { toToolFields } from './tools.ts'

/**
 * The chat completion request that asks for the same as a Responses request.
 *
 * What chat completions know under another name or in another form is translated; what they know by the same name, and what nobody here knows, is passed
 * on as it was written. `store` is left out, whichever its value: nothing is kept, and nothing can be fetched later. Whether the upstream is asked
 * for a stream, and for usage in it, is decided elsewhere.
 *
 * Throws TextProblem 400 whose `param` is the path of the first thing that a chat completion cannot do or say; nothing is dropped in silence.
 */
export const toChatRequest = (request: Json): Json => {
  const place = refuseImpossible(request)
  const translated: Members = {
    model: request.get('model'),
    messages: array(toMessages(request, place)),
    max_tokens: given(request, 'max_output_tokens'),
    ...toToolFields(request, place),
    ...toLogprobs(request, place),
    ...toText(request, place),
    ...toReasoning(request, place),
    stream_options: toStreamOptions(request, place),
  }
  const same = Object.fromEntries(sameNames.map((key) => [key, given(request, key)]))
  const unknown = others(request, [...responsesOnly, ...Object.keys(impossible), ...sameNames])
  for (const key of Object.keys(unknown)) {
    // Of two fields for one thing, one in the words of each protocol, the upstream would hear only one.
    if (Object.hasOwn(translated, key) && translated[key]) throw place.at(key).unsupported()
  }
  return object({ ...translated, ...same, ...unknown })
}

/** Throws TextProblem 400 for what a chat completion cannot do. */
export const refuseImpossible = (request: Json): JsonPath => {
  const place = new JsonPath(request.get('model')?.string() ?? '')
  for (const [key, harmless] of Object.entries(impossible)) refuse(request, [key], place, harmless)
  return place
}

/** What a chat completion cannot do, and the values that do not ask for it. */
const impossible: Readonly<Record<string, readonly string[]>> = {
  previous_response_id: [],
  conversation: [],
  prompt: [],
  background: ['false'],
  max_tool_calls: [],
  context_management: ['[]'],
  truncation: ['"disabled"'],
  access_programs: [],
  image: [],
  // Fields of chat completions whose answers a response could not hold.
  n: ['1'],
  audio: [],
  modalities: ['["text"]'],
}

/** Fields that are translated, or left out because they ask for nothing that could be had. */
const responsesOnly = [
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

/** Fields that both protocols have, with one meaning. */
const sameNames = [
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
