import { isJsonObject, type JsonObject } from '../../shared/json/parsed.ts'
import { StreamError } from '../protocol/assembly.ts'
import { textOf } from './chunk.ts'

/** Maximum of calls in one response. OpenAI's client has the same bound. */
const maxCalls = 128

/** What must be known of a tool call before the caller can receive its beginning. */
export interface ToolCallStart {
  /** `custom` where the upstream itself has custom tools, so that it sends plain input instead of arguments. */
  readonly kind: 'function' | 'custom'
  /** The upstream's name of the tool. */
  readonly name: string
  /** The id that the call's output refers to. */
  readonly callId: string
}

/** Builds a tool call in the caller's protocol. */
export interface CallBuilder {
  /** Appends to the arguments, or to a custom tool's input. */
  append(delta: string): void
  /** False if the arguments are certainly incomplete. */
  readonly looksComplete: boolean
}

/** A tool call, as far as the stream has sent it. */
interface PartialCall<Builder> extends KnownCall {
  id: string
  name: string
  kind: 'function' | 'custom'
  /** Arguments that came before the call could begin. */
  buffered: string
  builder: Builder | undefined
}

/**
 * Reads the tool calls of a chat stream, for another protocol. It keeps them apart also where an upstream sends no
 * index, or one index for all.
 */
export interface StreamedCalls<Builder extends CallBuilder> {
  /** Takes an element of `tool_calls`. Returns the builder of its call; undefined while that has not begun. */
  push(delta: unknown): Builder | undefined
  /** Takes the deprecated `function_call`, of which a choice has one. */
  pushFunctionCall(delta: JsonObject): Builder | undefined
  /** Begins the calls that have not begun. */
  end(): void
}

export interface StreamedCallsOptions<Builder extends CallBuilder> {
  /** Begins a call in the caller's protocol. */
  readonly beginCall: (call: ToolCallStart) => Builder
  /** Makes an id for a call that has none of its own. */
  readonly newCallId: () => string
}

export const createStreamedCalls = <Builder extends CallBuilder>({
  beginCall,
  newCallId,
}: StreamedCallsOptions<Builder>): StreamedCalls<Builder> => {
  const calls: PartialCall<Builder>[] = []
  const usedIds = new Set<string>()

  const findOrCreate = (delta: CallDelta): PartialCall<Builder> => {
    const known = callOfDelta(calls, delta)
    if (known) return known
    if (calls.length >= maxCalls) throw new StreamError(`the response has more than ${maxCalls} tool calls`)
    const call: PartialCall<Builder> = {
      ...{ index: delta.index, id: '', name: '', kind: 'function', buffered: '', builder: undefined },
      mayEndBefore: () => call.kind === 'function' && call.builder?.looksComplete === true,
    }
    calls.push(call)
    return call
  }

  const begin = (call: PartialCall<Builder>): Builder => {
    // The outputs of two calls with one id could not be distinguished.
    const callId = call.id !== '' && !usedIds.has(call.id) ? call.id : newCallId()
    usedIds.add(callId)
    call.builder = beginCall({ kind: call.kind, name: call.name, callId })
    return call.builder
  }

  const add = (call: PartialCall<Builder>, { isCustom, id, name, text }: ReadDelta): Builder | undefined => {
    if (!call.builder) {
      if (isCustom) call.kind = 'custom'
      // A later empty string does not replace a value.
      call.id = id || call.id
      call.name = name || call.name
      call.buffered += text
      // A call without an id waits for one until its arguments begin.
      if (call.name === '' || (call.id === '' && call.buffered === '')) return undefined
      const builder = begin(call)
      if (call.buffered !== '') builder.append(call.buffered)
    } else if (text !== '') {
      call.builder.append(text)
    }
    return call.builder
  }

  return {
    push(delta) {
      if (!isJsonObject(delta)) throw new StreamError('the upstream sent a tool call that is not an object')
      const read = readDelta(delta)
      return add(findOrCreate(read), read)
    },
    pushFunctionCall(delta) {
      const read = readDelta({ function: delta, index: -1 })
      return add(findOrCreate(read), read)
    },
    end() {
      for (const call of calls) {
        if (call.builder) continue
        const builder = begin(call)
        if (call.buffered !== '') builder.append(call.buffered)
      }
    },
  }
}

interface ReadDelta extends CallDelta {
  readonly isCustom: boolean
}

const readDelta = ({ index, id, type, custom, function: called }: JsonObject): ReadDelta => {
  const isCustom = isJsonObject(custom)
  const body = isCustom ? custom : isJsonObject(called) ? called : {}
  return {
    index: typeof index === 'number' ? index : undefined,
    id: textOf(id),
    name: textOf(body.name),
    text: textOf(isCustom ? body.input : body.arguments),
    isCustom: isCustom || type === 'custom',
  }
}

/** A tool call, as far as a stream has sent it. */
export interface KnownCall {
  readonly index: number | undefined
  /** Empty while it has none. */
  readonly id: string
  /** Whether its arguments may be complete, so that `text` may be those of another call. */
  mayEndBefore(text: string): boolean
}

/** An element of `tool_calls` in a chunk. What is absent is empty, or undefined. */
export interface CallDelta {
  readonly index: number | undefined
  readonly id: string
  readonly name: string
  /** A piece of the arguments. */
  readonly text: string
}

/**
 * The call that a delta belongs to; undefined when the delta begins another call.
 *
 * The index decides, else the id, else it is the last call. Some upstreams give every call the index 0, or none. There
 * a name begins another call: with another id, and with an index only after complete arguments; without an id and an
 * index after complete arguments. Some upstreams repeat the name in each delta, or send each with an id of its own.
 */
export const callOfDelta = <Call extends KnownCall>(
  calls: readonly Call[],
  { index, id, name, text }: CallDelta,
): Call | undefined => {
  const known =
    index === undefined
      ? calls.find((call) => id !== '' && call.id === id)
      : calls.findLast((call) => call.index === index)
  const call = known ?? (index === undefined ? calls.at(-1) : undefined)
  if (!call || name === '' || (known && id === call.id && id !== '')) return call
  const isOther = id !== '' && call.id !== ''
  if (index === undefined) return isOther || call.mayEndBefore(text) ? undefined : call
  return isOther && call.mayEndBefore(text) ? undefined : call
}
