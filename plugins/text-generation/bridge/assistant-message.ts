import { type Json, toJson } from '../../shared/json.ts'
import type { Said } from './content.ts'
import { array, type Members, object } from './json-builder.ts'

/** A message of the assistant, and members of it that nobody here knows. */
export interface Spoken extends Said {
  readonly others: Members
}

/**
 * What a model said in one turn. The Responses protocol has an item for each thought, message and call; chat completions have one message for all of
 * them, and tool messages must follow right after it.
 */
export class AssistantMessage {
  #spoken: Spoken | undefined
  #thoughts: string[] = []
  /** Thoughts after the message: those of the next one, unless the turn ends without one. */
  #later: string[] = []
  #calls: Json[] = []

  /** Adds what a model thought. */
  think(thought: string): void {
    if (thought !== '') (this.#spoken ? this.#later : this.#thoughts).push(thought)
  }

  /**
   * Adds a message. Gives the turn before it, where there was a message already; but one with calls that were not answered yet goes on, because their
   * answers must follow it.
   */
  say(spoken: Spoken): Json[] {
    if (!this.#spoken || this.#calls.length > 0) {
      this.#spoken = this.#spoken ? joined(this.#spoken, spoken) : spoken
      return []
    }
    const later = this.#later
    this.#later = []
    const before = this.end()
    this.#spoken = spoken
    this.#thoughts = later
    return before
  }

  /** Adds a call, as chat completions have it. */
  call(call: Json): void {
    this.#calls.push(call)
  }

  /** Ends the turn. Gives its message, or none when nothing was said. */
  end(): Json[] {
    const { content, refusal, others } = this.#spoken ?? {}
    const thoughts = [...this.#thoughts, ...this.#later]
    const calls = this.#calls
    const silent = !this.#spoken && thoughts.length === 0 && calls.length === 0
    this.#spoken = undefined
    this.#thoughts = []
    this.#later = []
    this.#calls = []
    if (silent) return []
    // Only beside a refusal or calls may a message have no content.
    const nothing = refusal !== undefined || calls.length > 0 ? toJson(null) : toJson('')
    return [
      object({
        role: toJson('assistant'),
        content: content ?? nothing,
        refusal: refusal === undefined ? undefined : toJson(refusal),
        reasoning_content: thoughts.length === 0 ? undefined : toJson(thoughts.join('\n\n')),
        tool_calls: calls.length === 0 ? undefined : array(calls),
        ...others,
      }),
    ]
  }
}

const joined = (one: Spoken, other: Spoken): Spoken => ({
  content: one.content && other.content ? concatenated(one.content, other.content) : (one.content ?? other.content),
  refusal:
    one.refusal === undefined && other.refusal === undefined ? undefined : `${one.refusal ?? ''}${other.refusal ?? ''}`,
  others: { ...one.others, ...other.others },
})

const concatenated = (one: Json, other: Json): Json => {
  const [first, second] = [one.string(), other.string()]
  if (first !== undefined && second !== undefined) return toJson(first + second)
  return array([...partsOf(one), ...partsOf(other)])
}

const partsOf = (content: Json): readonly Json[] =>
  content.isArray ? content.elements() : [object({ type: toJson('text'), text: content })]
