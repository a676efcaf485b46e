import { type Json, toJson } from '../../shared/json.ts'
import { array, type Members, object } from '../bridge/request-json.ts'
import {
  checkArray,
  checkObject,
  elementsOf,
  fieldOf,
  isPresent,
  type PresentField,
  readBoolean,
  requireField,
  shortStringOf,
} from '../validation.ts'
import { blockType, stringIn, unsupported } from './content.ts'

/** A tool that is no function of the caller, such as `web_search_20250305`: a model of another vendor does not know it. */
export interface HostedTool {
  /** Path of its type. */
  readonly param: string
  readonly type: string
}

export interface ChatTools {
  /** Fields of the chat request. None without functions: upstreams reject a choice of tools then. */
  readonly fields: Members
  readonly hosted: readonly HostedTool[]
}

/** Translates `tools` and `tool_choice`. Throws TextProblem 400 for a malformed one. */
export const toChatTools = (request: Json): ChatTools => {
  const tools = fieldOf(request, 'tools')
  checkArray(tools)
  const hosted: HostedTool[] = []
  const functions: Json[] = []
  const names = new Set<string | undefined>()
  for (const tool of isPresent(tools) ? elementsOf(tools) : []) {
    checkObject(tool)
    const type = fieldOf(tool.json, 'type', tool.param)
    const typeName = isPresent(type) ? (shortStringOf(type.json) ?? '') : 'custom'
    if (typeName === 'custom') {
      functions.push(toFunction(tool))
      names.add(tool.json.get('name')?.string())
    } else hosted.push({ param: type.param, type: typeName })
  }
  const choice = fieldOf(request, 'tool_choice')
  const choiceFields = isPresent(choice) ? toChoiceFields(choice, names) : {}
  return { fields: functions.length === 0 ? {} : { tools: array(functions), ...choiceFields }, hosted }
}

const toFunction = (tool: PresentField): Json => {
  const { json, param } = tool
  const schema = requireField(fieldOf(json, 'input_schema', param))
  checkObject(schema)
  return object({
    type: toJson('function'),
    function: object({
      name: stringIn(tool, 'name'),
      description: fieldOf(json, 'description', param).json,
      parameters: schema.json,
      strict: fieldOf(json, 'strict', param).json,
    }),
  })
}

/** @param names of the functions. A choice of any other tool is left out: it was a tool that the gateway has left out. */
const toChoiceFields = (choice: PresentField, names: ReadonlySet<string | undefined>): Members => {
  const type = blockType(choice)
  const parallel = readBoolean(fieldOf(choice.json, 'disable_parallel_tool_use', choice.param))
  const fields: Members = { parallel_tool_calls: parallel ? toJson(false) : undefined }
  switch (type) {
    case 'auto':
    case 'none':
      return { tool_choice: toJson(type), ...fields }
    case 'any':
      return { tool_choice: toJson('required'), ...fields }
    case 'tool': {
      const name = stringIn(choice, 'name')
      const named = object({ type: toJson('function'), function: object({ name }) })
      return { tool_choice: names.has(name.string()) ? named : undefined, ...fields }
    }
    default:
      return unsupported(`${choice.param}.type`, type)
  }
}
