import type { ItemStatus, ReasoningItem, ThoughtPart } from './events.ts'
import { begin, type Entry, type Output } from './output.ts'

/** What the model thinks before it answers, as an item of its own. */
export class Reasoning implements Entry {
  readonly isWhole = true
  readonly #emit: Output['emit']
  readonly #id: string
  readonly #at: { item_id: string; output_index: number; content_index: number }
  #status: ItemStatus = 'in_progress'
  #begun = false
  #text = ''

  constructor(output: Output) {
    this.#emit = output.emit
    this.#id = output.newId('rs_')
    this.#at = { item_id: this.#id, output_index: begin(output, this), content_index: 0 }
    this.#begun = true
    this.#emit({ type: 'response.content_part.added', ...this.#at, part: this.#part() })
  }

  add(delta: string): void {
    this.#text += delta
    this.#emit({ type: 'response.reasoning_text.delta', ...this.#at, delta })
  }

  close(status: 'completed' | 'incomplete'): void {
    if (this.#status !== 'in_progress') return
    this.#status = status
    this.#emit({ type: 'response.reasoning_text.done', ...this.#at, text: this.#text })
    this.#emit({ type: 'response.content_part.done', ...this.#at, part: this.#part() })
    this.#emit({ type: 'response.output_item.done', output_index: this.#at.output_index, item: this.item() })
  }

  get isOpen(): boolean {
    return this.#status === 'in_progress'
  }

  item(): ReasoningItem {
    const content = this.#begun ? [this.#part()] : []
    return { type: 'reasoning', id: this.#id, status: this.#status, summary: [], content }
  }

  #part(): ThoughtPart {
    return { type: 'reasoning_text', text: this.#text }
  }
}
