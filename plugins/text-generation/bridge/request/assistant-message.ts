import { composeArray, composeObject, type Json, joinStrings, type Members, toJson } from '../../../shared/json/json.ts'
import type { AssistantContent } from './content.ts'

/** The content of an assistant message, and its unknown members. */
export interface AssistantFields extends AssistantContent {
  readonly otherMembers: Members
}

/**
 * Collects the items of one turn of the model into one assistant message.
 *
 * The Responses protocol has an item for each reasoning, message and tool call. Chat completions have one message for
 * all of them, and require the tool messages right after it.
 */
export class AssistantMessage {
  /** Its messages. They are joined at the end only: a request may have very many. */
  #fields: AssistantFields[] = []
  #reasoning: Json[] = []
  /** Reasoning after the message. It belongs to the next message, unless the turn ends without one. */
  #laterReasoning: Json[] = []
  #calls: Json[] = []

  /** @param text a string */
  addReasoning(text: Json): void {
    if (text.byteLength > emptyStringBytes)
      (this.#fields.length > 0 ? this.#laterReasoning : this.#reasoning).push(text)
  }

  /**
   * Adds a message item. A second one begins a new turn: then returns the message of the turn before it. But a message
   * after tool calls without outputs joins the same turn, because the outputs must follow it.
   */
  addMessage(fields: AssistantFields): Json[] {
    if (this.#fields.length === 0 || this.#calls.length > 0) {
      this.#fields.push(fields)
      return []
    }
    const reasoning = this.#laterReasoning
    this.#laterReasoning = []
    const before = this.end()
    this.#fields = [fields]
    this.#reasoning = reasoning
    return before
  }

  /** Adds a tool call in the form of chat completions. */
  addToolCall(call: Json): void {
    this.#calls.push(call)
  }

  /** Ends the turn. Returns its message; none for an empty turn. */
  end(): Json[] {
    const fields = this.#fields
    const { content, refusal, otherMembers: others } = joinFields(fields)
    const reasoning = [...this.#reasoning, ...this.#laterReasoning]
    const calls = this.#calls
    const isEmpty = fields.length === 0 && reasoning.length === 0 && calls.length === 0
    this.#fields = []
    this.#reasoning = []
    this.#laterReasoning = []
    this.#calls = []
    if (isEmpty) return []
    // Content may be null only beside a refusal or tool calls.
    const noContent = refusal !== undefined || calls.length > 0 ? toJson(null) : toJson('')
    return [
      composeObject({
        role: toJson('assistant'),
        content: content ?? noContent,
        refusal: refusal === undefined ? undefined : toJson(refusal),
        reasoning_content: reasoning.length === 0 ? undefined : joinStrings(reasoning, '\\n\\n'),
        tool_calls: calls.length === 0 ? undefined : composeArray(calls),
        ...others,
      }),
    ]
  }
}

/** The quotes. */
const emptyStringBytes = 2

const joinFields = (all: readonly AssistantFields[]): AssistantFields => {
  const [first] = all
  if (first && all.length === 1) return first
  const contents = all.flatMap(({ content }) => content ?? [])
  const refusals = all.flatMap(({ refusal }) => refusal ?? [])
  return {
    content: contents.length === 0 ? undefined : joinContents(contents),
    refusal: refusals.length === 0 ? undefined : refusals.join(''),
    otherMembers: Object.fromEntries(all.flatMap((fields) => Object.entries(fields.otherMembers))),
  }
}

const joinContents = (contents: readonly Json[]): Json => {
  const [first] = contents
  if (first && contents.length === 1) return first
  return contents.every((content) => content.isString)
    ? joinStrings(contents, '')
    : composeArray(contents.flatMap(partsOf))
}

const partsOf = (content: Json): readonly Json[] =>
  content.isArray ? content.elements() : [composeObject({ type: toJson('text'), text: content })]
