import { composeArray, composeObject, type Json, joinStrings, type Members, toJson } from '../../../shared/json/json.ts'
import { type AssistantFields, AssistantMessage } from './assistant-message.ts'

/** Collects the items of a Responses request as chat messages. */
export class Conversation {
  readonly #messages: Json[] = []
  /** The turn of the model that has not ended. */
  readonly #turn = new AssistantMessage()
  /** Texts of the system that are not a message yet. */
  #system: Json[] = []
  /** What of the tool outputs that were added last cannot be in a tool message. */
  #media: Json[] = []

  /**
   * Adds a message of the user or the system. Consecutive texts of the system become one message: many chat templates
   * allow only one.
   */
  addMessage(role: string, content: Json, rest: Members = {}): void {
    this.#endTurn()
    this.#endOutputs()
    const texts = role === 'system' && Object.keys(rest).length === 0 ? textsOf(content) : undefined
    if (texts) {
      for (const text of texts) this.#system.push(text)
      return
    }
    this.#endSystem()
    this.#messages.push(composeObject({ role: toJson(role), content, ...rest }))
  }

  /** Adds a message of the model. */
  addAnswer(fields: AssistantFields): void {
    this.#endInput()
    this.#messages.push(...this.#turn.addMessage(fields))
  }

  addReasoning(text: Json): void {
    this.#endInput()
    this.#turn.addReasoning(text)
  }

  /** Adds a tool call in the form of chat completions. */
  addCall(call: Json): void {
    this.#endInput()
    this.#turn.addToolCall(call)
  }

  /**
   * Adds the output of a tool call. All outputs of a turn must follow it directly, so their media come after the last
   * one.
   */
  addOutput(callId: Json, content: Json, media: readonly Json[], rest: Members): void {
    this.#endTurn()
    this.#endSystem()
    this.#messages.push(composeObject({ role: toJson('tool'), tool_call_id: callId, content, ...rest }))
    if (media.length === 0) return
    const title = composeObject({ type: toJson('text'), text: toJson(`Output of the tool call ${callId.string()}:`) })
    this.#media.push(title, ...media)
  }

  /**
   * Adds the output of a tool that no call asked for. It becomes a message of the user, after the outputs of the turn.
   */
  addOwnOutput(name: string, content: Json, media: readonly Json[]): void {
    this.#endTurn()
    this.#endSystem()
    const texts = content.isString ? [composeObject({ type: toJson('text'), text: content })] : content.elements()
    this.#media.push(composeObject({ type: toJson('text'), text: toJson(`Output of ${name}:`) }), ...texts, ...media)
  }

  /** Returns all messages. */
  end(): Json[] {
    this.#endTurn()
    this.#endInput()
    return this.#messages
  }

  #endTurn(): void {
    this.#messages.push(...this.#turn.end())
  }

  /** Ends what comes before a turn of the model. */
  #endInput(): void {
    this.#endOutputs()
    this.#endSystem()
  }

  #endSystem(): void {
    const [first, ...others] = this.#system
    this.#system = []
    if (!first) return
    this.#messages.push(composeObject({ role: toJson('system'), content: joinStrings([first, ...others], '\\n\\n') }))
  }

  #endOutputs(): void {
    if (this.#media.length === 0) return
    this.#messages.push(composeObject({ role: toJson('user'), content: composeArray(this.#media) }))
    this.#media = []
  }
}

/** The texts of a content with nothing but text. */
const textsOf = (content: Json): readonly Json[] | undefined => {
  if (content.isString) return [content]
  const texts = content.elements().map((part) => (part.members().length === 2 ? part.get('text') : undefined))
  return texts.every((text) => text !== undefined) ? texts : undefined
}
