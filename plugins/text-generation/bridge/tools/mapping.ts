import { Pace, type SteppedWork } from '../../../shared/background/turns.ts'
import { entriesPerTurn, type Json, nonNullMember } from '../../../shared/json/json.ts'
import { freeFunctionName, toolKey } from '../../chat/function-names.ts'
import type { JsonPath } from '../request/request-json.ts'
import { type DeclaredTool, type HostedTools, readTools, type Tool } from './declared-tools.ts'

/** The tools of one request: how the caller knows them, and as which functions the upstream knows them. */
export interface ToolMapping {
  /** In the order of the request, each tool once. */
  readonly tools: readonly MappedTool[]
  readonly hostedTools: HostedTools
  /** Types of the hosted tools that were dropped, each once. */
  readonly dropped: ReadonlySet<string>
  /** The tool of the request; without a namespace, the first one with that name. */
  find(tool: Tool): Tool | undefined
  /**
   * The name of a tool's function. A tool that the request does not declare, because it is one of an earlier turn, gets
   * a name too.
   */
  functionNameOf(tool: Tool): string
  /** The tool that a function name stands for. An unknown name is the name of a function. */
  toolOf(functionName: string): Tool
}

/** A tool of the request and its function. */
export interface MappedTool extends DeclaredTool {
  readonly functionName: string
}

/**
 * Reads the tools of a Responses request, also those that its input adds, and names a function for each, in steps.
 *
 * A function keeps its name where chat completions allow it, see `freeFunctionName`.
 *
 * Throws TextProblem 400 for a tool that is invalid or that chat completions cannot express.
 */
export function* createToolMapping(request: Json, path: JsonPath, hostedTools: HostedTools): SteppedWork<ToolMapping> {
  const dropped = new Set<string>()
  const declared = new Map<string, DeclaredTool>()
  const pace = new Pace()
  for (const { tools, path: at } of yield* toolLists(request, path)) {
    for (const tool of yield* readTools(tools, at, { hostedTools, dropped, pace })) declared.set(toolKey(tool), tool)
  }
  const names = new Map<string, string>()
  const byName = new Map<string, Tool>()
  const nameFor = (tool: Tool): string => {
    const key = toolKey(tool)
    const known = names.get(key)
    if (known !== undefined) return known
    const name = freeFunctionName(tool, byName)
    names.set(key, name)
    byName.set(name, { kind: tool.kind, name: tool.name, namespace: tool.namespace })
    return name
  }
  // Plain functions keep their names, wherever they stand in the list.
  for (const tool of declared.values()) {
    if (pace.isDue()) yield
    if (isPlainFunction(tool)) nameFor(tool)
  }
  const tools: MappedTool[] = []
  const firstByName = new Map<string, Tool>()
  for (const declaredTool of declared.values()) {
    if (pace.isDue()) yield
    const tool = { ...declaredTool, functionName: nameFor(declaredTool) }
    tools.push(tool)
    const key = toolKey({ kind: tool.kind, name: tool.name })
    if (!firstByName.has(key)) firstByName.set(key, tool)
  }
  return {
    tools,
    hostedTools,
    find: (tool) =>
      declared.get(toolKey(tool)) ?? (tool.namespace === undefined ? firstByName.get(toolKey(tool)) : undefined),
    dropped,
    functionNameOf: nameFor,
    toolOf: createLookup(byName),
  }
}

/** `tools` of the request, and those of input items: tools that a developer adds, and tools that a search has found. */
function* toolLists(request: Json, path: JsonPath): SteppedWork<{ tools: Json; path: JsonPath }[]> {
  const tools = nonNullMember(request, 'tools')
  const lists = tools ? [{ tools, path: path.at('tools') }] : []
  const pace = new Pace(entriesPerTurn)
  for (const [index, item] of (nonNullMember(request, 'input')?.elements() ?? []).entries()) {
    if (pace.isDue()) yield
    const found = itemsWithTools.includes(item.get('type')?.string()) && nonNullMember(item, 'tools')
    if (found) lists.push({ tools: found, path: path.at('input').at(index).at('tools') })
  }
  // What follows has no steps up to the first item.
  yield
  return lists
}

const itemsWithTools: readonly unknown[] = ['additional_tools', 'tool_search_output']

const isPlainFunction = ({ kind, namespace }: Tool): boolean => kind === 'function' && namespace === undefined

/** A function of its own: an open stream keeps it, but not the definitions of the tools. */
const createLookup = (byName: ReadonlyMap<string, Tool>) => (name: string) =>
  byName.get(name) ?? onlyToolNamed(name, [...byName.values()]) ?? { kind: 'function' as const, name }

/** Models sometimes call a tool of a namespace by its plain name. */
const onlyToolNamed = (name: string, tools: readonly Tool[]): Tool | undefined => {
  const [tool, ...others] = tools.filter((each) => each.name === name)
  return others.length === 0 ? tool : undefined
}
