import { Pace, runSteps, type SteppedWork } from '../../../shared/background/turns.ts'
import { type Json, joinStrings, nonNullMember, toJson } from '../../../shared/json/json.ts'
import { summaryIn } from '../compaction.ts'
import { functionNamesIn, isCall, rejectSpecialCall, toToolCall } from '../tools/call-input.ts'
import type { ToolMapping } from '../tools/mapping.ts'
import { toAssistantContent, toContent, toToolContent } from './content.ts'
import { Conversation } from './conversation.ts'
import { type JsonPath, otherMembers, requireString } from './request-json.ts'

/** What translating the input takes. */
export interface InputOptions {
  readonly path: JsonPath
  readonly tools: ToolMapping
  /** Decrypts reasoning. Undefined for reasoning that the gateway has not encrypted for this user. */
  readonly openReasoning: (sealed: string) => string | undefined
}

/**
 * Translates the input to chat messages. `instructions` become the first, a system message.
 *
 * `id` and `status` of an item are left out, because a chat message has neither. Unknown members are passed on.
 *
 * Throws TextProblem 400 for an item that a chat completion cannot express.
 */
export function* toMessages(request: Json, options: InputOptions): SteppedWork<Json[]> {
  const { path } = options
  const conversation = new Conversation()
  if (nonNullMember(request, 'instructions'))
    conversation.addMessage('system', requireString(request, 'instructions', path))
  const input = nonNullMember(request, 'input')
  const inputPath = path.at('input')
  if (input?.isString) conversation.addMessage('user', input)
  else if (input?.isArray) yield* readItems(input.elements(), conversation, request, options)
  else throw inputPath.invalid('must be a string or an array of items')
  yield
  const messages = conversation.end()
  if (messages.length === 0) throw inputPath.invalid('must not be empty')
  return messages
}

function* readItems(
  items: readonly Json[],
  conversation: Conversation,
  request: Json,
  options: InputOptions,
): SteppedWork<void> {
  const reasoning = nonNullMember(request, 'reasoning')
  const ownTurn = reasoning?.get('context')?.string() === 'current_turn'
  const turnStart = ownTurn ? items.findLastIndex((item) => item.get('role')?.string() === 'user') : 0
  const inputPath = options.path.at('input')
  const pace = new Pace()
  for (const [index, item] of items.entries()) {
    if (pace.isDue()) yield
    const reading = { ...options, path: inputPath.at(index), pace }
    const more = readItem(item, conversation, reading, index >= turnStart)
    if (more) yield* more
  }
}

/** The options for one item. */
interface ItemOptions extends InputOptions {
  readonly pace: Pace
}

/** Reads an item. Returns the steps that are left for one with a list of parts, which may be long. */
const readItem = (
  item: Json,
  conversation: Conversation,
  options: ItemOptions,
  keepsReasoning: boolean,
): SteppedWork<void> | undefined => {
  const { path, tools } = options
  if (!item.isObject) throw path.invalid('must be an object')
  const type = nonNullMember(item, 'type') ? requireString(item, 'type', path).string() : undefined
  // Items in the short form have no type, or the type of a text part.
  if (type === undefined || type === 'message' || ((type === 'text' || type === 'input_text') && item.get('role')))
    return readMessage(item, conversation, options)
  if (type !== undefined && isOutput(type)) return readOutput(type, item, conversation, options)
  if (type === 'agent_message') readAgentMessage(item, conversation, path)
  else if (type === 'compaction' || type === 'compaction_summary') readCompaction(item, conversation, options)
  else if (isCall(type)) conversation.addCall(toToolCall(type, item, path, tools))
  else if (type !== 'reasoning') requireIgnorable(type, options)
  else if (keepsReasoning) conversation.addReasoning(reasoningOf(item, options))
  return undefined
}

/**
 * Throws TextProblem 400 for an item that chat completions cannot express. `createToolMapping` has read additional
 * tools.
 */
const requireIgnorable = (type: string, { path, tools }: InputOptions): void => {
  if (type === 'additional_tools' || (tools.hostedTools === 'drop' && hostedItems.test(type))) return
  throw path.at('type').unsupported(type)
}

/** Items of hosted tools. They are dropped where the tools are, because no chat message can hold them. */
const hostedItems =
  /^(?:web_search|file_search|code_interpreter|image_generation|computer|shell|apply_patch|mcp)_call(?:_output)?$|^mcp_(?:list_tools|approval_re\w+)$|^program(?:_output)?$/

const itemMembers = ['type', 'id', 'status']

const readMessage = (
  item: Json,
  conversation: Conversation,
  { path, pace }: ItemOptions,
): SteppedWork<void> | undefined => {
  const role = requireString(item, 'role', path).string() ?? ''
  const key = nonNullMember(item, 'content') ? 'content' : 'text'
  const content = nonNullMember(item, key)
  if (!content) throw path.at('content').invalid('is required')
  // `phase` tells a client how to show the message. The model reads all of them.
  const rest = otherMembers(item, [...itemMembers, 'role', 'phase', key])
  const contentPath = path.at(key)
  if (role === 'assistant')
    return whenRead(content, toAssistantContent(content, contentPath, pace), (read) =>
      conversation.addAnswer({ ...read, otherMembers: rest }),
    )
  const chatRole = chatRoles.get(role)
  if (chatRole === undefined) throw path.at('role').unsupported(role)
  return whenRead(content, toContent(content, contentPath, pace), (read) =>
    conversation.addMessage(chatRole, read, rest),
  )
}

/** Calls `add` with a content: at once for a text, at the end of the steps for a list of parts. */
const whenRead = <Content>(
  content: Json,
  steps: SteppedWork<Content>,
  add: (content: Content) => void,
): SteppedWork<void> | undefined => {
  if (content.isArray) return addAfter(steps, add)
  add(runSteps(steps))
  return undefined
}

function* addAfter<Content>(steps: SteppedWork<Content>, add: (content: Content) => void): SteppedWork<void> {
  add(yield* steps)
}

/**
 * A message between two agents of Codex. OpenAI encrypts the arguments from which Codex makes it. A model behind the
 * bridge has written them as text.
 */
const readAgentMessage = (item: Json, conversation: Conversation, path: JsonPath): void => {
  const content = nonNullMember(item, 'content')
  if (!content?.isArray) throw path.at('content').invalid('must be an array')
  const texts = content.elements().map((part, index) => {
    const key = part.get('type')?.string() === 'encrypted_content' ? 'encrypted_content' : 'text'
    return requireString(part, key, path.at('content').at(index))
  })
  conversation.addMessage('user', joinStrings(texts, ''))
}

/** The summary of earlier messages, from `/v1/responses/compact`. Without it the model would know nothing of them. */
const readCompaction = (item: Json, conversation: Conversation, { path, openReasoning }: InputOptions): void => {
  const sealed = nonNullMember(item, 'encrypted_content')?.string()
  const summary = sealed === undefined ? undefined : summaryIn(openReasoning(sealed))
  if (summary === undefined)
    throw path.at('encrypted_content').invalid('is no compaction of this gateway for this user')
  conversation.addMessage('user', toJson(`Summary of the conversation so far:\n\n${summary}`))
}

/** `developer` is OpenAI's newer name of `system`. Other upstreams accept only `system`. */
const chatRoles: ReadonlyMap<string, string> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
])

/**
 * The decrypted text of a reasoning item, else its text, else its summary.
 *
 * Encrypted reasoning of another service or of another user cannot be read. The protocol allows to continue without it.
 */
const reasoningOf = (item: Json, { path, openReasoning }: InputOptions): Json => {
  const sealed = nonNullMember(item, 'encrypted_content')?.string()
  const opened = sealed === undefined ? undefined : openReasoning(sealed)
  if (opened !== undefined) return toJson(opened)
  const content = textsOf(item, 'content', path)
  const isEmpty = content.length < 2 && content.every((text) => text.byteLength === emptyStringBytes)
  const texts = isEmpty ? textsOf(item, 'summary', path) : content
  return joinStrings(texts, '\\n\\n')
}

/** The quotes. */
const emptyStringBytes = 2

const textsOf = (item: Json, key: string, path: JsonPath): readonly Json[] => {
  const parts = nonNullMember(item, key)
  if (parts && !parts.isArray) throw path.at(key).invalid('must be an array')
  return parts?.elements().map((part, index) => requireString(part, 'text', path.at(key).at(index))) ?? []
}

const isOutput = (type: string): boolean => outputs.includes(type)

const outputs = ['function_call_output', 'custom_tool_call_output', 'local_shell_call_output', 'tool_search_output']

const readOutput = (
  type: string,
  item: Json,
  conversation: Conversation,
  { path, tools, pace }: ItemOptions,
): SteppedWork<void> | undefined => {
  rejectSpecialCall(item, path)
  const name = nonNullMember(item, 'name')?.string()
  const namespace = nonNullMember(item, 'namespace')?.string()
  const kind = type === 'custom_tool_call_output' ? 'custom' : 'function'
  const common = {
    name: name === undefined ? undefined : toJson(tools.functionNameOf({ kind, name, namespace })),
    ...otherMembers(item, [
      ...itemMembers,
      'call_id',
      'output',
      'name',
      'namespace',
      'caller',
      'async',
      'execution',
      'tools',
    ]),
  }
  if (type === 'tool_search_output') {
    const found = toJson(JSON.stringify({ tools: functionNamesIn(item, tools) }))
    conversation.addOutput(requireString(item, 'call_id', path), found, [], common)
    return undefined
  }
  const output = nonNullMember(item, 'output')
  if (!output) throw path.at('output').invalid('is required')
  // The output of the local shell names its call by `id`.
  const idKey = type === 'local_shell_call_output' && !nonNullMember(item, 'call_id') ? 'id' : 'call_id'
  return whenRead(output, toToolContent(output, path.at('output'), pace), ({ content, media }) => {
    if (name !== undefined && !nonNullMember(item, idKey)) {
      conversation.addOwnOutput(namespace === undefined ? name : `${namespace}.${name}`, content, media)
      return
    }
    conversation.addOutput(requireString(item, idKey, path), content, media, common)
  })
}
