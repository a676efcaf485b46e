import { isJsonObject, type JsonObject } from '../../../shared/json/parsed.ts'
import { asArray, textOf } from '../../chat/chunk.ts'
import { createStreamedCalls } from '../../chat/streamed-calls.ts'
import { StreamError } from '../../protocol/assembly.ts'
import { beginCall } from '../tools/call-builders.ts'
import type { Citation, Logprob } from './events.ts'
import { type ItemBuilder, MessageBuilder, ReasoningBuilder, type ResponseOutput } from './item-builders.ts'

/** Translates the one choice of a chat stream to the items of a response. */
export interface ChoiceItems {
  /** Takes an element of `choices`. Throws StreamError for anything that a response cannot hold. */
  push(choice: unknown): void
  /** Undefined while the choice has not finished. */
  readonly finishReason: string | undefined
  /** Closes all items. @param cut whether a limit or a filter stopped the model early */
  end(cut: boolean): void
}

/**
 * The message and the tool calls stay open until the end, because deltas of either may come late. Reasoning is closed
 * when a message or a tool call begins; later reasoning is another item. Items are closed in the order of the output.
 */
export const createChoiceItems = (output: ResponseOutput): ChoiceItems => {
  const calls = createStreamedCalls({
    beginCall: (call) => beginCall(output, call),
    newCallId: () => output.newId('call_'),
  })
  let reasoning: ReasoningBuilder | undefined
  let message: MessageBuilder | undefined
  /** The item of the latest delta: it is the one that a limit cuts. */
  let latest: ItemBuilder | undefined
  /** Log probabilities that came before their text. */
  let pendingLogprobs: Logprob[] = []
  /** Index of the choice. A response holds only one. */
  let index: unknown
  let finishReason: string | undefined

  const addReasoning = (text: string): void => {
    if (!reasoning?.isOpen) reasoning = new ReasoningBuilder(output)
    latest = reasoning
    reasoning.append(text)
  }

  const openMessage = (): MessageBuilder => {
    reasoning?.close('completed')
    message ??= new MessageBuilder(output)
    latest = message
    return message
  }

  const setLatest = (item: ItemBuilder | undefined): void => {
    latest = item ?? latest
  }

  const addDelta = (delta: JsonObject, logprobs: unknown): void => {
    const reasoningText = textOf(delta.reasoning_content) || textOf(delta.reasoning)
    if (reasoningText !== '') addReasoning(reasoningText)
    if (Array.isArray(delta.content)) throw new StreamError('the upstream sent content that a response cannot hold')
    const text = textOf(delta.content)
    const toolCalls = asArray(delta.tool_calls)
    // A response has log probabilities only of text, not of reasoning or tool calls.
    if (text !== '' || (reasoningText === '' && toolCalls.length === 0)) pendingLogprobs.push(...toLogprobs(logprobs))
    if (text !== '' || (message && pendingLogprobs.length > 0)) {
      openMessage().appendText(text, pendingLogprobs)
      pendingLogprobs = []
    }
    const refusal = textOf(delta.refusal)
    if (refusal !== '') openMessage().appendRefusal(refusal)
    for (const citation of toCitations(delta.annotations)) openMessage().addCitation(citation)
    if (toolCalls.length > 0 || isJsonObject(delta.function_call)) reasoning?.close('completed')
    for (const toolCall of toolCalls) setLatest(calls.push(toolCall))
    if (isJsonObject(delta.function_call)) setLatest(calls.pushFunctionCall(delta.function_call))
  }

  return {
    push(choice) {
      if (!isJsonObject(choice)) return
      const { index: at = 0, delta, error, finish_reason: reason } = choice
      index ??= at
      if (at !== index) throw new StreamError('the upstream sent more than one choice')
      if (isJsonObject(error)) throw new StreamError('the upstream reported an error', { error })
      if (isJsonObject(delta)) addDelta(delta, choice.logprobs)
      if (reason === 'error') throw new StreamError('the upstream ended its response with an error')
      if (typeof reason === 'string' && reason !== '') finishReason = reason
    },
    get finishReason() {
      return finishReason
    },
    end(cut) {
      calls.end()
      // Clients look for a message or a call, so a complete response always has one, even if it is an empty message.
      if (!cut && output.items.every((item) => item instanceof ReasoningBuilder)) openMessage()
      for (const item of output.items)
        item.close(cut && (item === latest || !item.looksComplete) ? 'incomplete' : 'completed')
    },
  }
}

/** Translates `logprobs` of a chat completion. `bytes` may be null there, but clients of responses require an array. */
const toLogprobs = (logprobs: unknown): Logprob[] =>
  asArray(isJsonObject(logprobs) ? logprobs.content : undefined)
    .filter(isJsonObject)
    .map((token) => ({
      ...toLogprob(token),
      top_logprobs: asArray(token.top_logprobs).filter(isJsonObject).map(toLogprob),
    }))

const toLogprob = ({ token, logprob, bytes }: JsonObject) => ({
  token: textOf(token),
  logprob: logprob as number,
  bytes: [...asArray(bytes)] as number[],
})

/**
 * Translates `annotations` of a chat completion, which nests their members. Only type `url_citation` exists in both
 * protocols; others are left out.
 */
const toCitations = (annotations: unknown): Citation[] =>
  asArray(annotations).flatMap((annotation) => {
    if (!isJsonObject(annotation) || annotation.type !== 'url_citation') return []
    const members = isJsonObject(annotation.url_citation) ? annotation.url_citation : annotation
    const { start_index = 0, end_index = 0 } = members
    return [
      {
        type: 'url_citation' as const,
        url: textOf(members.url),
        title: textOf(members.title),
        start_index: start_index as number,
        end_index: end_index as number,
      },
    ]
  })
