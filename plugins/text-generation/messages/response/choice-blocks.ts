import { isJsonObject, type JsonObject } from '../../../shared/json/parsed.ts'
import { asArray, textOf } from '../../chat/chunk.ts'
import { type CallBuilder, createStreamedCalls, type ToolCallStart } from '../../chat/streamed-calls.ts'
import { StreamError } from '../../protocol/assembly.ts'
import { type Block, TextBlock, ThinkingBlock, ToolUseBlock } from './blocks.ts'
import type { MessageBlock, MessageEnd, MessageEvent, StopReason } from './events.ts'

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

interface ContentBlocksOptions {
  /** Undefined: the caller receives the whole message, and no events. */
  readonly emit: ((event: MessageEvent) => void) | undefined
  /** What the caller sees of the model's reasoning: the text, or only its signature. */
  readonly thinking: 'shown' | 'omitted'
  /** Makes the signature of a thinking block. */
  readonly sign: (thinking: string) => string
}

/**
 * The content blocks of one message, in the order in which they begin.
 *
 * The events of a block end before those of the next begin. But upstreams interleave texts and tool calls. So a block
 * that begins while the arguments of a tool call are incomplete waits: its text is kept until that call has ended.
 */
class ContentBlocks {
  readonly #options: ContentBlocksOptions
  readonly #blocks: Block[] = []
  /** Index of the block whose events are sent. */
  #open = -1

  constructor(options: ContentBlocksOptions) {
    this.#options = options
  }

  addText(text: string): void {
    const last = this.#blocks.at(-1)
    this.#append(last instanceof TextBlock ? last : this.#begin(new TextBlock(this.#blocks.length)), text)
  }

  addThinking(text: string): void {
    const last = this.#blocks.at(-1)
    this.#append(last instanceof ThinkingBlock ? last : this.#begin(this.#newThinking()), text)
  }

  /** Begins the block of a tool call. */
  beginToolUse(call: ToolCallStart): CallBuilder {
    const block = this.#begin(new ToolUseBlock(this.#blocks.length, call))
    return {
      append: (text) => this.#append(block, text),
      get looksComplete() {
        return block.mayEnd
      },
    }
  }

  get hasToolUse(): boolean {
    return this.#blocks.some((block) => block instanceof ToolUseBlock)
  }

  /** Ends all blocks. */
  end(): void {
    if (this.#open === -1) return
    this.#stop()
    while (this.#open < this.#blocks.length - 1) {
      this.#start()
      this.#stop()
    }
  }

  /**
   * The blocks so far. @param cut whether the message was cut off: then without incomplete tool calls
   *
   * Throws StreamError if the arguments of a tool call are not a JSON object.
   */
  content(cut: boolean): readonly MessageBlock[] {
    return this.#blocks.filter((block) => !cut || block.isUsable).map((block) => block.content())
  }

  #newThinking(): ThinkingBlock {
    const { thinking, sign } = this.#options
    return new ThinkingBlock(this.#blocks.length, thinking === 'shown', sign)
  }

  #begin<Kind extends Block>(block: Kind): Kind {
    this.#blocks.push(block)
    if (this.#open === -1) this.#start()
    else this.#advance()
    return block
  }

  /** Starts the next block, and sends the text that it has kept. */
  #start(): void {
    const block = this.#blocks[++this.#open] as Block
    this.#options.emit?.({ type: 'content_block_start', index: block.index, content_block: block.start() })
    this.#send(block, block.text)
  }

  #stop(): void {
    const { emit } = this.#options
    const index = this.#open
    const delta = emit && this.#blocks[index]?.end()
    if (delta) emit({ type: 'content_block_delta', index, delta })
    emit?.({ type: 'content_block_stop', index })
  }

  /** Ends the open block if another one waits. */
  #advance(): void {
    while (this.#open < this.#blocks.length - 1 && this.#blocks[this.#open]?.mayEnd) {
      this.#stop()
      this.#start()
    }
  }

  #append(block: Block, text: string): void {
    // Nothing can follow the complete arguments of a call.
    if (block.index < this.#open) return
    block.append(text)
    if (block.index === this.#open) this.#send(block, text)
    this.#advance()
  }

  #send(block: Block, text: string): void {
    const { emit } = this.#options
    if (!emit || text === '') return
    const delta = block.delta(text)
    if (delta) emit({ type: 'content_block_delta', index: block.index, delta })
    block.sent()
  }
}
