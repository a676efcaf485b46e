import { isJsonObject, type JsonObject } from '../../../shared/json/parsed.ts'
import { asArray, textOf } from '../../chat/chunk.ts'
import { createStreamedCalls } from '../../chat/streamed-calls.ts'
import { StreamError } from '../../protocol/assembly.ts'
import { ContentBlocks, type ContentBlocksOptions } from './content-blocks.ts'
import type { MessageEnd, StopReason } from './events.ts'

export interface ChoiceBlocksOptions extends Omit<ContentBlocksOptions, 'thinking'> {
  /** What the caller wants of the model's reasoning. */
  readonly thinking: 'none' | 'shown' | 'omitted'
  readonly stopSequences: ReadonlySet<string>
  /** The names of tools by the names of their functions, where they differ. */
  readonly toolNames: ReadonlyMap<string, string>
  readonly newCallId: () => string
}

/** Translates the one choice of a chat stream to the blocks of a message. */
export class ChoiceBlocks {
  readonly blocks: ContentBlocks
  readonly #options: ChoiceBlocksOptions
  readonly #calls
  #finishReason: string | undefined
  #refused = false
  #stopSequence: string | undefined

  constructor(options: ChoiceBlocksOptions) {
    this.#options = options
    const blocks = new ContentBlocks({ ...options, thinking: options.thinking === 'omitted' ? 'omitted' : 'shown' })
    this.blocks = blocks
    this.#calls = createStreamedCalls({
      newCallId: options.newCallId,
      beginCall(call) {
        if (call.kind === 'custom') throw new StreamError('the upstream sent a call of a tool that it was not given')
        return blocks.beginToolUse({ ...call, name: options.toolNames.get(call.name) ?? call.name })
      },
    })
  }

  get finished(): boolean {
    return this.#finishReason !== undefined
  }

  /** Takes an element of `choices`. Throws StreamError for anything that a message cannot hold. */
  push(choice: unknown): void {
    if (!isJsonObject(choice)) return
    const { index = 0, delta, error, finish_reason: reason } = choice
    if (index !== 0) throw new StreamError('the upstream sent more than one choice')
    if (isJsonObject(error)) throw new StreamError('the upstream reported an error', { error })
    if (isJsonObject(delta)) this.#addDelta(delta)
    if (reason === 'error') throw new StreamError('the upstream ended its response with an error')
    if (typeof reason === 'string' && reason !== '') this.#finishReason = reason
    this.#readStop(choice)
  }

  /** Ends all blocks. */
  end(): void {
    this.#calls.end()
    this.blocks.end()
  }

  /** @param cut whether the message was cut off at the time limit */
  messageEnd(cut: boolean): MessageEnd {
    const reason: StopReason = cut && !this.finished ? 'max_tokens' : this.#stopReason()
    return {
      stop_reason: reason,
      stop_sequence: reason === 'stop_sequence' ? (this.#stopSequence ?? null) : null,
      stop_details: reason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
      container: null,
    }
  }

  #addDelta(delta: JsonObject): void {
    const reasoning = textOf(delta.reasoning_content) || textOf(delta.reasoning)
    if (reasoning !== '' && this.#options.thinking !== 'none') this.blocks.addThinking(reasoning)
    if (Array.isArray(delta.content)) throw new StreamError('the upstream sent content that a message cannot hold')
    const text = textOf(delta.content)
    if (text !== '') this.blocks.addText(text)
    const refusal = textOf(delta.refusal)
    if (refusal !== '') {
      this.#refused = true
      this.blocks.addText(refusal)
    }
    for (const call of asArray(delta.tool_calls)) this.#calls.push(call)
    if (isJsonObject(delta.function_call)) this.#calls.pushFunctionCall(delta.function_call)
  }

  /** Some upstreams (vLLM, SGLang) name the stop sequence that ended the text. */
  #readStop({ stop_reason: ofVllm, matched_stop: ofSglang }: JsonObject): void {
    for (const stop of [ofVllm, ofSglang]) {
      if (typeof stop === 'string' && this.#options.stopSequences.has(stop)) this.#stopSequence = stop
    }
  }

  #stopReason(): StopReason {
    if (this.#refused) return 'refusal'
    switch (this.#finishReason) {
      case 'length':
        return 'max_tokens'
      case 'content_filter':
        return 'refusal'
      default:
        // Some upstreams finish tool calls with another reason.
        if (this.blocks.hasToolUse) return 'tool_use'
        return this.#stopSequence === undefined ? 'end_turn' : 'stop_sequence'
    }
  }
}
