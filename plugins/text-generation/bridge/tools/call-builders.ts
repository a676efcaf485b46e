import { JsonError, parseJson } from '../../../shared/json/json.ts'
import { isJsonObject, type JsonObject, parsedJson } from '../../../shared/json/parsed.ts'
import { textOf } from '../../chat/chunk.ts'
import { JsonEnd } from '../../chat/json-end.ts'
import type { CallBuilder, ToolCallStart } from '../../chat/streamed-calls.ts'
import type {
  CallItem,
  CustomCallItem,
  FunctionCallItem,
  ItemStatus,
  LocalShellCallItem,
  ToolSearchCallItem,
} from '../response/events.ts'
import { addItem, type ItemBuilder, type ResponseOutput } from '../response/item-builders.ts'
import { CustomInputDecoder } from './custom-input.ts'
import type { Tool } from './declared-tools.ts'

/** A call, and the tool as the caller knows it. */
interface CallStart extends ToolCallStart {
  readonly tool: Tool
}

/** Builds the item of a call of one of the caller's tools. */
type CallItemBuilder = ItemBuilder & CallBuilder

/** Begins the item of a call, as the caller knows the tool. */
export const beginCall = (output: ResponseOutput, call: ToolCallStart): CallItemBuilder => {
  const { kind, name } = call
  const start = { ...call, tool: kind === 'custom' ? { kind, name } : output.toolOf(name) }
  if (start.tool.kind === 'function') return new FunctionCallBuilder(output, start)
  if (start.tool.kind === 'custom') return new CustomCallBuilder(output, start)
  return new WholeCallBuilder(output, start, start.tool.kind)
}

abstract class BaseCallBuilder<Item extends CallItem> implements CallItemBuilder {
  protected readonly emit: ResponseOutput['emit']
  protected readonly start: CallStart
  protected readonly id: string
  protected status: ItemStatus = 'in_progress'
  /** The arguments so far. */
  protected text = ''
  readonly #end = new JsonEnd()
  /** Whether the ended arguments are JSON. Undefined: not parsed yet. */
  #isWhole: boolean | undefined
  #index = -1

  constructor(output: ResponseOutput, start: CallStart, idPrefix: string) {
    this.emit = output.emit
    this.start = start
    this.id = output.newId(idPrefix)
  }

  append(delta: string): void {
    this.text += delta
    this.#end.push(delta)
  }

  abstract item(): Item
  /** Emits the events before the item is done. */
  protected abstract finish(status: 'completed' | 'incomplete'): void

  close(status: 'completed' | 'incomplete'): void {
    this.finish(status)
    this.status = status
    this.emit({ type: 'response.output_item.done', output_index: this.#index, item: this.item() })
  }

  /** Incomplete arguments are not valid JSON. */
  get looksComplete(): boolean {
    if (this.start.kind === 'custom') return true
    // Some upstreams repeat the name of a call with each piece. To parse all pieces before each of them would take too
    // long.
    if (!this.#end.hasEnded) return this.text.length <= maxWordLength && parsedJson(this.text) !== undefined
    this.#isWhole ??= parsedJson(this.text) !== undefined
    return this.#isWhole
  }

  /** Adds the item to the output. Called by each constructor, when the item can be read. */
  protected add(output: ResponseOutput): void {
    this.#index = addItem(output, this)
  }

  protected get position(): { item_id: string; output_index: number } {
    return { item_id: this.id, output_index: this.#index }
  }

  protected get named() {
    const { tool, callId: call_id } = this.start
    const namespace = tool.namespace === undefined ? {} : { namespace: tool.namespace }
    return { id: this.id, status: this.status, call_id, name: tool.name, ...namespace }
  }
}

/** Longer than numbers and words such as `null`, whose end only the end of the arguments shows. */
const maxWordLength = 64

class FunctionCallBuilder extends BaseCallBuilder<FunctionCallItem> {
  constructor(output: ResponseOutput, start: CallStart) {
    super(output, start, 'fc_')
    this.add(output)
  }

  override append(delta: string): void {
    super.append(delta)
    this.emit({ type: 'response.function_call_arguments.delta', ...this.position, delta })
  }

  protected finish(status: 'completed' | 'incomplete'): void {
    // Clients parse the arguments of a complete call. Some upstreams send none for functions without parameters.
    if (status === 'completed' && this.text === '') this.append('{}')
    const { name } = this.start.tool
    this.emit({ type: 'response.function_call_arguments.done', ...this.position, name, arguments: this.text })
  }

  item(): FunctionCallItem {
    return { type: 'function_call', ...this.named, arguments: this.text }
  }
}

class CustomCallBuilder extends BaseCallBuilder<CustomCallItem> {
  readonly #decoder = new CustomInputDecoder()
  #input = ''

  constructor(output: ResponseOutput, start: CallStart) {
    super(output, start, 'ctc_')
    this.add(output)
  }

  override append(delta: string): void {
    super.append(delta)
    this.#appendInput(this.start.kind === 'custom' ? delta : this.#decoder.push(delta))
  }

  protected finish(): void {
    if (this.start.kind !== 'custom') this.#appendInput(this.#decoder.end())
    this.emit({ type: 'response.custom_tool_call_input.done', ...this.position, input: this.#input })
  }

  item(): CustomCallItem {
    return { type: 'custom_tool_call', ...this.named, input: this.#input }
  }

  #appendInput(delta: string): void {
    if (delta === '') return
    this.#input += delta
    this.emit({ type: 'response.custom_tool_call_input.delta', ...this.position, delta })
  }
}

/** Builds a call whose item the protocol sends whole, without deltas. */
class WholeCallBuilder extends BaseCallBuilder<LocalShellCallItem | ToolSearchCallItem> {
  readonly #kind: 'local_shell' | 'tool_search'

  constructor(output: ResponseOutput, start: CallStart, kind: 'local_shell' | 'tool_search') {
    super(output, start, kind === 'local_shell' ? 'lsh_' : 'tsc_')
    this.#kind = kind
    this.add(output)
  }

  protected finish(): void {}

  item(): LocalShellCallItem | ToolSearchCallItem {
    const { id, status, start } = this
    const common = { id, status, call_id: start.callId }
    const members = membersIn(this.text)
    if (this.#kind === 'tool_search')
      return { type: 'tool_search_call', ...common, execution: 'client', arguments: members }
    return { type: 'local_shell_call', ...common, action: toAction(members) }
  }
}

/** The action of a shell call: the members that it may have, if their types are right. A model may send anything. */
const toAction = ({ command, env, timeout_ms, user, working_directory }: JsonObject): LocalShellCallItem['action'] => ({
  type: 'exec',
  command: (command === undefined ? [] : Array.isArray(command) ? command : [command]).map(textOf),
  ...(typeof timeout_ms === 'number' && { timeout_ms }),
  ...(typeof user === 'string' && { user }),
  ...(typeof working_directory === 'string' && { working_directory }),
  env: isJsonObject(env) ? Object.fromEntries(Object.entries(env).map(([key, value]) => [key, textOf(value)])) : {},
})

/** The members of arguments; none if they are not a JSON object, or one that no later request could contain. */
const membersIn = (text: string): JsonObject => {
  try {
    const value = parseJson(text, { maxDepth: maxMemberDepth })
    return isJsonObject(value) ? value : {}
  } catch (error) {
    if (error instanceof JsonError) return {}
    throw error
  }
}

/** A request may be 64 levels deep, and has these members in an item of its input. */
const maxMemberDepth = 60
