import type { CustomCallItem, FunctionCallItem, ItemStatus } from './events.ts'
import { begin, type Entry, type Output } from './output.ts'

/** What a chat stream said of a call when its item began. */
export interface Called {
  readonly kind: 'function' | 'custom'
  readonly name: string
  /** The id that the answer to the call will bear. */
  readonly callId: string
}

/** A call of one of the caller's tools. */
export class CallEntry implements Entry {
  readonly #emit: Output['emit']
  readonly #called: Called
  readonly #id: string
  readonly #index: number
  #status: ItemStatus = 'in_progress'
  #text = ''

  constructor(output: Output, called: Called) {
    this.#emit = output.emit
    this.#called = called
    this.#id = output.newId(called.kind === 'function' ? 'fc_' : 'ctc_')
    this.#index = begin(output, this)
  }

  /** Adds to the arguments, or to a custom tool's input. */
  add(delta: string): void {
    this.#text += delta
    const type =
      this.#called.kind === 'function'
        ? 'response.function_call_arguments.delta'
        : 'response.custom_tool_call_input.delta'
    this.#emit({ type, ...this.#at, delta })
  }

  close(status: 'completed' | 'incomplete'): void {
    const { kind, name } = this.#called
    // Callers parse the arguments of a whole call, and some upstreams leave out those of functions that take none.
    if (kind === 'function' && status === 'completed' && this.#text === '') this.add('{}')
    this.#status = status
    if (kind === 'function') {
      this.#emit({ type: 'response.function_call_arguments.done', ...this.#at, name, arguments: this.#text })
    } else {
      this.#emit({ type: 'response.custom_tool_call_input.done', ...this.#at, input: this.#text })
    }
    this.#emit({ type: 'response.output_item.done', output_index: this.#index, item: this.item() })
  }

  item(): FunctionCallItem | CustomCallItem {
    const { kind, name, callId: call_id } = this.#called
    const common = { id: this.#id, status: this.#status, call_id, name }
    return kind === 'function'
      ? { type: 'function_call', ...common, arguments: this.#text }
      : { type: 'custom_tool_call', ...common, input: this.#text }
  }

  /** Half the arguments of a function are no JSON. */
  get isWhole(): boolean {
    return this.#called.kind === 'custom' || isJson(this.#text)
  }

  get #at(): { item_id: string; output_index: number } {
    return { item_id: this.#id, output_index: this.#index }
  }
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
