import { type Json, toJson } from '../../shared/json.ts'
import { type Members, object, optional, otherMembers, reject, requireString } from './json-builder.ts'
import type { JsonPath } from './json-path.ts'

/** Translates `include` and `top_logprobs`. Throws TextProblem 400 for anything in `include` but log probabilities. */
export const toLogprobFields = (request: Json, path: JsonPath): Members => {
  const include = optional(request, 'include')
  if (include && !include.isArray) throw path.at('include').invalid('must be an array')
  const included = include?.elements() ?? []
  included.forEach((entry, index) => {
    if (entry.string() !== 'message.output_text.logprobs')
      throw path.at('include').at(index).unsupported(entry.string())
  })
  const topLogprobs = optional(request, 'top_logprobs')
  if (included.length === 0 && (!topLogprobs || topLogprobs.value() === 0)) return {}
  return { logprobs: toJson(true), top_logprobs: topLogprobs }
}

/** Translates `text`: its format and verbosity. Throws TextProblem 400 for any other member. */
export const toTextFields = (request: Json, path: JsonPath): Members => {
  const text = optionalObject(request, 'text', path)
  if (!text) return {}
  const textPath = path.at('text')
  reject(text, Object.keys(otherMembers(text, ['format', 'verbosity'])), textPath)
  const format = optionalObject(text, 'format', textPath)
  return {
    response_format: format && toResponseFormat(format, textPath.at('format')),
    verbosity: optional(text, 'verbosity'),
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
      const schema = { name: requireString(format, 'name', path), strict: optional(format, 'strict') }
      return object({ type, json_schema: object({ ...schema, ...otherMembers(format, ['type', 'name', 'strict']) }) })
    }
    default:
      throw path.at('type').unsupported(type.string())
  }
}

/** Translates `reasoning`: its effort. Throws TextProblem 400 for any other member, such as a summary, which chat completions cannot request. */
export const toReasoningFields = (request: Json, path: JsonPath): Members => {
  const reasoning = optionalObject(request, 'reasoning', path)
  if (!reasoning) return {}
  const reasoningPath = path.at('reasoning')
  // `auto` leaves the choice to the upstream. Here that means none.
  reject(reasoning, ['summary', 'generate_summary', 'context'], reasoningPath, ['"auto"'])
  reject(reasoning, ['mode'], reasoningPath, ['"standard"'])
  const known = ['effort', 'summary', 'generate_summary', 'context', 'mode']
  reject(reasoning, Object.keys(otherMembers(reasoning, known)), reasoningPath)
  return { reasoning_effort: optional(reasoning, 'effort') }
}

/** Translates `stream_options`. Throws TextProblem 400 for `include_obfuscation`: the bridge does not pad its events. */
export const toStreamOptions = (request: Json, path: JsonPath): Json | undefined => {
  const options = optionalObject(request, 'stream_options', path)
  if (!options) return undefined
  reject(options, ['include_obfuscation'], path.at('stream_options'), ['false'])
  const rest = options.without((key) => key === 'include_obfuscation')
  return rest.members().length === 0 ? undefined : rest
}

/** The member, if present. Throws TextProblem 400 unless it is an object. */
const optionalObject = (json: Json, key: string, path: JsonPath): Json | undefined => {
  const value = optional(json, key)
  if (value && !value.isObject) throw path.at(key).invalid('must be an object')
  return value
}
