import { parseLossless } from '../../../shared/json/lossless.ts'
import { asJsonObject } from '../../../shared/json/parsed.ts'
import { JsonEnd } from '../../chat/json-end.ts'
import type { ToolCallStart } from '../../chat/streamed-calls.ts'
import { StreamError } from '../../protocol/assembly.ts'
import type { BlockDelta, MessageBlock } from './events.ts'

/** One block of the content of a message. */
export interface Block {
  readonly index: number
  /** The text so far, or what is needed of it. */
  readonly text: string
  /** Whether nothing can follow, or what follows can go to another block. */
  readonly mayEnd: boolean
  /** False for half a tool call. */
  readonly isUsable: boolean
  append(text: string): void
  /** The block in its first event, without text. */
  start(): MessageBlock
  /** Undefined: the caller does not see the text. */
  delta(text: string): BlockDelta | undefined
  /** The text has been sent in an event, so that it need not be kept for another. */
  sent(): void
  /** The last delta, if there is one. */
  end(): BlockDelta | undefined
  /** The complete block. */
  content(): MessageBlock
}

export class TextBlock implements Block {
  readonly index: number
  readonly mayEnd = true
  readonly isUsable = true
  text = ''

  constructor(index: number) {
    this.index = index
  }

  append(text: string): void {
    this.text += text
  }

  start(): MessageBlock {
    return { type: 'text', text: '', citations: null }
  }

  delta(text: string): BlockDelta {
    return { type: 'text_delta', text }
  }

  sent(): void {
    this.text = ''
  }

  end(): undefined {}

  content(): MessageBlock {
    return { type: 'text', text: this.text, citations: null }
  }
}

/** A block of the model's reasoning. Its signature contains the text, so the text is kept to the end. */
export class ThinkingBlock implements Block {
  readonly index: number
  readonly mayEnd = true
  readonly isUsable = true
  text = ''
  readonly #isShown: boolean
  readonly #sign: (thinking: string) => string

  constructor(index: number, isShown: boolean, sign: (thinking: string) => string) {
    this.index = index
    this.#isShown = isShown
    this.#sign = sign
  }

  append(text: string): void {
    this.text += text
  }

  start(): MessageBlock {
    return { type: 'thinking', thinking: '', signature: '' }
  }

  delta(text: string): BlockDelta | undefined {
    return this.#isShown ? { type: 'thinking_delta', thinking: text } : undefined
  }

  sent(): void {}

  end(): BlockDelta {
    return { type: 'signature_delta', signature: this.#sign(this.text) }
  }

  content(): MessageBlock {
    return { type: 'thinking', thinking: this.#isShown ? this.text : '', signature: this.#sign(this.text) }
  }
}

/** A tool call. Its input is the arguments of a function, which are JSON. */
export class ToolUseBlock implements Block {
  readonly index: number
  text = ''
  readonly #call: ToolCallStart
  readonly #end = new JsonEnd()

  constructor(index: number, call: ToolCallStart) {
    this.index = index
    this.#call = call
  }

  /** Whether the arguments are whole. Empty ones may grow: some upstreams send the names of all calls first. */
  get mayEnd(): boolean {
    return this.#end.hasEnded
  }

  get isUsable(): boolean {
    return this.mayEnd && parseInput(this.text) !== undefined
  }

  append(text: string): void {
    this.text += text
    this.#end.push(text)
    if (this.#end.maxDepth > maxDepth)
      throw new StreamError(`the upstream sent arguments nested deeper than ${maxDepth}`)
  }

  start(): MessageBlock {
    return this.#block({})
  }

  delta(text: string): BlockDelta {
    return { type: 'input_json_delta', partial_json: text }
  }

  sent(): void {
    this.text = ''
  }

  end(): undefined {}

  content(): MessageBlock {
    const input = this.text.trim() === '' ? {} : parseInput(this.text)
    if (!input) throw new StreamError('the upstream sent a tool call whose arguments are not a JSON object')
    return this.#block(input)
  }

  #block(input: object): MessageBlock {
    const { callId: id, name } = this.#call
    return { type: 'tool_use', id, name, input, caller: { type: 'direct' } }
  }
}

/** Very deep nesting could overflow the stack when the message is serialized. */
const maxDepth = 200

/** The arguments, with all numbers as they are. Undefined if they are not a JSON object. */
const parseInput = (text: string): object | undefined => {
  try {
    return asJsonObject(parseLossless(text))
  } catch {
    return undefined
  }
}
