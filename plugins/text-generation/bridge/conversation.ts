import { type Json, toJson } from '../../shared/json.ts'
import { type AssistantFields, AssistantMessage } from './assistant-message.ts'
import { array, type Members, object } from './request-json.ts'

/** Collects the items of a Responses request as chat messages. */
export class Conversation {
  readonly #messages: Json[] = []
  /** The turn of the model that has not ended. */
  readonly #turn = new AssistantMessage()
  /** Images and files of the tool outputs that were added last. */
  #media: Json[] = []

  /** Adds a message of the user or the system. */
  addMessage(role: string, content: Json, rest: Members = {}): void {
    this.#endTurn()
    this.#endOutputs()
    this.#messages.push(object({ role: toJson(role), content, ...rest }))
  }

  /** Adds a message of the model. */
  addAnswer(fields: AssistantFields): void {
    this.#endOutputs()
    this.#messages.push(...this.#turn.addMessage(fields))
  }

  addReasoning(text: string): void {
    this.#endOutputs()
    this.#turn.addReasoning(text)
  }

  /** Adds a tool call in the form of chat completions. */
  addCall(call: Json): void {
    this.#endOutputs()
    this.#turn.addToolCall(call)
  }

  /** Adds the output of a tool call. All outputs of a turn must follow it directly, so their media come after the last one. */
  addOutput(callId: Json, content: Json, media: readonly Json[], rest: Members): void {
    this.#endTurn()
    this.#messages.push(object({ role: toJson('tool'), tool_call_id: callId, content, ...rest }))
    if (media.length === 0) return
    const title = object({ type: toJson('text'), text: toJson(`Output of the tool call ${callId.string()}:`) })
    this.#media.push(title, ...media)
  }

  /** Returns all messages. */
  end(): Json[] {
    this.#endTurn()
    this.#endOutputs()
    return this.#messages
  }

  #endTurn(): void {
    this.#messages.push(...this.#turn.end())
  }

  #endOutputs(): void {
    if (this.#media.length === 0) return
    this.#messages.push(object({ role: toJson('user'), content: array(this.#media) }))
    this.#media = []
  }
}
