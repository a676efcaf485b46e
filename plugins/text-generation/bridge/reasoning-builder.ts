import type { ItemStatus, ReasoningItem, ReasoningTextPart } from './events.ts'
import { addItem, type ItemBuilder, type Output } from './output.ts'

/** Builds a reasoning item. */
export class ReasoningBuilder implements ItemBuilder {
  readonly looksComplete = true
  readonly #emit: Output['emit']
  readonly #id: string
  readonly #position: { item_id: string; output_index: number; content_index: number }
  #status: ItemStatus = 'in_progress'
  #hasPart = false
  #text = ''

  constructor(output: Output) {
    this.#emit = output.emit
    this.#id = output.newId('rs_')
    this.#position = { item_id: this.#id, output_index: addItem(output, this), content_index: 0 }
    this.#hasPart = true
    this.#emit({ type: 'response.content_part.added', ...this.#position, part: this.#part() })
  }

  append(delta: string): void {
    this.#text += delta
    this.#emit({ type: 'response.reasoning_text.delta', ...this.#position, delta })
  }

  close(status: 'completed' | 'incomplete'): void {
    if (this.#status !== 'in_progress') return
    this.#status = status
    this.#emit({ type: 'response.reasoning_text.done', ...this.#position, text: this.#text })
    this.#emit({ type: 'response.content_part.done', ...this.#position, part: this.#part() })
    this.#emit({ type: 'response.output_item.done', output_index: this.#position.output_index, item: this.item() })
  }

  get isOpen(): boolean {
    return this.#status === 'in_progress'
  }

  item(): ReasoningItem {
    const content = this.#hasPart ? [this.#part()] : []
    return { type: 'reasoning', id: this.#id, status: this.#status, summary: [], content }
  }

  #part(): ReasoningTextPart {
    return { type: 'reasoning_text', text: this.#text }
  }
}
