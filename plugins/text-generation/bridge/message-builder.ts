import type { Citation, ItemStatus, Logprob, MessageItem, RefusalPart, TextPart } from './events.ts'
import { addItem, type ItemBuilder, type Output } from './output.ts'

/** Builds the message item: a text part, a refusal part, or both. Each part begins with its first delta. */
export class MessageBuilder implements ItemBuilder {
  readonly looksComplete = true
  readonly #emit: Output['emit']
  readonly #id: string
  readonly #index: number
  readonly #parts: (TextPart | RefusalPart)[] = []
  #status: ItemStatus = 'in_progress'

  constructor(output: Output) {
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
