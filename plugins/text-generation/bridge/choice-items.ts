import { StreamError } from '../assembly.ts'
import { type ChunkObject, elementsOf, isChunkObject, textOf } from '../chat/chunk.ts'
import { toCitations, toLogprobs } from './annotations.ts'
import type { Logprob } from './events.ts'
import { Message } from './message.ts'
import type { Entry, Output } from './output.ts'
import { Reasoning } from './reasoning.ts'
import { createToolCallItems } from './tool-calls.ts'

/** The choice of a chat stream, which becomes the items of a response. */
export interface ChoiceItems {
  /** Takes an element of `choices`. Throws StreamError for what has no form in a response. */
  push(choice: unknown): void
  /** Why the model stopped; undefined while it has not. */
  readonly finishReason: string | undefined
  /** Closes all items. @param cut whether something stopped the model before it was done */
  end(cut: boolean): void
}

/**
 * A message and calls stay open until the end, because deltas of either may come late; they are closed in the order of their items. A thought ends where
 * something else begins, and may go on as another item.
 */
export const createChoiceItems = (output: Output): ChoiceItems => {
  const calls = createToolCallItems(output)
  let reasoning: Reasoning | undefined
  let message: Message | undefined
  /** What was last added to, which is what a limit cuts short. */
  let latest: Entry | undefined
  /** Probabilities that came before the text they belong to. */
  let early: Logprob[] = []
  /** A response holds one choice only. */
  let index: unknown
  let finishReason: string | undefined

  const think = (thought: string): void => {
    if (!reasoning?.isOpen) reasoning = new Reasoning(output)
    latest = reasoning
    reasoning.add(thought)
  }

  const speak = (): Message => {
    reasoning?.close('completed')
    message ??= new Message(output)
    latest = message
    return message
  }

  const call = (entry: Entry | undefined): void => {
    latest = entry ?? latest
  }

  const readDelta = (delta: ChunkObject, logprobs: unknown): void => {
    const thought = textOf(delta.reasoning_content) || textOf(delta.reasoning)
    if (thought !== '') think(thought)
    if (Array.isArray(delta.content)) throw new StreamError('content of a kind that a response cannot hold')
    const text = textOf(delta.content)
    const toolCalls = elementsOf(delta.tool_calls)
    // Probabilities of what is not text have no place in a response.
    if (text !== '' || (thought === '' && toolCalls.length === 0)) early.push(...toLogprobs(logprobs))
    if (text !== '' || (message && early.length > 0)) {
      speak().say(text, early)
      early = []
    }
    const refusal = textOf(delta.refusal)
    if (refusal !== '') speak().refuse(refusal)
    for (const citation of toCitations(delta.annotations)) speak().cite(citation)
    if (toolCalls.length > 0 || isChunkObject(delta.function_call)) reasoning?.close('completed')
    for (const toolCall of toolCalls) call(calls.push(toolCall))
    if (isChunkObject(delta.function_call)) call(calls.pushLegacy(delta.function_call))
  }

  return {
    push(choice) {
      if (!isChunkObject(choice)) return
      const { index: at = 0, delta, error, finish_reason: reason } = choice
      index ??= at
      if (at !== index) throw new StreamError('more than one choice')
      if (isChunkObject(error)) throw new StreamError('an error from the upstream', { error })
      if (isChunkObject(delta)) readDelta(delta, choice.logprobs)
      if (reason === 'error') throw new StreamError('an answer that ended with an error')
      if (typeof reason === 'string') finishReason = reason
    },
    get finishReason() {
      return finishReason
    },
    end(cut) {
      calls.end()
      // A whole answer is never without a message or a call: readers look for one of them.
      if (!cut && output.entries.every((entry) => entry instanceof Reasoning)) speak()
      for (const entry of output.entries)
        entry.close(cut && (entry === latest || !entry.isWhole) ? 'incomplete' : 'completed')
    },
  }
}
