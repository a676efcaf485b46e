import { type Json, toJson } from '../../shared/json.ts'
import { array, given, type Members, object, others, refuse, stringAt } from './json-builder.ts'
import type { JsonPath } from './json-path.ts'

/**
 * `tools`, `tool_choice` and `parallel_tool_calls` as chat completions have them. Without a tool the latter two decide nothing and are left out, because
 * upstreams refuse them then; only a choice that needs a tool stays.
 *
 * Throws TextProblem 400 for tools that run elsewhere than at the caller.
 */
export const toToolFields = (request: Json, place: JsonPath): Members => {
  const tools = given(request, 'tools')
  const choice = given(request, 'tool_choice')
  if (tools && !tools.isArray) throw place.at('tools').invalid('must be an array')
  const chatTools = tools?.elements().map((tool, nth) => toTool(tool, place.at('tools').at(nth))) ?? []
  const chatChoice = choice && toToolChoice(choice, place.at('tool_choice'))
  if (chatTools.length > 0) {
    return {
      tools: array(chatTools),
      tool_choice: chatChoice,
      parallel_tool_calls: given(request, 'parallel_tool_calls'),
    }
  }
  const isIdle = choice?.string() === 'auto' || choice?.string() === 'none'
  return isIdle ? {} : { tool_choice: chatChoice }
}

/** Members of both kinds of tools that ask for more than a call by the model. */
const callers = ['allowed_callers', 'async', 'defer_loading']

const toTool = (tool: Json, place: JsonPath): Json => {
  if (!tool.isObject) throw place.invalid('must be an object')
  const type = stringAt(tool, 'type', place).string()
  if (type !== 'function' && type !== 'custom') throw place.at('type').unsupported(type)
  // Some callers write the tools of chat completions.
  if (tool.get(type)?.isObject) return tool
  refuse(tool, callers, place, ['false', '["direct"]'])
  const name = stringAt(tool, 'name', place)
  const description = given(tool, 'description')
  if (type === 'custom') {
    const format = given(tool, 'format')
    return object({
      type: toJson('custom'),
      custom: object({ name, description, format: format && toFormat(format) }),
      ...others(tool, ['type', 'name', 'description', 'format', ...callers]),
    })
  }
  refuse(tool, ['output_schema'], place)
  const [parameters, strict] = [given(tool, 'parameters'), given(tool, 'strict')]
  return object({
    type: toJson('function'),
    function: object({ name, description, parameters, strict }),
    ...others(tool, ['type', 'name', 'description', 'parameters', 'strict', 'output_schema', ...callers]),
  })
}

/** Format of a custom tool's input: a grammar is nested in chat completions. */
const toFormat = (format: Json): Json =>
  format.get('type')?.string() === 'grammar' && !format.get('grammar')
    ? object({ type: toJson('grammar'), grammar: format.without((key) => key === 'type') })
    : format

const toToolChoice = (choice: Json, place: JsonPath): Json => {
  if (choice.string() !== undefined) return choice
  if (!choice.isObject) throw place.invalid('must be a string or an object')
  const type = stringAt(choice, 'type', place).string()
  if (type !== 'allowed_tools') return toNamed(choice, place)
  if (choice.get('allowed_tools')?.isObject) return choice
  const tools = given(choice, 'tools')
  if (!tools?.isArray) throw place.at('tools').invalid('must be an array')
  const named = tools.elements().map((tool, nth) => toNamed(tool, place.at('tools').at(nth)))
  return object({
    type: toJson('allowed_tools'),
    allowed_tools: object({ mode: given(choice, 'mode'), tools: array(named) }),
    ...others(choice, ['type', 'mode', 'tools']),
  })
}

/** The name of a tool, which chat completions nest. */
const toNamed = (tool: Json, place: JsonPath): Json => {
  if (!tool.isObject) throw place.invalid('must be an object')
  const type = stringAt(tool, 'type', place)
  const kind = type.string() ?? ''
  if (kind !== 'function' && kind !== 'custom') throw place.at('type').unsupported(kind)
  if (tool.get(kind)?.isObject) return tool
  return object({ type, [kind]: object({ name: stringAt(tool, 'name', place) }), ...others(tool, ['type', 'name']) })
}
