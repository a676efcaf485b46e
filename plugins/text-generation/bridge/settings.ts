import { type Json, toJson } from '../../shared/json.ts'
import { given, type Members, object, others, refuse, stringAt } from './json-builder.ts'
import type { JsonPath } from './json-path.ts'

/** Probabilities of tokens, wherever they are asked for. Throws TextProblem 400 for anything else in `include`. */
export const toLogprobs = (request: Json, place: JsonPath): Members => {
  const include = given(request, 'include')
  if (include && !include.isArray) throw place.at('include').invalid('must be an array')
  const wanted = include?.elements() ?? []
  wanted.forEach((entry, nth) => {
    if (entry.string() !== 'message.output_text.logprobs') throw place.at('include').at(nth).unsupported(entry.string())
  })
  const most = given(request, 'top_logprobs')
  if (wanted.length === 0 && (!most || most.value() === 0)) return {}
  return { logprobs: toJson(true), top_logprobs: most }
}

/** The form of the answer, and how long-winded it is. Throws TextProblem 400 for anything else in `text`. */
export const toText = (request: Json, place: JsonPath): Members => {
  const text = objectAt(request, 'text', place)
  if (!text) return {}
  const at = place.at('text')
  refuse(text, Object.keys(others(text, ['format', 'verbosity'])), at)
  const format = objectAt(text, 'format', at)
  return { response_format: format && toResponseFormat(format, at.at('format')), verbosity: given(text, 'verbosity') }
}

const toResponseFormat = (format: Json, place: JsonPath): Json | undefined => {
  const type = stringAt(format, 'type', place)
  switch (type.string()) {
    case 'text':
      return undefined
    case 'json_object':
      return format
    case 'json_schema': {
      // Some callers write the format of chat completions.
      if (format.get('json_schema')?.isObject) return format
      const schema = { name: stringAt(format, 'name', place), strict: given(format, 'strict') }
      return object({ type, json_schema: object({ ...schema, ...others(format, ['type', 'name', 'strict']) }) })
    }
    default:
      throw place.at('type').unsupported(type.string())
  }
}

/** How hard the model is to think. Throws TextProblem 400 for a summary of its thoughts, which chat completions cannot be asked for. */
export const toReasoning = (request: Json, place: JsonPath): Members => {
  const reasoning = objectAt(request, 'reasoning', place)
  if (!reasoning) return {}
  const at = place.at('reasoning')
  // `auto` is as much as the model has to offer: here, none.
  refuse(reasoning, ['summary', 'generate_summary', 'context'], at, ['"auto"'])
  refuse(reasoning, ['mode'], at, ['"standard"'])
  const known = ['effort', 'summary', 'generate_summary', 'context', 'mode']
  refuse(reasoning, Object.keys(others(reasoning, known)), at)
  return { reasoning_effort: given(reasoning, 'effort') }
}

/** Options of the stream that upstreams know. The bridge's own events are never padded, so that padding cannot be asked for. */
export const toStreamOptions = (request: Json, place: JsonPath): Json | undefined => {
  const options = objectAt(request, 'stream_options', place)
  if (!options) return undefined
  refuse(options, ['include_obfuscation'], place.at('stream_options'), ['false'])
  const rest = options.without((key) => key === 'include_obfuscation')
  return rest.members().length === 0 ? undefined : rest
}

/** Throws TextProblem 400 for a member that is no object. */
const objectAt = (json: Json, key: string, place: JsonPath): Json | undefined => {
  const value = given(json, key)
  if (value && !value.isObject) throw place.at(key).invalid('must be an object')
  return value
}
