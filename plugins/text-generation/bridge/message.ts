import type { Citation, ItemStatus, Logprob, MessageItem, RefusalPart, TextPart } from './events.ts'
import { begin, type Entry, type Output } from './output.ts'

/** What the model says to the user: a text, a refusal, or both, each as a part that begins with its first word. */
export class Message implements Entry {
  readonly isWhole = true
  readonly #emit: Output['emit']
  readonly #id: string
  readonly #index: number
  readonly #parts: (TextPart | RefusalPart)[] = []
  #status: ItemStatus = 'in_progress'

  constructor(output: Output) {
    this.#emit = output.emit
    this.#id = output.newId('msg_')
    this.#index = begin(output, this)
  }

  /** Adds to the text. `delta` may be empty, where only probabilities came. */
  say(delta: string, logprobs: Logprob[]): void {
    const part = this.#text()
    part.text += delta
    part.logprobs.push(...logprobs)
    this.#emit({ type: 'response.output_text.delta', ...this.#at(part), delta, logprobs })
  }

  cite(annotation: Citation): void {
    const part = this.#text()
    const annotation_index = part.annotations.push(annotation) - 1
    this.#emit({ type: 'response.output_text.annotation.added', ...this.#at(part), annotation_index, annotation })
  }

  refuse(delta: string): void {
    const part = this.#part<RefusalPart>('refusal', { type: 'refusal', refusal: '' })
    part.refusal += delta
    this.#emit({ type: 'response.refusal.delta', ...this.#at(part), delta })
  }

  close(status: 'completed' | 'incomplete'): void {
    this.#status = status
    // A message is never without a part: readers look into the first.
    if (this.#parts.length === 0) this.#text()
    for (const part of this.#parts) {
      if (part.type === 'refusal') {
        this.#emit({ type: 'response.refusal.done', ...this.#at(part), refusal: part.refusal })
      } else {
        this.#emit({ type: 'response.output_text.done', ...this.#at(part), text: part.text, logprobs: part.logprobs })
      }
      this.#emit({ type: 'response.content_part.done', ...this.#at(part), part })
    }
    this.#emit({ type: 'response.output_item.done', output_index: this.#index, item: this.item() })
  }

  item(): MessageItem {
    return { type: 'message', id: this.#id, status: this.#status, role: 'assistant', content: [...this.#parts] }
  }

  #text(): TextPart {
    return this.#part<TextPart>('output_text', { type: 'output_text', text: '', annotations: [], logprobs: [] })
  }

  /** The part of that type, which begins with `empty`. */
  #part<Part extends TextPart | RefusalPart>(type: Part['type'], empty: Part): Part {
    const part = this.#parts.find((each): each is Part => each.type === type)
    if (part) return part
    this.#parts.push(empty)
    this.#emit({ type: 'response.content_part.added', ...this.#at(empty), part: empty })
    return empty
  }

  #at(part: TextPart | RefusalPart): { item_id: string; output_index: number; content_index: number } {
    return { item_id: this.#id, output_index: this.#index, content_index: this.#parts.indexOf(part) }
  }
}
