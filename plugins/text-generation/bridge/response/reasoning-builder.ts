import type { ItemStatus, ReasoningItem } from './events.ts'
import { addItem, type ItemBuilder, type ReasoningFormat, type ResponseOutput } from './item-builders.ts'

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
