import type { CustomCallItem, FunctionCallItem, ItemStatus } from './events.ts'
import { addItem, type ItemBuilder, type Output } from './output.ts'

/** What must be known of a tool call before its item can begin. */
export interface ToolCallStart {
  readonly kind: 'function' | 'custom'
  readonly name: string
  /** The id that the call's output refers to. */
  readonly callId: string
}

/** Builds the item of a call of one of the caller's tools. */
export class ToolCallBuilder implements ItemBuilder {
  readonly #emit: Output['emit']
  readonly #call: ToolCallStart
  readonly #id: string
  readonly #index: number
  #status: ItemStatus = 'in_progress'
  #text = ''

  constructor(output: Output, call: ToolCallStart) {
    this.#emit = output.emit
    this.#call = call
    this.#id = output.newId(call.kind === 'function' ? 'fc_' : 'ctc_')
    this.#index = addItem(output, this)
  }

  /** Appends to the arguments, or to a custom tool's input. */
  append(delta: string): void {
    this.#text += delta
    const type =
      this.#call.kind === 'function'
        ? 'response.function_call_arguments.delta'
        : 'response.custom_tool_call_input.delta'
    this.#emit({ type, ...this.#position, delta })
  }

  close(status: 'completed' | 'incomplete'): void {
    const { kind, name } = this.#call
    // Clients parse the arguments of a complete call. Some upstreams send none for functions without parameters.
    if (kind === 'function' && status === 'completed' && this.#text === '') this.append('{}')
    this.#status = status
    if (kind === 'function') {
      this.#emit({ type: 'response.function_call_arguments.done', ...this.#position, name, arguments: this.#text })
    } else {
      this.#emit({ type: 'response.custom_tool_call_input.done', ...this.#position, input: this.#text })
    }
    this.#emit({ type: 'response.output_item.done', output_index: this.#index, item: this.item() })
  }

  item(): FunctionCallItem | CustomCallItem {
    const { kind, name, callId: call_id } = this.#call
    const common = { id: this.#id, status: this.#status, call_id, name }
    return kind === 'function'
      ? { type: 'function_call', ...common, arguments: this.#text }
      : { type: 'custom_tool_call', ...common, input: this.#text }
  }

  /** Incomplete arguments of a function are not valid JSON. */
  get looksComplete(): boolean {
    return this.#call.kind === 'custom' || isJson(this.#text)
  }

  get #position(): { item_id: string; output_index: number } {
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
