import { membersOf, parsedJson } from '../../shared/json/parsed.ts'
import { StreamError } from '../protocol/assembly.ts'
import { type CountBytes, MemberBuffer, maxIndexes, readIndex, TextBuffer } from './buffers.ts'
import { textOf } from './chunk.ts'
import { type CallDelta, callOfDelta, type KnownCall } from './streamed-calls.ts'

export interface ToolCallsOptions {
  readonly countBytes: CountBytes
  /** Makes an id for a call that the upstream sends without one. */
  readonly newId: () => string
}

/** The tool calls of one choice, assembled from deltas. */
export class ToolCalls {
  readonly #options: ToolCallsOptions
  readonly #calls: ToolCall[] = []

  constructor(options: ToolCallsOptions) {
    this.#options = options
  }

  /** Adds deltas in their order. @param isMessage whether they are the whole calls of a message, which have no index */
  add(deltas: readonly unknown[], isMessage: boolean): void {
    for (const [position, delta] of deltas.entries()) {
      const { index: value, ...members } = membersOf(delta)
      const given = value ?? (isMessage ? position : undefined)
      const index = given === undefined ? undefined : readIndex(given)
      const call = callOfDelta(this.#calls, { index, ...idAndNameOf(members) }) ?? this.#create(index)
      call.add(members)
    }
  }

  /**
   * The calls by index, and calls of one index by arrival. `cutOff`: only calls that are complete, and so safe to
   * execute.
   */
  list(cutOff: boolean, finished: boolean): readonly ToolCall[] {
    const sorted = this.#calls.toSorted((one, other) => one.index - other.index)
    return cutOff ? sorted.filter((call) => call.isComplete(finished)) : sorted
  }

  #create(given: number | undefined): ToolCall {
    if (this.#calls.length >= maxIndexes) throw new StreamError(`the response has more than ${maxIndexes} tool calls`)
    const index = given ?? Math.max(-1, ...this.#calls.map((call) => call.index)) + 1
    const call = new ToolCall(index, this.#options)
    this.#calls.push(call)
    return call
  }
}

type Delta = Readonly<Record<string, unknown>>

const idAndNameOf = (delta: Delta): Omit<CallDelta, 'index'> => {
  const body = membersOf(delta.function)
  return { id: textOf(delta.id), name: textOf(body.name || membersOf(delta.custom).name), text: textOf(body.arguments) }
}

class ToolCall implements KnownCall {
  readonly index: number
  readonly #countBytes: CountBytes
  readonly #newId: () => string
  readonly #fields: MemberBuffer
  #function: MemberBuffer | undefined
  #custom: MemberBuffer | undefined
  #ownId: string | undefined

  constructor(index: number, { countBytes, newId }: ToolCallsOptions) {
    this.index = index
    this.#countBytes = countBytes
    this.#newId = newId
    this.#fields = new MemberBuffer(countBytes, { id: null, type: null })
  }

  get id(): string {
    return textOf(this.#fields.get('id'))
  }

  add(delta: Delta): void {
    for (const [key, value] of Object.entries(delta)) {
      if (key === 'function') this.#function = appendDelta(this.#function, 'arguments', value, this.#countBytes)
      else if (key === 'custom') this.#custom = appendDelta(this.#custom, 'input', value, this.#countBytes)
      else this.#fields.set(key, value)
    }
  }

  /**
   * Whether this call's arguments end with `}` and the text begins with `{`: then they are two objects. Or the text is
   * empty.
   */
  mayEndBefore(text: string): boolean {
    const before = this.#function?.get('arguments')
    const next = text.trimStart()
    return before instanceof TextBuffer && before.end.trimEnd().endsWith('}') && (next === '' || next.startsWith('{'))
  }

  /**
   * Whether nothing can be missing. The input of a custom tool is free text: it is complete when the choice has
   * finished.
   */
  isComplete(finished: boolean): boolean {
    if (!this.#function) return finished
    return isCallable(this.#function)
  }

  toJSON(): Record<string, unknown> {
    const { id, type: upstreamType, ...rest } = this.#fields.toJSON()
    if (!id) this.#ownId ??= this.#newId()
    const type = upstreamType || (this.#custom && !this.#function ? 'custom' : 'function')
    return {
      id: id || this.#ownId,
      type,
      ...(this.#function || type === 'function' ? { function: this.#function ?? createBody(this.#countBytes) } : {}),
      ...(this.#custom || type === 'custom' ? { custom: this.#custom ?? createBody(this.#countBytes, 'input') } : {}),
      ...rest,
    }
  }
}

/** The `function` or `custom` object of a call: a name, a text and any other members. */
const createBody = (countBytes: CountBytes, textKey = 'arguments'): MemberBuffer =>
  new MemberBuffer(countBytes, { name: '', [textKey]: new TextBuffer(countBytes) })

/** Adds a delta to the `function` or `custom` object of a call: appends to its text, and sets all other members. */
export const appendDelta = (
  body: MemberBuffer | undefined,
  textKey: string,
  delta: unknown,
  countBytes: CountBytes,
): MemberBuffer | undefined => {
  if (typeof delta !== 'object' || delta === null) return body
  const target = body ?? createBody(countBytes, textKey)
  for (const [key, value] of Object.entries(delta)) {
    if (key === textKey) target.append(key, textOf(value))
    else target.set(key, value)
  }
  return target
}

/** Whether a function call has a name and complete JSON arguments. A number is not complete: more digits may follow. */
export const isCallable = (body: MemberBuffer): boolean => {
  if (!body.get('name')) return false
  const value = parsedJson(String(body.get('arguments')))
  return value !== undefined && typeof value !== 'number'
}
