import { raise } from '../raise.ts'
import { badRequest, missingField, wrongType } from './openai-error.ts'
import type { Prompt, Tool } from './prompt.ts'
import type { Reader } from './reader.ts'

/** Chat completions nest a tool's definition (`{type, function: {…}}`); the Responses API does not. */
export type Nesting = 'nested' | 'flat'

const maxTools = 128
const choices = ['auto', 'none', 'required'] as const
const searches = ['web_search', 'web_search_preview'] as const
/** Tools that the upstream runs itself. */
const hosted = [...searches, 'file_search', 'code_interpreter'] as const

/** The tools of the request that the caller runs. */
export const toolsOf = (request: Reader, nesting: Nesting): Tool[] => {
  const given = request.objects('tools')
  if (given.length > maxTools) {
    const errorMessage = `Invalid 'tools': array too long. Expected an array with maximum length ${maxTools}, but got ${given.length}.`
    throw badRequest('tools', 'array_above_max_length', errorMessage)
  }
  return given.flatMap((tool) => {
    const kinds =
      nesting === 'nested' ? (['function', 'custom'] as const) : (['function', 'custom', ...hosted] as const)
    const kind = tool.oneOf('type', kinds) ?? raise(missingField(tool.path('type')))
    if (kind !== 'function' && kind !== 'custom') return []
    const definition = nesting === 'flat' ? tool : (tool.object(kind) ?? raise(missingField(tool.path(kind))))
    const name = definition.required('name')
    if (!/^[\w-]{1,64}$/.test(name)) {
      const path = definition.path('name')
      throw badRequest(path, 'invalid_value', `Invalid '${path}': expected 1 to 64 letters, digits, '_' and '-'.`)
    }
    return [{ kind, name, schema: definition.object('parameters')?.raw ?? {} }]
  })
}

/** Whether the request has a web search tool. */
export const searchesIn = (request: Reader): boolean =>
  request.objects('tools').some((tool) => searches.some((type) => type === tool.raw.type))

/** Reads `tool_choice`. */
export const toolChoiceOf = (request: Reader, tools: readonly Tool[], nesting: Nesting): Prompt['choice'] => {
  const given = request.raw.tool_choice ?? undefined
  if (given === undefined) return 'auto'
  if (!request.has('tools')) {
    const errorMessage = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
    throw badRequest('tool_choice', 'invalid_value', errorMessage)
  }
  if (typeof given === 'string') return request.oneOf('tool_choice', choices) ?? 'auto'
  const choice = request.object('tool_choice') ?? raise(wrongType('tool_choice', 'a string or an object', given))
  const kind = choice.required('type')
  if (kind === 'allowed_tools' || hosted.some((type) => type === kind)) return 'auto'
  const definition = nesting === 'flat' ? choice : (choice.object(kind) ?? raise(missingField(choice.path(kind))))
  const name = definition.required('name')
  if (tools.some((tool) => tool.name === name)) return { name }
  throw badRequest('tool_choice', 'invalid_value', `Tool choice '${name}' not found in 'tools' parameter.`)
}
