import { type Json, toJson } from '../../shared/json.ts'
import { AssistantMessage } from './assistant-message.ts'
import { toAssistantContent, toContent, toToolContent } from './content.ts'
import { object, optional, otherMembers, reject, requireString } from './json-builder.ts'
import type { JsonPath } from './json-path.ts'

/**
 * Translates the input to chat messages. `instructions` become the first, a system message.
 *
 * `id` and `status` of an item are left out, because a chat message has neither. Unknown members are passed on.
 *
 * Throws TextProblem 400 for an item that a chat completion cannot express.
 */
export const toMessages = (request: Json, path: JsonPath): Json[] => {
  const messages = optional(request, 'instructions') ? [system(requireString(request, 'instructions', path))] : []
  const input = optional(request, 'input')
  const inputPath = path.at('input')
  if (input?.isString) return [...messages, object({ role: toJson('user'), content: input })]
  if (!input?.isArray) throw inputPath.invalid('must be a string or an array of items')
  const turn = new AssistantMessage()
  input.elements().forEach((item, index) => {
    messages.push(...readItem(item, turn, inputPath.at(index)))
  })
  messages.push(...turn.end())
  if (messages.length === 0) throw inputPath.invalid('must not be empty')
  return messages
}

const system = (content: Json): Json => object({ role: toJson('system'), content })

/** Translates one item. Returns the messages that are complete now. Items of the model are collected in `turn`. */
const readItem = (item: Json, turn: AssistantMessage, path: JsonPath): Json[] => {
  if (!item.isObject) throw path.invalid('must be an object')
  const type = optional(item, 'type') ? requireString(item, 'type', path).string() : undefined
  // Items in the short form have no type, or the type of a text part.
  if (type === undefined || type === 'message' || ((type === 'text' || type === 'input_text') && item.get('role')))
    return readMessage(item, turn, path)
  switch (type) {
    case 'reasoning':
      turn.addReasoning(reasoningOf(item, path))
      return []
    case 'function_call':
      turn.addToolCall(toFunctionCall(item, path))
      return []
    case 'custom_tool_call':
      turn.addToolCall(toCustomCall(item, path))
      return []
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [...turn.end(), toToolMessage(item, path)]
    default:
      throw path.at('type').unsupported(type)
  }
}

const itemMembers = ['type', 'id', 'status']

const readMessage = (item: Json, turn: AssistantMessage, path: JsonPath): Json[] => {
  const role = requireString(item, 'role', path).string() ?? ''
  const key = optional(item, 'content') ? 'content' : 'text'
  const content = optional(item, key)
  if (!content) throw path.at('content').invalid('is required')
  // A chat completion has only messages for the user, which is the phase `final_answer`.
  reject(item, ['phase'], path, ['"final_answer"'])
  const rest = otherMembers(item, [...itemMembers, 'role', 'phase', key])
  if (role === 'assistant') return turn.addMessage({ ...toAssistantContent(content, path.at(key)), others: rest })
  const chatRole = chatRoles.get(role)
  if (chatRole === undefined) throw path.at('role').unsupported(role)
  return [...turn.end(), object({ role: toJson(chatRole), content: toContent(content, path.at(key)), ...rest })]
}

/** `developer` is OpenAI's newer name of `system`. Other upstreams accept only `system`. */
const chatRoles: ReadonlyMap<string, string> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
])

/** The text of a reasoning item, else its summary. Throws TextProblem 400 for encrypted reasoning. */
const reasoningOf = (item: Json, path: JsonPath): string => {
  reject(item, ['encrypted_content'], path)
  return textOf(item, 'content', path) || textOf(item, 'summary', path)
}

const textOf = (item: Json, key: string, path: JsonPath): string => {
  const parts = optional(item, key)
  if (parts && !parts.isArray) throw path.at(key).invalid('must be an array')
  const textParts = parts
    ?.elements()
    .map((part, index) => requireString(part, 'text', path.at(key).at(index)).string() ?? '')
  return textParts?.join('\n\n') ?? ''
}

const callMembers = [...itemMembers, 'call_id', 'name', 'namespace', 'async', 'caller']

/** Throws TextProblem 400 for a call that chat completions do not have: with a namespace, asynchronous, or made by a program. */
const rejectSpecialCall = (item: Json, path: JsonPath): void => {
  reject(item, ['namespace'], path)
  reject(item, ['async'], path, ['false'])
  const caller = optional(item, 'caller')
  if (caller?.get('type') && caller.get('type')?.string() !== 'direct') throw path.at('caller').unsupported()
}

const toFunctionCall = (item: Json, path: JsonPath): Json => {
  rejectSpecialCall(item, path)
  return object({
    id: requireString(item, 'call_id', path),
    type: toJson('function'),
    function: object({ name: requireString(item, 'name', path), arguments: requireString(item, 'arguments', path) }),
    ...otherMembers(item, [...callMembers, 'arguments']),
  })
}

const toCustomCall = (item: Json, path: JsonPath): Json => {
  rejectSpecialCall(item, path)
  return object({
    id: requireString(item, 'call_id', path),
    type: toJson('custom'),
    custom: object({ name: requireString(item, 'name', path), input: requireString(item, 'input', path) }),
    ...otherMembers(item, [...callMembers, 'input']),
  })
}

const toToolMessage = (item: Json, path: JsonPath): Json => {
  rejectSpecialCall(item, path)
  const output = optional(item, 'output')
  if (!output) throw path.at('output').invalid('is required')
  return object({
    role: toJson('tool'),
    tool_call_id: requireString(item, 'call_id', path),
    content: toToolContent(output, path.at('output')),
    name: optional(item, 'name'),
    ...otherMembers(item, [...callMembers, 'output']),
  })
}
