import { composeObject, type Json, nonNullMember, quoteJson, toJson } from '../../../shared/json/json.ts'
import { type JsonPath, otherMembers, rejectMembers, requireString } from '../request/request-json.ts'
import type { Tool } from './declared-tools.ts'
import type { ToolMapping } from './mapping.ts'

/** Members of call items that a chat completion does not have, or has elsewhere. */
const callMembers = ['type', 'id', 'status', 'call_id', 'name', 'namespace', 'async', 'caller', 'execution']

/** Types of items that are calls of the caller's tools. */
export const isCall = (type: string): type is keyof typeof callReaders => Object.hasOwn(callReaders, type)

/** Translates an item that is a call to an element of `tool_calls`. Throws TextProblem 400 for an invalid item. */
export const toToolCall = (type: keyof typeof callReaders, item: Json, path: JsonPath, mapping: ToolMapping): Json => {
  rejectSpecialCall(item, path)
  const { kind, member, toArguments } = callReaders[type]
  const isNamed = kind === 'function' || kind === 'custom'
  const name = isNamed ? requireString(item, 'name', path) : undefined
  const tool = { kind, name: name?.string() ?? kind, namespace: nonNullMember(item, 'namespace')?.string() }
  return composeObject({
    id: requireString(item, 'call_id', path),
    type: toJson('function'),
    function: composeObject({ name: nameOf(tool, name, mapping), arguments: toArguments(item, path) }),
    ...otherMembers(item, [...callMembers, member]),
  })
}

/** The function name as JSON; the caller's own spelling if it is the same name. */
const nameOf = (tool: Tool, name: Json | undefined, mapping: ToolMapping): Json => {
  const functionName = mapping.functionNameOf(tool)
  return name?.string() === functionName ? name : toJson(functionName)
}

/** Throws TextProblem 400 for a call that chat completions do not have: asynchronous, or made by a program. */
export const rejectSpecialCall = (item: Json, path: JsonPath): void => {
  rejectMembers(item, ['async'], path, ['false'])
  const caller = nonNullMember(item, 'caller')
  if (caller?.get('type') && caller.get('type')?.string() !== 'direct') throw path.at('caller').unsupported()
}

interface CallReader {
  readonly kind: Tool['kind']
  /** The member with what the tool is called with. */
  readonly member: string
  readonly toArguments: (item: Json, path: JsonPath) => Json
}

const callReaders = {
  function_call: {
    kind: 'function',
    member: 'arguments',
    toArguments: (item, path) => requireString(item, 'arguments', path),
  },
  custom_tool_call: {
    kind: 'custom',
    member: 'input',
    toArguments: (item, path) => quoteJson(composeObject({ input: requireString(item, 'input', path) })),
  },
  local_shell_call: {
    kind: 'local_shell',
    member: 'action',
    toArguments(item, path) {
      const action = nonNullMember(item, 'action')
      if (!action?.isObject) throw path.at('action').invalid('must be an object')
      const isSet = (value: Json) => !value.is('null') && !(value.isObject && value.members().length === 0)
      return quoteJson(
        composeObject(
          Object.fromEntries(
            Object.entries(otherMembers(action, ['type'])).filter(([, value]) => value && isSet(value)),
          ),
        ),
      )
    },
  },
  tool_search_call: {
    kind: 'tool_search',
    member: 'arguments',
    toArguments: (item) => quoteJson(nonNullMember(item, 'arguments') ?? composeObject({})),
  },
} as const satisfies Readonly<Record<string, CallReader>>

/** The names of the functions that a search has found: those of its tools, and of the tools in their namespaces. */
export const functionNamesIn = (item: Json, mapping: ToolMapping, namespace?: string): readonly string[] =>
  (nonNullMember(item, 'tools')?.elements() ?? []).flatMap((tool) => {
    const name = tool.get('name')?.string()
    const type = tool.get('type')?.string()
    if (type === 'namespace') return functionNamesIn(tool, mapping, name)
    const kind = type === 'custom' ? 'custom' : 'function'
    return name === undefined ? [] : [mapping.functionNameOf({ kind, name, namespace })]
  })
