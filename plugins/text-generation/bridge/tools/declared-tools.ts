import type { Pace, SteppedWork } from '../../../shared/background/turns.ts'
import { composeObject, type Json, type Members, nonNullMember, toJson } from '../../../shared/json/json.ts'
import { type JsonPath, otherMembers, rejectMembers, requireString } from '../request/request-json.ts'

/** A tool as the caller knows it. */
export interface Tool {
  readonly kind: ToolKind
  readonly name: string
  /** The group of tools that it belongs to. The caller receives it beside the name. */
  readonly namespace?: string | undefined
}

/** All kinds of tools that the caller runs itself. Chat completions know all of them as functions. */
export type ToolKind = 'function' | 'custom' | 'local_shell' | 'tool_search'

/** What to do with tools that an upstream with a Responses API would run itself, such as `web_search`. */
export type HostedTools = 'reject' | 'drop'

/** A tool that the request declares. */
export interface DeclaredTool extends Tool {
  /** Its definition for a chat completion. */
  readonly toDefinition: (functionName: string) => Json
}

/** What reading the tools of a request takes. */
export interface ToolOptions {
  readonly hostedTools: HostedTools
  /** Receives the types of hosted tools that are dropped. */
  readonly dropped: Set<string>
  readonly pace: Pace
}

/**
 * Reads a list of tools, in steps. The tools of a namespace become tools of the list.
 *
 * Throws TextProblem 400 for an invalid tool, and unless they are dropped, for tools that the upstream would run
 * itself.
 */
export function* readTools(
  tools: Json,
  path: JsonPath,
  { hostedTools, dropped, pace }: ToolOptions,
): SteppedWork<readonly DeclaredTool[]> {
  if (!tools.isArray) throw path.invalid('must be an array')
  const declared: DeclaredTool[] = []
  for (const [index, tool] of tools.elements().entries()) {
    if (pace.isDue()) yield
    const at = path.at(index)
    if (!tool.isObject) throw at.invalid('must be an object')
    const type = requireString(tool, 'type', at).string() ?? ''
    switch (type) {
      case 'function':
      case 'custom':
        declared.push(readTool(tool, type, at))
        break
      case 'namespace':
        yield* readNamespace(tool, at, declared, pace)
        break
      case 'local_shell':
        declared.push({
          kind: type,
          name: type,
          toDefinition: (name) => toFunction({ name: toJson(name), ...localShell }),
        })
        break
      case 'tool_search':
        // All tools that a server would find are sent at once, so only a client has anything to search.
        if (nonNullMember(tool, 'execution')?.string() === 'client') declared.push(readToolSearch(tool))
        break
      default:
        if (hostedTools === 'reject') throw at.at('type').unsupported(type)
        dropped.add(type)
    }
  }
  return declared
}

function* readNamespace(group: Json, path: JsonPath, declared: DeclaredTool[], pace: Pace): SteppedWork<void> {
  const namespace = requireString(group, 'name', path).string() ?? ''
  const description = nonNullMember(group, 'description')?.string() ?? ''
  const tools = nonNullMember(group, 'tools')
  if (!tools?.isArray) throw path.at('tools').invalid('must be an array')
  for (const [index, tool] of tools.elements().entries()) {
    if (pace.isDue()) yield
    const at = path.at('tools').at(index)
    if (!tool.isObject) throw at.invalid('must be an object')
    const type = requireString(tool, 'type', at).string() ?? ''
    if (type !== 'function' && type !== 'custom') throw at.at('type').unsupported(type)
    // Once is enough for the model, because all functions of the group have the same prefix.
    const about = index === 0 && description !== '' ? `[${namespace}: ${description}]` : ''
    declared.push({ ...readTool(tool, type, at, about), namespace })
  }
}

/** Members of tools that do not matter here: tools are not loaded on demand, and no program calls them. */
const unusedMembers = ['defer_loading', 'allowed_callers', 'output_schema', 'async']

const readTool = (tool: Json, kind: 'function' | 'custom', path: JsonPath, about = ''): DeclaredTool => {
  // Some clients send tools in the form of chat completions.
  const nested = nonNullMember(tool, kind)
  if (nested?.isObject) return { kind: 'function', name: nested.get('name')?.string() ?? '', toDefinition: () => tool }
  rejectMembers(tool, ['async'], path, ['false'])
  const callers = nonNullMember(tool, 'allowed_callers')
  if (callers && !callers.elements().some((caller) => caller.string() === 'direct'))
    throw path.at('allowed_callers').unsupported()
  const name = requireString(tool, 'name', path)
  const nameFor = (functionName: string) => (functionName === name.string() ? name : toJson(functionName))
  const [description, parameters, strict] = ['description', 'parameters', 'strict'].map((key) =>
    nonNullMember(tool, key),
  )
  if (kind === 'custom') {
    const text = [about, description?.string() ?? '', formatText(nonNullMember(tool, 'format'))]
    const rest = otherMembers(tool, ['type', 'name', 'description', 'format', ...unusedMembers])
    return {
      kind,
      name: name.string() ?? '',
      toDefinition: (functionName) =>
        toFunction({ name: nameFor(functionName), description: joinText(text), parameters: inputParameters }, rest),
    }
  }
  const text = about === '' ? description : joinText([about, description?.string() ?? ''])
  const rest = otherMembers(tool, ['type', 'name', 'description', 'parameters', 'strict', ...unusedMembers])
  return {
    kind,
    name: name.string() ?? '',
    toDefinition: (functionName) =>
      toFunction({ name: nameFor(functionName), description: text, parameters, strict }, rest),
  }
}

const readToolSearch = (tool: Json): DeclaredTool => {
  const [description, parameters] = ['description', 'parameters'].map((key) => nonNullMember(tool, key))
  return {
    kind: 'tool_search',
    name: 'tool_search',
    toDefinition: (name) => toFunction({ name: toJson(name), description, parameters }),
  }
}

const toFunction = (members: Members, rest: Members = {}): Json =>
  composeObject({ type: toJson('function'), function: composeObject(members), ...rest })

const joinText = (texts: readonly string[]): Json | undefined => {
  const text = texts.filter((each) => each !== '').join('\n\n')
  return text === '' ? undefined : toJson(text)
}

/** Tells the model the grammar of a custom tool's input, which a function cannot enforce. */
const formatText = (format: Json | undefined): string => {
  if (format?.get('type')?.string() !== 'grammar') return ''
  const grammar = nonNullMember(format, 'grammar') ?? format
  const [syntax, definition] = ['syntax', 'definition'].map((key) => nonNullMember(grammar, key)?.string() ?? '')
  return `\`input\` must match this ${syntax} grammar:\n${definition}`
}

/** Parameters of the function that stands for a custom tool. */
const inputParameters = toJson({
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
})

/** The function that stands for the local shell: the members of `action` of a `local_shell_call`. */
const localShell: Members = {
  description: toJson('Runs a command on the computer of the user, and returns its output.'),
  parameters: toJson({
    type: 'object',
    properties: {
      command: { type: 'array', items: { type: 'string' }, description: 'The program and its arguments.' },
      working_directory: { type: 'string' },
      timeout_ms: { type: 'integer' },
      env: { type: 'object', additionalProperties: { type: 'string' } },
      user: { type: 'string' },
    },
    required: ['command'],
    additionalProperties: false,
  }),
}
