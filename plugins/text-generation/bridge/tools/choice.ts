import { Pace, type SteppedWork } from '../../../shared/background/turns.ts'
import {
  composeArray,
  composeObject,
  type Json,
  type Members,
  nonNullMember,
  toJson,
} from '../../../shared/json/json.ts'
import { type JsonPath, requireString } from '../request/request-json.ts'
import type { Tool } from './declared-tools.ts'
import type { MappedTool, ToolMapping } from './mapping.ts'

/**
 * Translates `tools`, `tool_choice` and `parallel_tool_calls`, in steps.
 *
 * Upstreams reject the latter two without tools. So both are left out then, except for a choice that requires a tool.
 *
 * Throws TextProblem 400 for a choice that is invalid, or that requires a hosted tool.
 */
export function* toToolFields(request: Json, path: JsonPath, mapping: ToolMapping): SteppedWork<Members> {
  const choice = nonNullMember(request, 'tool_choice')
  const { tools, toolChoice } = choice
    ? readChoice(choice, path.at('tool_choice'), mapping)
    : { tools: mapping.tools, toolChoice: undefined }
  if (tools.length > 0) {
    const definitions: Json[] = []
    const pace = new Pace()
    for (const { toDefinition, functionName } of tools) {
      if (pace.isDue()) yield
      definitions.push(toDefinition(functionName))
    }
    return {
      tools: composeArray(definitions),
      tool_choice: toolChoice,
      parallel_tool_calls: nonNullMember(request, 'parallel_tool_calls'),
    }
  }
  const needsNoTool = ['auto', 'none'].includes(toolChoice?.string() ?? '')
  return needsNoTool ? {} : { tool_choice: toolChoice }
}

/** The tools that the model may call, and how it chooses among them. */
interface Choice {
  readonly tools: readonly MappedTool[]
  readonly toolChoice: Json
}

const readChoice = (choice: Json, path: JsonPath, mapping: ToolMapping): Choice => {
  const { tools } = mapping
  if (choice.isString) return { tools, toolChoice: choice }
  if (!choice.isObject) throw path.invalid('must be a string or an object')
  const type = requireString(choice, 'type', path).string() ?? ''
  if (type === 'allowed_tools') return readAllowedTools(choice, path, mapping)
  // Some clients send the form of chat completions.
  if (choice.get(type)?.isObject) return { tools, toolChoice: choice }
  const kind = kinds.find((each) => each === type)
  if (!kind) throw path.at('type').unsupported(type)
  const name = mapping.functionNameOf(toTool(choice, kind, path, mapping))
  return {
    tools,
    toolChoice: composeObject({ type: toJson('function'), function: composeObject({ name: toJson(name) }) }),
  }
}

/** Few upstreams know this choice. Leaving out the other tools has the same effect everywhere. */
const readAllowedTools = (choice: Json, path: JsonPath, mapping: ToolMapping): Choice => {
  if (choice.get('allowed_tools')?.isObject) return { tools: mapping.tools, toolChoice: choice }
  const entries = nonNullMember(choice, 'tools')
  if (!entries?.isArray) throw path.at('tools').invalid('must be an array')
  const allowed: Allowed = { functionNames: new Set(), namespaces: new Set() }
  entries.elements().forEach((entry, index) => {
    addAllowed(allowed, entry, path.at('tools').at(index), mapping)
  })
  const tools = mapping.tools.filter(
    ({ functionName, namespace }) =>
      allowed.functionNames.has(functionName) || (namespace !== undefined && allowed.namespaces.has(namespace)),
  )
  const toolChoice = nonNullMember(choice, 'mode') ?? toJson('auto')
  if (tools.length === 0 && toolChoice.string() === 'required') throw path.at('tools').unsupported()
  return { tools, toolChoice }
}

interface Allowed {
  readonly functionNames: Set<string>
  readonly namespaces: Set<string>
}

const addAllowed = (allowed: Allowed, entry: Json, path: JsonPath, mapping: ToolMapping): void => {
  if (!entry.isObject) throw path.invalid('must be an object')
  const type = requireString(entry, 'type', path).string() ?? ''
  const kind = kinds.find((each) => each === type)
  if (type === 'namespace') allowed.namespaces.add(requireString(entry, 'name', path).string() ?? '')
  else if (kind) allowed.functionNames.add(mapping.functionNameOf(toTool(entry, kind, path, mapping)))
  else if (mapping.hostedTools === 'reject') throw path.at('type').unsupported(type)
}

const kinds = ['function', 'custom', 'local_shell', 'tool_search'] as const

/** The tool that a choice names. It may omit the namespace. */
const toTool = (entry: Json, kind: Tool['kind'], path: JsonPath, mapping: ToolMapping): Tool => {
  if (kind !== 'function' && kind !== 'custom') return { kind, name: kind }
  const nested = nonNullMember(entry, kind)
  const name = requireString(nested?.isObject ? nested : entry, 'name', path).string() ?? ''
  const namespace = nonNullMember(entry, 'namespace')?.string()
  return mapping.find({ kind, name, namespace }) ?? { kind, name, namespace }
}
