import type { SteppedWork } from '../../../shared/background/turns.ts'
import {
  composeArray,
  composeEditable,
  composeObject,
  type Json,
  type Members,
  nonNullMember,
  toJson,
} from '../../../shared/json/json.ts'
import { shortStringOf } from '../../protocol/validation.ts'
import { toToolFields } from '../tools/choice.ts'
import type { HostedTools } from '../tools/declared-tools.ts'
import { createToolMapping, type ToolMapping } from '../tools/mapping.ts'
import { type InputOptions, toMessages } from './input.ts'
import { JsonPath, otherMembers, rejectMembers, requireString } from './request-json.ts'

export interface ChatRequestOptions {
  /** The caller's name of the model, for errors. Default: that of the request. */
  readonly model?: string | undefined
  /** What to do with tools that the upstream would run itself. Default `drop`. */
  readonly hostedTools?: HostedTools | undefined
  /** Decrypts reasoning, see `InputOptions`. Default: none can be decrypted. */
  readonly openReasoning?: InputOptions['openReasoning'] | undefined
}

/** A chat completion request, and what is needed to translate its response back. */
export interface TranslatedRequest {
  readonly json: Json
  readonly tools: ToolMapping
}

/**
 * Translates a Responses request to a chat completion request.
 *
 * Fields with another name or form are translated. Fields with the same name and unknown fields pass unchanged. Fields
 * about the response that the gateway itself creates (`store`, `metadata`) are left out, and so are fields that limit
 * or describe what never happens here, such as `max_tool_calls`, which counts calls of hosted tools. `withAdditions`
 * adds the fields about streaming later.
 *
 * Throws TextProblem 400 for the first field that a chat completion cannot express; `param` is its path. No field that
 * changes the response is dropped silently.
 */
export function* translateRequest(
  request: Json,
  { model, hostedTools = 'drop', openReasoning = () => undefined }: ChatRequestOptions = {},
): SteppedWork<TranslatedRequest> {
  const path = rejectUnsupported(request, model)
  const tools = yield* createToolMapping(request, path, hostedTools)
  const translated: Members = {
    model: request.get('model'),
    messages: composeArray(yield* toMessages(request, { path, tools, openReasoning })),
    max_tokens: nonNullMember(request, 'max_output_tokens'),
    ...(yield* toToolFields(request, path, tools)),
    ...toLogprobFields(request, path),
    ...toTextFields(request, path),
    ...toReasoningFields(request, path),
    stream_options: toStreamOptions(request, path),
  }
  const shared = Object.fromEntries(sharedFields.map((key) => [key, nonNullMember(request, key)]))
  const unknown = otherMembers(request, [...translatedFields, ...Object.keys(unsupportedFields), ...sharedFields])
  for (const key of Object.keys(unknown)) {
    // The request has the same setting twice, under the names of both protocols. Only one of them can be sent.
    if (Object.hasOwn(translated, key) && translated[key]) throw path.at(key).unsupported()
  }
  return { json: composeEditable({ ...translated, ...shared, ...unknown }), tools }
}

/** Throws TextProblem 400 for a field that a chat completion does not support. Returns the path of the request. */
export const rejectUnsupported = (request: Json, model = request.get('model')?.string() ?? ''): JsonPath => {
  const path = new JsonPath(model)
  for (const [key, harmless] of Object.entries(unsupportedFields)) rejectMembers(request, [key], path, harmless)
  return path
}

/** Fields that a chat completion does not support, and the values that have no effect, as JSON text. */
const unsupportedFields: Readonly<Record<string, readonly string[]>> = {
  previous_response_id: [],
  conversation: [],
  prompt: [],
  background: ['false'],
  context_management: ['[]'],
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
  'metadata',
  'client_metadata',
  'max_tool_calls',
  // The upstream itself rejects an input that is too long, or truncates it.
  'truncation',
]

/** Fields with the same meaning in both protocols. */
const sharedFields = [
  'stream',
  'temperature',
  'top_p',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'service_tier',
  'moderation',
]

/**
 * Values of `include` that need nothing: encrypted reasoning, see `StreamTranslatorOptions`, and details of items that
 * a bridged response does not have.
 */
const otherIncludes =
  /^(?:reasoning\.encrypted_content|message\.input_image\.image_url|(?:web_search|file_search|code_interpreter|computer)_call(?:_output)?\.[\w.]+)$/

/** Translates `include` and `top_logprobs`. Throws TextProblem 400 for an unknown value in `include`. */
const toLogprobFields = (request: Json, path: JsonPath): Members => {
  const include = nonNullMember(request, 'include')
  if (include && !include.isArray) throw path.at('include').invalid('must be an array')
  const included = include?.elements() ?? []
  let hasLogprobs = false
  included.forEach((entry, index) => {
    const name = shortStringOf(entry) ?? ''
    if (name === 'message.output_text.logprobs') hasLogprobs = true
    else if (!otherIncludes.test(name)) throw path.at('include').at(index).unsupported(name)
  })
  const topLogprobs = nonNullMember(request, 'top_logprobs')
  if (!hasLogprobs && (!topLogprobs || topLogprobs.value() === 0)) return {}
  return { logprobs: toJson(true), top_logprobs: topLogprobs }
}

/** Translates `text`: its format and verbosity. Throws TextProblem 400 for any other member. */
const toTextFields = (request: Json, path: JsonPath): Members => {
  const text = optionalObject(request, 'text', path)
  if (!text) return {}
  const textPath = path.at('text')
  rejectMembers(text, Object.keys(otherMembers(text, ['format', 'verbosity'])), textPath)
  const format = optionalObject(text, 'format', textPath)
  return {
    response_format: format && toResponseFormat(format, textPath.at('format')),
    verbosity: nonNullMember(text, 'verbosity'),
  }
}

const toResponseFormat = (format: Json, path: JsonPath): Json | undefined => {
  const type = requireString(format, 'type', path)
  switch (type.string()) {
    case 'text':
      return undefined
    case 'json_object':
      return format
    case 'json_schema': {
      // Some clients send the form of chat completions.
      if (format.get('json_schema')?.isObject) return format
      const schema = { name: requireString(format, 'name', path), strict: nonNullMember(format, 'strict') }
      return composeObject({
        type,
        json_schema: composeObject({ ...schema, ...otherMembers(format, ['type', 'name', 'strict']) }),
      })
    }
    default:
      throw path.at('type').unsupported(type.string())
  }
}

/**
 * Translates `reasoning`: its effort. The other known members are about the response, see `createStreamTranslator`, and
 * the input, see `toMessages`. Throws TextProblem 400 for any other member.
 */
const toReasoningFields = (request: Json, path: JsonPath): Members => {
  const reasoning = optionalObject(request, 'reasoning', path)
  if (!reasoning) return {}
  const reasoningPath = path.at('reasoning')
  rejectMembers(reasoning, ['context'], reasoningPath, ['"auto"', '"current_turn"', '"all_turns"'])
  rejectMembers(reasoning, ['mode'], reasoningPath, ['"standard"'])
  const known = ['effort', 'summary', 'generate_summary', 'context', 'mode']
  rejectMembers(reasoning, Object.keys(otherMembers(reasoning, known)), reasoningPath)
  return { reasoning_effort: nonNullMember(reasoning, 'effort') }
}

/** Translates `stream_options`, without `include_obfuscation`: the bridge itself pads its events. */
const toStreamOptions = (request: Json, path: JsonPath): Json | undefined => {
  const options = optionalObject(request, 'stream_options', path)
  const rest = options?.without((key) => key === 'include_obfuscation')
  return rest?.members().length === 0 ? undefined : rest
}

/** The member, if present. Throws TextProblem 400 unless it is an object. */
const optionalObject = (json: Json, key: string, path: JsonPath): Json | undefined => {
  const value = nonNullMember(json, key)
  if (value && !value.isObject) throw path.at(key).invalid('must be an object')
  return value
}
