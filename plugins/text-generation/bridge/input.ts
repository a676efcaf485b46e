import { type Json, toJson } from '../../shared/json.ts'
import { type AssistantContent, toAssistantContent, toContent, toToolContent } from './content.ts'
import {
  array,
  type JsonPath,
  type Members,
  object,
  optional,
  otherMembers,
  rejectMembers,
  requireString,
} from './request-json.ts'

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
  rejectMembers(item, ['phase'], path, ['"final_answer"'])
  const rest = otherMembers(item, [...itemMembers, 'role', 'phase', key])
  if (role === 'assistant') return turn.addMessage({ ...toAssistantContent(content, path.at(key)), otherMembers: rest })
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
  rejectMembers(item, ['encrypted_content'], path)
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
  rejectMembers(item, ['namespace'], path)
  rejectMembers(item, ['async'], path, ['false'])
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

/** The content of an assistant message, and its unknown members. */
interface AssistantFields extends AssistantContent {
  readonly otherMembers: Members
}

/**
 * Collects the items of one turn of the model into one assistant message.
 *
 * The Responses protocol has an item for each reasoning, message and tool call. Chat completions have one message for
 * all of them, and require the tool messages right after it.
 */
class AssistantMessage {
  #fields: AssistantFields | undefined
  #reasoning: string[] = []
  /** Reasoning after the message. It belongs to the next message, unless the turn ends without one. */
  #laterReasoning: string[] = []
  #calls: Json[] = []

  addReasoning(text: string): void {
    if (text !== '') (this.#fields ? this.#laterReasoning : this.#reasoning).push(text)
  }

  /**
   * Adds a message item. A second one begins a new turn: then returns the message of the turn before it. But a message
   * after tool calls without outputs joins the same turn, because the outputs must follow it.
   */
  addMessage(fields: AssistantFields): Json[] {
    if (!this.#fields || this.#calls.length > 0) {
      this.#fields = this.#fields ? joinFields(this.#fields, fields) : fields
      return []
    }
    const reasoning = this.#laterReasoning
    this.#laterReasoning = []
    const before = this.end()
    this.#fields = fields
    this.#reasoning = reasoning
    return before
  }

  /** Adds a tool call in the form of chat completions. */
  addToolCall(call: Json): void {
    this.#calls.push(call)
  }

  /** Ends the turn. Returns its message; none for an empty turn. */
  end(): Json[] {
    const { content, refusal, otherMembers: others } = this.#fields ?? {}
    const reasoning = [...this.#reasoning, ...this.#laterReasoning]
    const calls = this.#calls
    const isEmpty = !this.#fields && reasoning.length === 0 && calls.length === 0
    this.#fields = undefined
    this.#reasoning = []
    this.#laterReasoning = []
    this.#calls = []
    if (isEmpty) return []
    // Content may be null only beside a refusal or tool calls.
    const noContent = refusal !== undefined || calls.length > 0 ? toJson(null) : toJson('')
    return [
      object({
        role: toJson('assistant'),
        content: content ?? noContent,
        refusal: refusal === undefined ? undefined : toJson(refusal),
        reasoning_content: reasoning.length === 0 ? undefined : toJson(reasoning.join('\n\n')),
        tool_calls: calls.length === 0 ? undefined : array(calls),
        ...others,
      }),
    ]
  }
}

const joinFields = (one: AssistantFields, other: AssistantFields): AssistantFields => ({
  content: one.content && other.content ? joinContent(one.content, other.content) : (one.content ?? other.content),
  refusal:
    one.refusal === undefined && other.refusal === undefined ? undefined : `${one.refusal ?? ''}${other.refusal ?? ''}`,
  otherMembers: { ...one.otherMembers, ...other.otherMembers },
})

const joinContent = (one: Json, other: Json): Json => {
  const [first, second] = [one.string(), other.string()]
  if (first !== undefined && second !== undefined) return toJson(first + second)
  return array([...partsOf(one), ...partsOf(other)])
}

const partsOf = (content: Json): readonly Json[] =>
  content.isArray ? content.elements() : [object({ type: toJson('text'), text: content })]
