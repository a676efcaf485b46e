import { type Json, toJson } from '../../shared/json.ts'
import {
  array,
  type JsonPath,
  type Members,
  object,
  optional,
  otherMembers,
  rejectMembers,
  requireString,
} from './request-json.ts'

/**
 * Translates `tools`, `tool_choice` and `parallel_tool_calls`.
 *
 * Upstreams reject the latter two without tools. So both are left out then, except for a choice that requires a tool.
 *
 * Throws TextProblem 400 for tools that the upstream would run itself.
 */
export const toToolFields = (request: Json, path: JsonPath): Members => {
  const tools = optional(request, 'tools')
  const choice = optional(request, 'tool_choice')
  if (tools && !tools.isArray) throw path.at('tools').invalid('must be an array')
  const chatTools = tools?.elements().map((tool, index) => toTool(tool, path.at('tools').at(index))) ?? []
  const chatChoice = choice && toToolChoice(choice, path.at('tool_choice'))
  if (chatTools.length > 0) {
    return {
      tools: array(chatTools),
      tool_choice: chatChoice,
      parallel_tool_calls: optional(request, 'parallel_tool_calls'),
    }
  }
  const needsNoTool = choice?.string() === 'auto' || choice?.string() === 'none'
  return needsNoTool ? {} : { tool_choice: chatChoice }
}

/** Members of tools for features that chat completions do not have. */
const unsupportedMembers = ['allowed_callers', 'async', 'defer_loading']

const toTool = (tool: Json, path: JsonPath): Json => {
  if (!tool.isObject) throw path.invalid('must be an object')
  const type = requireString(tool, 'type', path).string()
  if (type !== 'function' && type !== 'custom') throw path.at('type').unsupported(type)
  // Some clients send tools in the form of chat completions.
  if (tool.get(type)?.isObject) return tool
  rejectMembers(tool, unsupportedMembers, path, ['false', '["direct"]'])
  const name = requireString(tool, 'name', path)
  const description = optional(tool, 'description')
  if (type === 'custom') {
    const format = optional(tool, 'format')
    return object({
      type: toJson('custom'),
      custom: object({ name, description, format: format && toFormat(format) }),
      ...otherMembers(tool, ['type', 'name', 'description', 'format', ...unsupportedMembers]),
    })
  }
  rejectMembers(tool, ['output_schema'], path)
  const [parameters, strict] = [optional(tool, 'parameters'), optional(tool, 'strict')]
  return object({
    type: toJson('function'),
    function: object({ name, description, parameters, strict }),
    ...otherMembers(tool, [
      'type',
      'name',
      'description',
      'parameters',
      'strict',
      'output_schema',
      ...unsupportedMembers,
    ]),
  })
}

/** Translates the format of a custom tool's input. Chat completions nest a grammar. */
const toFormat = (format: Json): Json =>
  format.get('type')?.string() === 'grammar' && !format.get('grammar')
    ? object({ type: toJson('grammar'), grammar: format.without((key) => key === 'type') })
    : format

const toToolChoice = (choice: Json, path: JsonPath): Json => {
  if (choice.string() !== undefined) return choice
  if (!choice.isObject) throw path.invalid('must be a string or an object')
  const type = requireString(choice, 'type', path).string()
  if (type !== 'allowed_tools') return toNamedTool(choice, path)
  if (choice.get('allowed_tools')?.isObject) return choice
  const tools = optional(choice, 'tools')
  if (!tools?.isArray) throw path.at('tools').invalid('must be an array')
  const namedTools = tools.elements().map((tool, index) => toNamedTool(tool, path.at('tools').at(index)))
  return object({
    type: toJson('allowed_tools'),
    allowed_tools: object({ mode: optional(choice, 'mode'), tools: array(namedTools) }),
    ...otherMembers(choice, ['type', 'mode', 'tools']),
  })
}

/** Translates the choice of one tool. Chat completions nest its name. */
const toNamedTool = (tool: Json, path: JsonPath): Json => {
  if (!tool.isObject) throw path.invalid('must be an object')
  const type = requireString(tool, 'type', path)
  const kind = type.string() ?? ''
  if (kind !== 'function' && kind !== 'custom') throw path.at('type').unsupported(kind)
  if (tool.get(kind)?.isObject) return tool
  return object({
    type,
    [kind]: object({ name: requireString(tool, 'name', path) }),
    ...otherMembers(tool, ['type', 'name']),
  })
}
