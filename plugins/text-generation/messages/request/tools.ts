import { Pace, type SteppedWork } from '../../../shared/background/turns.ts'
import { composeArray, composeObject, type Json, type Members, toJson } from '../../../shared/json/json.ts'
import { freeFunctionName } from '../../chat/function-names.ts'
import {
  checkArray,
  checkObject,
  elementsOf,
  fieldOf,
  isPresent,
  memberOf,
  type PresentField,
  readBoolean,
  requireField,
  shortStringOf,
} from '../../protocol/validation.ts'
import { blockType, stringIn, unsupported } from './content.ts'

/**
 * A tool that is no function of the caller, such as `web_search_20250305`: a model of another vendor does not know it.
 */
export interface HostedTool {
  /** Path of its type. */
  readonly param: string
  readonly type: string
}

export interface ChatTools {
  /**
   * Fields of the chat request. Without functions there is no choice, unless it demands one: upstreams reject it then.
   */
  readonly fields: Members
  readonly hosted: readonly HostedTool[]
  /** The choice, if it demands a hosted tool. */
  readonly demanded: HostedTool | undefined
  /** The first hosted tool, if there is no other tool: then the request is about it. */
  readonly only: HostedTool | undefined
}

/** Translates `tools` and `tool_choice`, in steps. Throws TextProblem 400 for a malformed one. */
export function* toChatTools(request: Json, names: ToolNames): SteppedWork<ChatTools> {
  const tools = fieldOf(request, 'tools')
  checkArray(tools)
  const hosted: HostedTool[] = []
  const hostedNames = new Set<string | undefined>()
  const chatTools: Json[] = []
  const pace = new Pace()
  for (const tool of isPresent(tools) ? elementsOf(tools) : []) {
    if (pace.isDue()) yield
    checkObject(tool)
    const type = memberOf(tool, 'type')
    const typeName = isPresent(type) ? (shortStringOf(type.json) ?? '') : 'custom'
    if (typeName === 'custom') chatTools.push(toFunction(tool, names))
    else {
      hosted.push({ param: type.param, type: typeName })
      hostedNames.add(tool.json.get('name')?.string())
    }
  }
  const choice = fieldOf(request, 'tool_choice')
  const only = chatTools.length === 0 ? hosted[0] : undefined
  if (!isPresent(choice)) return { fields: toolField(chatTools), hosted, demanded: undefined, only }
  const { type, name, ...chosen } = readChoice(choice, names)
  const demands =
    type === 'tool' ? hostedNames.has(name) : type === 'any' && chatTools.length === 0 && hosted.length > 0
  const isSent = chatTools.length > 0 || type === 'any' || type === 'tool'
  return {
    fields: { ...toolField(chatTools), ...(isSent && chosen.fields) },
    hosted,
    demanded: demands ? { param: choice.param, type: name ?? type } : undefined,
    only,
  }
}

const toolField = (tools: readonly Json[]): Members => (tools.length === 0 ? {} : { tools: composeArray(tools) })

const toFunction = (tool: PresentField, names: ToolNames): Json => {
  const schema = requireField(memberOf(tool, 'input_schema'))
  checkObject(schema)
  return composeObject({
    type: toJson('function'),
    function: composeObject({
      name: toFunctionName(stringIn(tool, 'name'), names),
      description: memberOf(tool, 'description').json,
      parameters: schema.json,
      strict: memberOf(tool, 'strict').json,
    }),
  })
}

/** The name of a tool's function. It is the same text in most cases. */
export const toFunctionName = (name: Json, names: ToolNames): Json => {
  const text = name.string() ?? ''
  const functionName = names.functionNameOf(text)
  return functionName === text ? name : toJson(functionName)
}

interface ToolChoice {
  readonly type: string
  /** Only of type `tool`. */
  readonly name?: string | undefined
  readonly fields: Members
}

const readChoice = (choice: PresentField, names: ToolNames): ToolChoice => {
  const type = blockType(choice)
  const single = readBoolean(memberOf(choice, 'disable_parallel_tool_use'))
  const parallel: Members = { parallel_tool_calls: single ? toJson(false) : undefined }
  switch (type) {
    case 'auto':
    case 'none':
      return { type, fields: { tool_choice: toJson(type), ...parallel } }
    case 'any':
      return { type, fields: { tool_choice: toJson('required'), ...parallel } }
    case 'tool': {
      const name = stringIn(choice, 'name')
      const chosen = composeObject({
        type: toJson('function'),
        function: composeObject({ name: toFunctionName(name, names) }),
      })
      return { type, name: name.string(), fields: { tool_choice: chosen, ...parallel } }
    }
    default:
      return unsupported(`${choice.param}.type`, type)
  }
}

/**
 * The names of the functions for the caller's tools. A name is the tool's own, unless chat completions do not allow it:
 * names of Anthropic's API have up to 128 characters, and agents make long ones for the tools of plugins.
 */
export class ToolNames {
  readonly #functionNames = new Map<string, string>()
  readonly #taken = new Set<string>()
  readonly #changed = new Map<string, string>()

  functionNameOf(name: string): string {
    const known = this.#functionNames.get(name)
    if (known !== undefined) return known
    const functionName = freeFunctionName({ kind: 'function', name }, this.#taken)
    this.#functionNames.set(name, functionName)
    this.#taken.add(functionName)
    if (functionName !== name) this.#changed.set(functionName, name)
    return functionName
  }

  /** The names of tools by the names of their functions, where they differ. */
  get changed(): ReadonlyMap<string, string> {
    return this.#changed
  }
}
