import { raise } from '../../shared/raise.ts'
import type { Reader } from '../../shared/reader.ts'
import type { Prompt, Tool } from '../generation/prompt.ts'
import { badRequest, missingField, wrongType } from '../openai-error.ts'

/** Chat completions nest a tool's definition (`{type, function: {…}}`); the Responses API does not. */
export type Nesting = 'nested' | 'flat'

const maxTools = 128
const choices = ['auto', 'none', 'required'] as const
const searches = [
  ...['web_search', 'web_search_2025_08_26'],
  ...['web_search_preview', 'web_search_preview_2025_03_11'],
] as const
/** Tools that the upstream runs itself, with the field that each requires. */
const hosted: Readonly<Record<string, string | undefined>> = {
  ...Object.fromEntries(searches.map((type) => [type, undefined])),
  image_generation: undefined,
  ...{ file_search: 'vector_store_ids', code_interpreter: 'container', mcp: 'server_label' },
}
const nestedKinds = ['function', 'custom'] as const
const flatKinds = [...nestedKinds, 'namespace', 'local_shell', 'tool_search', ...Object.keys(hosted)] as const

/** The tools of the request that the caller runs. */
export const toolsOf = (request: Reader, nesting: Nesting): Tool[] => toolsIn(request.objects('tools'), nesting)

/** The tools that the caller runs, of a list of tool definitions. */
export const toolsIn = (given: readonly Reader[], nesting: Nesting): Tool[] => {
  if (given.length > maxTools) {
    const errorMessage = `Invalid 'tools': array too long. Expected an array with maximum length ${maxTools}, but got ${given.length}.`
    throw badRequest('tools', 'array_above_max_length', errorMessage)
  }
  return given.flatMap((tool) => {
    const kind =
      tool.oneOf('type', nesting === 'nested' ? nestedKinds : flatKinds) ?? raise(missingField(tool.path('type')))
    if (kind === 'function' || kind === 'custom') return [definedTool(tool, kind, nesting)]
    if (kind === 'namespace') return namespaceTools(tool)
    if (kind === 'local_shell') return [localShell]
    if (kind === 'tool_search') return searchTools(tool)
    const required = hosted[kind]
    if (required !== undefined && !tool.has(required)) throw missingField(tool.path(required))
    return []
  })
}

const definedTool = (tool: Reader, kind: 'function' | 'custom', nesting: Nesting): Tool => {
  const definition = nesting === 'flat' ? tool : (tool.object(kind) ?? raise(missingField(tool.path(kind))))
  return { kind, name: nameIn(definition), schema: definition.object('parameters')?.raw ?? {} }
}

const nameIn = (definition: Reader): string => {
  const name = definition.required('name')
  if (/^[\w-]{1,64}$/.test(name)) return name
  const path = definition.path('name')
  throw badRequest(path, 'invalid_value', `Invalid '${path}': expected 1 to 64 letters, digits, '_' and '-'.`)
}

const namespaceTools = (namespace: Reader): Tool[] => {
  const name = nameIn(namespace)
  namespace.required('description')
  if (!namespace.has('tools')) throw missingField(namespace.path('tools'))
  return namespace.objects('tools').map((tool) => {
    const kind = tool.oneOf('type', nestedKinds) ?? raise(missingField(tool.path('type')))
    return { ...definedTool(tool, kind, 'flat'), namespace: name }
  })
}

const localShell: Tool = {
  ...{ kind: 'local_shell', name: 'local_shell' },
  schema: {
    type: 'object',
    properties: { command: { type: 'array', items: { type: 'string' } } },
    required: ['command'],
  },
}

/** A search that the caller runs; by default the upstream runs it. */
const searchTools = (tool: Reader): Tool[] =>
  tool.oneOf('execution', ['server', 'client'] as const) === 'client'
    ? [{ kind: 'tool_search', name: 'tool_search', schema: tool.object('parameters')?.raw ?? {} }]
    : []

/** Whether the request has a web search tool. */
export const searchesIn = (request: Reader): boolean =>
  request.objects('tools').some((tool) => searches.some((type) => type === tool.raw.type))

/** Reads `tool_choice`. */
export const toolChoiceOf = (request: Reader, tools: readonly Tool[], nesting: Nesting): Prompt['choice'] => {
  const given = request.raw.tool_choice ?? undefined
  if (given === undefined) return 'auto'
  if (!request.has('tools') && tools.length === 0) {
    const errorMessage = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
    throw badRequest('tool_choice', 'invalid_value', errorMessage)
  }
  if (typeof given === 'string') return request.oneOf('tool_choice', choices) ?? 'auto'
  const choice = request.object('tool_choice') ?? raise(wrongType('tool_choice', 'a string or an object', given))
  const kind = choice.required('type')
  if (kind === 'allowed_tools' || Object.hasOwn(hosted, kind)) return 'auto'
  if (kind === 'local_shell' || kind === 'tool_search') return { name: kind }
  const definition = nesting === 'flat' ? choice : (choice.object(kind) ?? raise(missingField(choice.path(kind))))
  const name = definition.required('name')
  if (tools.some((tool) => tool.name === name)) return { name }
  throw badRequest('tool_choice', 'invalid_value', `Tool choice '${name}' not found in 'tools' parameter.`)
}
