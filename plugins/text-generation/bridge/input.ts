import { type Json, toJson } from '../../shared/json.ts'
import { AssistantMessage } from './assistant-message.ts'
import { toContent, toSaid, toToolContent } from './content.ts'
import { given, object, others, refuse, stringAt } from './json-builder.ts'
import type { JsonPath } from './json-path.ts'

/**
 * The input of a response as chat messages, `instructions` first, as a system message.
 *
 * `id` and `status` of an item are left behind: they say how the item came to be, not what it is. Members that nobody here knows are passed on.
 * Throws TextProblem 400 for an item that chat completions cannot hold.
 */
export const toMessages = (request: Json, place: JsonPath): Json[] => {
  const messages = given(request, 'instructions') ? [system(stringAt(request, 'instructions', place))] : []
  const input = given(request, 'input')
  const at = place.at('input')
  if (input?.isString) return [...messages, object({ role: toJson('user'), content: input })]
  if (!input?.isArray) throw at.invalid('must be a string or an array of items')
  const turn = new AssistantMessage()
  input.elements().forEach((item, nth) => {
    messages.push(...readItem(item, turn, at.at(nth)))
  })
  messages.push(...turn.end())
  if (messages.length === 0) throw at.invalid('must not be empty')
  return messages
}

const system = (content: Json): Json => object({ role: toJson('system'), content })

/** Messages that an item brings to an end or adds. What a model said gathers in the turn. */
const readItem = (item: Json, turn: AssistantMessage, place: JsonPath): Json[] => {
  if (!item.isObject) throw place.invalid('must be an object')
  const type = given(item, 'type') ? stringAt(item, 'type', place).string() : undefined
  // Items of the easy form have no type, or that of their text.
  if (type === undefined || type === 'message' || ((type === 'text' || type === 'input_text') && item.get('role')))
    return readMessage(item, turn, place)
  switch (type) {
    case 'reasoning':
      turn.think(thoughtOf(item, place))
      return []
    case 'function_call':
      turn.call(toFunctionCall(item, place))
      return []
    case 'custom_tool_call':
      turn.call(toCustomCall(item, place))
      return []
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [...turn.end(), toToolMessage(item, place)]
    default:
      throw place.at('type').unsupported(type)
  }
}

const notes = ['type', 'id', 'status']

const readMessage = (item: Json, turn: AssistantMessage, place: JsonPath): Json[] => {
  const role = stringAt(item, 'role', place).string() ?? ''
  const key = given(item, 'content') ? 'content' : 'text'
  const content = given(item, key)
  if (!content) throw place.at('content').invalid('is required')
  // Of the two kinds of messages that a model sends, chat completions know the one that is meant for the user.
  refuse(item, ['phase'], place, ['"final_answer"'])
  const rest = others(item, [...notes, 'role', 'phase', key])
  if (role === 'assistant') return turn.say({ ...toSaid(content, place.at(key)), others: rest })
  const chatRole = chatRoles.get(role)
  if (chatRole === undefined) throw place.at('role').unsupported(role)
  return [...turn.end(), object({ role: toJson(chatRole), content: toContent(content, place.at(key)), ...rest })]
}

/** `developer` is what one vendor calls `system` today; an upstream of the documents knows only the latter. */
const chatRoles: ReadonlyMap<string, string> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
])

/** What a model thought, in full where the item has it, else as a summary. Throws TextProblem 400 when that is encrypted. */
const thoughtOf = (item: Json, place: JsonPath): string => {
  refuse(item, ['encrypted_content'], place)
  return textOf(item, 'content', place) || textOf(item, 'summary', place)
}

const textOf = (item: Json, key: string, place: JsonPath): string => {
  const parts = given(item, key)
  if (parts && !parts.isArray) throw place.at(key).invalid('must be an array')
  const texts = parts?.elements().map((part, nth) => stringAt(part, 'text', place.at(key).at(nth)).string() ?? '')
  return texts?.join('\n\n') ?? ''
}

const called = [...notes, 'call_id', 'name', 'namespace', 'async', 'caller']

/** Throws TextProblem 400 for a call that is more than a call by the model. */
const refuseStrange = (item: Json, place: JsonPath): void => {
  refuse(item, ['namespace'], place)
  refuse(item, ['async'], place, ['false'])
  const caller = given(item, 'caller')
  if (caller?.get('type') && caller.get('type')?.string() !== 'direct') throw place.at('caller').unsupported()
}

const toFunctionCall = (item: Json, place: JsonPath): Json => {
  refuseStrange(item, place)
  return object({
    id: stringAt(item, 'call_id', place),
    type: toJson('function'),
    function: object({ name: stringAt(item, 'name', place), arguments: stringAt(item, 'arguments', place) }),
    ...others(item, [...called, 'arguments']),
  })
}

const toCustomCall = (item: Json, place: JsonPath): Json => {
  refuseStrange(item, place)
  return object({
    id: stringAt(item, 'call_id', place),
    type: toJson('custom'),
    custom: object({ name: stringAt(item, 'name', place), input: stringAt(item, 'input', place) }),
    ...others(item, [...called, 'input']),
  })
}

const toToolMessage = (item: Json, place: JsonPath): Json => {
  refuseStrange(item, place)
  const output = given(item, 'output')
  if (!output) throw place.at('output').invalid('is required')
  return object({
    role: toJson('tool'),
    tool_call_id: stringAt(item, 'call_id', place),
    content: toToolContent(output, place.at('output')),
    name: given(item, 'name'),
    ...others(item, [...called, 'output']),
  })
}
