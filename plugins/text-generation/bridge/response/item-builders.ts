import type { ToolMapping } from '../tools/mapping.ts'
import type {
  Citation,
  EventWriter,
  Item,
  ItemStatus,
  Logprob,
  MessageItem,
  ReasoningItem,
  RefusalPart,
  TextPart,
} from './events.ts'

/** How the caller wants the reasoning of the model. */
interface ReasoningFormat {
  /**
   * Whether the text comes as a summary, because the request asks for one. Clients that ask for a summary show only
   * that. Chat completions have no summaries, so it is the whole text.
   */
  readonly asSummary: boolean
  /** Encrypts the text. Undefined: the request does not ask for encrypted reasoning. */
  readonly seal: ((text: string) => string) | undefined
}

/** The output of a response: its items in the order in which they began. */
export interface ResponseOutput {
  readonly emit: EventWriter['emit']
  readonly newId: (prefix: string) => string
  readonly items: ItemBuilder[]
  /** The tool that a function name stands for. */
  readonly toolOf: ToolMapping['toolOf']
  readonly reasoning: ReasoningFormat
}

/** Builds an output item and emits its events. The constructor emits `response.output_item.added`. */
export interface ItemBuilder {
  /** Emits the final events of the item. A second call of a reasoning item does nothing. */
  close(status: 'completed' | 'incomplete'): void
  /** The item so far. */
  item(): Item
  /** False if the item is certainly incomplete, such as half the arguments of a function. */
  readonly looksComplete: boolean
}

/** Adds an item to the output and emits `response.output_item.added`. Returns its index. */
export const addItem = (output: ResponseOutput, builder: ItemBuilder): number => {
  const index = output.items.push(builder) - 1
  output.emit({ type: 'response.output_item.added', output_index: index, item: builder.item() })
  return index
}

/** The item of a response that failed: an item in progress becomes incomplete. */
export const withFinalStatus = (item: Item): Item => {
  const status: ItemStatus = item.status === 'in_progress' ? 'incomplete' : item.status
  return { ...item, status }
}

/** Builds the message item: a text part, a refusal part, or both. Each part begins with its first delta. */
export class MessageBuilder implements ItemBuilder {
  readonly looksComplete = true
  readonly #emit: ResponseOutput['emit']
  readonly #id: string
  readonly #index: number
  readonly #parts: (TextPart | RefusalPart)[] = []
  #status: ItemStatus = 'in_progress'

  constructor(output: ResponseOutput) {
    this.#emit = output.emit
    this.#id = output.newId('msg_')
    this.#index = addItem(output, this)
  }

  /** Appends to the text. `delta` may be empty, when only log probabilities came. */
  appendText(delta: string, logprobs: Logprob[]): void {
    const part = this.#textPart()
    part.text += delta
    part.logprobs.push(...logprobs)
    this.#emit({ type: 'response.output_text.delta', ...this.#position(part), delta, logprobs })
  }

  addCitation(annotation: Citation): void {
    const part = this.#textPart()
    const annotation_index = part.annotations.push(annotation) - 1
    this.#emit({ type: 'response.output_text.annotation.added', ...this.#position(part), annotation_index, annotation })
  }

  appendRefusal(delta: string): void {
    const part = this.#part<RefusalPart>('refusal', { type: 'refusal', refusal: '' })
    part.refusal += delta
    this.#emit({ type: 'response.refusal.delta', ...this.#position(part), delta })
  }

  close(status: 'completed' | 'incomplete'): void {
    this.#status = status
    // Clients read the first part, so a message always has one.
    if (this.#parts.length === 0) this.#textPart()
    for (const part of this.#parts) {
      if (part.type === 'refusal') {
        this.#emit({ type: 'response.refusal.done', ...this.#position(part), refusal: part.refusal })
      } else {
        this.#emit({
          type: 'response.output_text.done',
          ...this.#position(part),
          text: part.text,
          logprobs: part.logprobs,
        })
      }
      this.#emit({ type: 'response.content_part.done', ...this.#position(part), part })
    }
    this.#emit({ type: 'response.output_item.done', output_index: this.#index, item: this.item() })
  }

  item(): MessageItem {
    return { type: 'message', id: this.#id, status: this.#status, role: 'assistant', content: [...this.#parts] }
  }

  #textPart(): TextPart {
    return this.#part<TextPart>('output_text', { type: 'output_text', text: '', annotations: [], logprobs: [] })
  }

  /** The part of that type. Added as `empty` where there is none. */
  #part<Part extends TextPart | RefusalPart>(type: Part['type'], empty: Part): Part {
    const part = this.#parts.find((each): each is Part => each.type === type)
    if (part) return part
    this.#parts.push(empty)
    this.#emit({ type: 'response.content_part.added', ...this.#position(empty), part: empty })
    return empty
  }

  #position(part: TextPart | RefusalPart): { item_id: string; output_index: number; content_index: number } {
    return { item_id: this.#id, output_index: this.#index, content_index: this.#parts.indexOf(part) }
  }
}

/** Builds a reasoning item: its text as one part of its content, or of its summary. */
export class ReasoningBuilder implements ItemBuilder {
  readonly looksComplete = true
  readonly #emit: ResponseOutput['emit']
  readonly #format: ReasoningFormat
  readonly #id: string
  readonly #item: { readonly item_id: string; readonly output_index: number }
  #status: ItemStatus = 'in_progress'
  #hasPart = false
  #text = ''
  #sealed: string | undefined

  constructor(output: ResponseOutput) {
    this.#emit = output.emit
    this.#format = output.reasoning
    this.#id = output.newId('rs_')
    this.#item = { item_id: this.#id, output_index: addItem(output, this) }
    this.#hasPart = true
    this.#emitPart('added')
  }

  append(delta: string): void {
    this.#text += delta
    if (this.#format.asSummary)
      this.#emit({ type: 'response.reasoning_summary_text.delta', ...this.#item, summary_index: 0, delta })
    else this.#emit({ type: 'response.reasoning_text.delta', ...this.#item, content_index: 0, delta })
  }

  close(status: 'completed' | 'incomplete'): void {
    if (this.#status !== 'in_progress') return
    this.#status = status
    this.#sealed = this.#format.seal?.(this.#text)
    const text = this.#text
    if (this.#format.asSummary)
      this.#emit({ type: 'response.reasoning_summary_text.done', ...this.#item, summary_index: 0, text })
    else this.#emit({ type: 'response.reasoning_text.done', ...this.#item, content_index: 0, text })
    this.#emitPart('done')
    this.#emit({ type: 'response.output_item.done', output_index: this.#item.output_index, item: this.item() })
  }

  get isOpen(): boolean {
    return this.#status === 'in_progress'
  }

  item(): ReasoningItem {
    const { asSummary } = this.#format
    const text = this.#text
    return {
      type: 'reasoning',
      id: this.#id,
      status: this.#status,
      summary: asSummary && this.#hasPart ? [{ type: 'summary_text', text }] : [],
      ...(asSummary ? {} : { content: this.#hasPart ? [{ type: 'reasoning_text' as const, text }] : [] }),
      ...(this.#sealed === undefined ? {} : { encrypted_content: this.#sealed }),
    }
  }

  #emitPart(when: 'added' | 'done'): void {
    const text = this.#text
    if (this.#format.asSummary)
      this.#emit({
        type: `response.reasoning_summary_part.${when}`,
        ...this.#item,
        summary_index: 0,
        part: { type: 'summary_text', text },
      })
    else
      this.#emit({
        type: `response.content_part.${when}`,
        ...this.#item,
        content_index: 0,
        part: { type: 'reasoning_text', text },
      })
  }
}
