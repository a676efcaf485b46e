import type { CallBuilder, ToolCallStart } from '../../chat/streamed-calls.ts'
import { type Block, TextBlock, ThinkingBlock, ToolUseBlock } from './blocks.ts'
import type { MessageBlock, MessageEvent } from './events.ts'

export interface ContentBlocksOptions {
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
export class ContentBlocks {
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
