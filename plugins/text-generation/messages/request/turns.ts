import { Pace, type SteppedWork } from '../../../shared/background/turns.ts'
import { composeArray, composeObject, type Json, quoteJson, toJson } from '../../../shared/json/json.ts'
import {
  checkObject,
  elementsOf,
  fieldOf,
  isPresent,
  memberOf,
  type PresentField,
  rejectField,
  requireField,
} from '../../protocol/validation.ts'
import {
  blocksOf,
  blockType,
  joinTexts,
  type Part,
  rejectId,
  stringIn,
  toBlockParts,
  toMessageContent,
  toSystemTexts,
  unsupported,
} from './content.ts'
import { type ToolNames, toFunctionName } from './tools.ts'

export interface TurnsOptions {
  /** Opens the signature of a thinking block. Undefined: it is not ours, or it has been changed. */
  readonly openSignature: (signature: string) => string | undefined
  /** Receives the path and type of each block of a tool that Anthropic's API runs itself. It is left out. */
  readonly onHostedBlock: (param: string, type: string) => void
  readonly toolNames: ToolNames
}

/**
 * Translates `messages` to chat messages.
 *
 * Consecutive messages of one role become one message, as in Anthropic's API. Chat completions require the results of
 * tools right after the calls, so these come first, whatever was between. Many chat templates allow only one system
 * message, the first: it has all texts of the system that come before any other message. Later ones become texts of the
 * user, marked as Claude Code marks them for servers that know no later ones.
 *
 * @param system the texts of the system prompt
 *
 * Throws TextProblem 400 for the first block that chat completions cannot express.
 */
export function* toChatMessages(
  system: readonly Json[],
  messages: readonly PresentField[],
  options: TurnsOptions,
): SteppedWork<readonly Json[]> {
  const assistant = new AssistantTurn(options)
  const caller = new CallerTurn()
  const chatMessages: Json[] = []
  const systemTexts = [...system]
  const pace = new Pace()
  let isFirst = true
  for (const message of messages) {
    if (pace.isDue()) yield
    checkObject(message)
    const role = requireField(memberOf(message, 'role'))
    const content = requireField(memberOf(message, 'content'))
    switch (role.json.string()) {
      case 'assistant':
        chatMessages.push(...caller.end())
        assistant.begin()
        if (content.json.isString) assistant.addText(content.json)
        else
          for (const block of blocksOf(content)) {
            if (pace.isDue()) yield
            assistant.addBlock(block)
          }
        break
      case 'user':
        chatMessages.push(...assistant.end())
        if (content.json.isString) caller.addText(content.json)
        else
          for (const block of blocksOf(content)) {
            if (pace.isDue()) yield
            caller.addBlock(block)
          }
        break
      case 'system':
        if (isFirst) {
          systemTexts.push(...toSystemTexts(content))
          continue
        }
        chatMessages.push(...assistant.end())
        caller.addSystem(content)
        break
      default:
        rejectField(role.param, 'must be one of user, assistant, system')
    }
    isFirst = false
  }
  yield
  const rest = [...chatMessages, ...assistant.end(), ...caller.end()]
  return systemTexts.length === 0 ? rest : [textMessage('system', joinTexts(systemTexts)), ...rest]
}

const textMessage = (role: string, content: Json): Json => composeObject({ role: toJson(role), content })

/** Collects the messages between two turns of the model. */
class CallerTurn {
  #results: Json[] = []
  /** Content of the user's message. */
  #parts: Part[] = []

  addText(text: Json): void {
    this.#parts.push({ text })
  }

  addSystem(content: PresentField): void {
    const text = joinTexts(toSystemTexts(content)).string() ?? ''
    this.#parts.push({ text: toJson(`<system-reminder>\n${text}\n</system-reminder>`) })
  }

  /** Ends the turn. Returns its messages. */
  end(): readonly Json[] {
    const [results, parts] = [this.#results, this.#parts]
    this.#results = []
    this.#parts = []
    return parts.length === 0 ? results : [...results, textMessage('user', toMessageContent(parts))]
  }

  addBlock(block: PresentField): void {
    if (blockType(block) !== 'tool_result') {
      this.#parts.push(...toBlockParts(block))
      return
    }
    const id = stringIn(block, 'tool_use_id')
    const content = memberOf(block, 'content')
    const parts = isPresent(content) ? toResultParts(content) : []
    const media = parts.filter((part) => 'media' in part)
    // Only the user can send images and files.
    if (media.length > 0) this.#parts.push({ text: toJson(`Output of the tool call ${id.string()}:`) }, ...media)
    const texts = parts.flatMap((part) => ('text' in part ? [part.text] : []))
    const result = texts.length === 0 && media.length > 0 ? resultIsBelow : joinTexts(texts)
    this.#results.push(composeObject({ role: toJson('tool'), tool_call_id: id, content: result }))
  }
}

const resultIsBelow = toJson('The result is in the next message of the user.')

const toResultParts = (content: PresentField): readonly Part[] => {
  if (content.json.isString) return [{ text: content.json }]
  return blocksOf(content).flatMap((block): readonly Part[] => {
    const type = blockType(block)
    // The result of a tool search: the tool has been in `tools` all the time.
    if (type === 'tool_reference') return [{ text: stringIn(block, 'tool_name') }]
    return toBlockParts(block)
  })
}

/** Blocks of tools that Anthropic's API runs itself, in earlier output. */
const hostedBlock = /^(?:server_tool_use|mcp_tool_use|[a-z_]+_tool_result)$/

/** Collects consecutive messages of the model. */
class AssistantTurn {
  readonly #options: TurnsOptions
  #texts: Json[] = []
  #reasoning: string[] = []
  #calls: Json[] = []
  #started = false

  constructor(options: TurnsOptions) {
    this.#options = options
  }

  begin(): void {
    this.#started = true
  }

  addText(text: Json): void {
    this.#texts.push(text)
  }

  /** Ends the turn. Returns its message; none for an empty turn. */
  end(): readonly Json[] {
    if (!this.#started) return []
    const [texts, reasoning, calls] = [this.#texts, this.#reasoning, this.#calls]
    this.#texts = []
    this.#reasoning = []
    this.#calls = []
    this.#started = false
    const withoutText = toJson(calls.length > 0 ? null : '')
    return [
      composeObject({
        role: toJson('assistant'),
        content: texts.length === 0 ? withoutText : joinTexts(texts),
        reasoning_content: reasoning.length === 0 ? undefined : toJson(reasoning.join('\n\n')),
        tool_calls: calls.length === 0 ? undefined : composeArray(calls),
      }),
    ]
  }

  addBlock(block: PresentField): void {
    const type = blockType(block)
    if (type === 'text') this.#texts.push(stringIn(block, 'text'))
    else if (type === 'tool_use') this.#calls.push(toToolCall(block, this.#options.toolNames))
    else if (type === 'thinking') this.#addReasoning(memberOf(block, 'signature').json)
    // Only Anthropic can read it.
    else if (type === 'redacted_thinking') return
    else if (hostedBlock.test(type)) this.#options.onHostedBlock(`${block.param}.type`, type)
    else if (type === 'container_upload') rejectId(`${block.param}.file_id`, 'file')
    else unsupported(`${block.param}.type`, type)
  }

  /** A thinking block without a signature of this gateway is left out: the caller may have invented it. */
  #addReasoning(signature: Json | undefined): void {
    const text = this.#options.openSignature(signature?.string() ?? '')
    if (text !== undefined && text !== '') this.#reasoning.push(text)
  }
}

const toToolCall = (block: PresentField, names: ToolNames): Json => {
  const input = requireField(memberOf(block, 'input'))
  checkObject(input)
  return composeObject({
    id: stringIn(block, 'id'),
    type: toJson('function'),
    function: composeObject({
      name: toFunctionName(stringIn(block, 'name'), names),
      arguments: quoteJson(input.json),
    }),
  })
}

/** The elements of `messages`. Throws TextProblem 400 when there is none. */
export const messagesOf = (request: Json): readonly PresentField[] => {
  const messages = requireField(fieldOf(request, 'messages'))
  const elements = elementsOf(messages)
  if (elements.length === 0) rejectField(messages.param, 'must be a non-empty array')
  return elements
}
