import { StreamError } from '../assembly.ts'
import { type CountKept, indexOf, MemberBuffer, maxIndexes, membersOf, TextBuffer } from './buffers.ts'

export interface ToolCallsOptions {
  readonly keep: CountKept
  /** Gives an id to a call that came without one. */
  readonly newId: () => string
}

/** The tool calls of one choice, from their deltas. */
export class ToolCalls {
  readonly #options: ToolCallsOptions
  readonly #calls: ToolCall[] = []
  /** By index; where an upstream gives two calls one index, the later. */
  readonly #byIndex = new Map<number, ToolCall>()

  constructor(options: ToolCallsOptions) {
    this.#options = options
  }

  /** Takes deltas in their order. `whole`: they are calls of a whole message, which have no index and are one call each. */
  take(deltas: readonly unknown[], whole: boolean): void {
    for (const [at, delta] of deltas.entries()) {
      const { index, ...members } = membersOf(delta)
      const given = index ?? (whole ? at : undefined)
      const place = given === undefined ? undefined : indexOf(given)
      const call = this.#find(place, members) ?? this.#add(place)
      call.take(members)
    }
  }

  /** By index, calls of one index as they came. `cutOff`: those alone that may be executed although the answer is cut off. */
  list(cutOff: boolean, finished: boolean): readonly ToolCall[] {
    const ordered = this.#calls.toSorted((one, other) => one.index - other.index)
    return cutOff ? ordered.filter((call) => call.isWhole(finished)) : ordered
  }

  /**
   * The call that a delta goes on with; undefined for one that begins another. The index tells, else the id, else it is the last call. But some upstreams
   * count every call as the first, or do not count: there another begins with a name, and an id of its own or where the last one's arguments have ended.
   */
  #find(place: number | undefined, delta: Delta): ToolCall | undefined {
    const known = place === undefined ? this.#calls.find(({ id }) => id && id === delta.id) : this.#byIndex.get(place)
    const call = known ?? (place === undefined ? this.#calls.at(-1) : undefined)
    if (!call || !isNamed(delta)) return call
    const isOther = Boolean(delta.id && call.id && delta.id !== call.id)
    if (place === undefined) return !known && (delta.id || call.endsBefore(delta)) ? undefined : call
    return isOther && call.endsBefore(delta) ? undefined : call
  }

  #add(place: number | undefined): ToolCall {
    if (this.#calls.length >= maxIndexes) throw new StreamError(`the answer has more than ${maxIndexes} tool calls`)
    const index = place ?? Math.max(-1, ...this.#byIndex.keys()) + 1
    const call = new ToolCall(index, this.#options)
    this.#calls.push(call)
    this.#byIndex.set(index, call)
    return call
  }
}

type Delta = Readonly<Record<string, unknown>>

const isNamed = (delta: Delta): boolean => Boolean(membersOf(delta.function).name || membersOf(delta.custom).name)

class ToolCall {
  readonly index: number
  readonly #keep: CountKept
  readonly #newId: () => string
  readonly #fields: MemberBuffer
  #function: MemberBuffer | undefined
  #custom: MemberBuffer | undefined
  #ownId: string | undefined

  constructor(index: number, { keep, newId }: ToolCallsOptions) {
    this.index = index
    this.#keep = keep
    this.#newId = newId
    this.#fields = new MemberBuffer(keep, { id: null, type: null })
  }

  get id(): unknown {
    return this.#fields.get('id')
  }

  take(delta: Delta): void {
    for (const [key, value] of Object.entries(delta)) {
      if (key === 'function') this.#function = grow(this.#function, 'arguments', value, this.#keep)
      else if (key === 'custom') this.#custom = grow(this.#custom, 'input', value, this.#keep)
      else this.#fields.set(key, value)
    }
  }

  /** Whether a delta begins an object where this call's arguments, an object too, have ended. */
  endsBefore(delta: Delta): boolean {
    const before = this.#function?.get('arguments')
    const after = asText(membersOf(delta.function).arguments)
    return before instanceof TextBuffer && before.end.trimEnd().endsWith('}') && after.trimStart().startsWith('{')
  }

  /** Whether nothing of it can be missing. A custom tool's input may end anywhere: only a finished choice tells. */
  isWhole(finished: boolean): boolean {
    if (!this.#function) return finished
    return isCallable(this.#function)
  }

  toJSON(): Record<string, unknown> {
    const { id, type, ...more } = this.#fields.toJSON()
    if (!id) this.#ownId ??= this.#newId()
    const named = type || (this.#custom && !this.#function ? 'custom' : 'function')
    return {
      id: id || this.#ownId,
      type: named,
      ...(this.#function || named === 'function' ? { function: this.#function ?? createCalled(this.#keep) } : {}),
      ...(this.#custom || named === 'custom' ? { custom: this.#custom ?? createCalled(this.#keep, 'input') } : {}),
      ...more,
    }
  }
}

/** What is called, a function or a custom tool: a name and a text, with what else an upstream says of it. */
const createCalled = (keep: CountKept, text = 'arguments'): MemberBuffer =>
  new MemberBuffer(keep, { name: '', [text]: new TextBuffer(keep) })

/** Adds a delta to what is called; the text in it is joined, all else is set. */
export const grow = (
  called: MemberBuffer | undefined,
  text: string,
  delta: unknown,
  keep: CountKept,
): MemberBuffer | undefined => {
  if (typeof delta !== 'object' || delta === null) return called
  const grown = called ?? createCalled(keep, text)
  for (const [key, value] of Object.entries(delta)) {
    if (key === text) grown.join(key, asText(value))
    else grown.set(key, value)
  }
  return grown
}

/** Some upstreams give arguments as an object rather than as its JSON. */
const asText = (value: unknown): string => {
  if (typeof value === 'string') return value
  return value === null || value === undefined ? '' : JSON.stringify(value)
}

/** Whether it has a name, and arguments that cannot go on: a number could, and arguments are none. */
export const isCallable = (called: MemberBuffer): boolean => {
  if (!called.get('name')) return false
  try {
    return typeof JSON.parse(String(called.get('arguments'))) !== 'number'
  } catch {
    return false
  }
}
