import { StreamError } from '../assembly.ts'
import { type ChunkObject, isChunkObject, textOf } from '../chat/chunk.ts'
import type { Entry, Output } from './output.ts'
import { CallEntry } from './tool-call.ts'

/** More calls than that in one answer are not believed. */
const maxCalls = 128

/** A call as far as the stream has told of it. */
interface Told {
  index: number | undefined
  id: string
  name: string
  kind: 'function' | 'custom'
  /** What came before its item could begin. */
  held: string
  entry: CallEntry | undefined
}

/** The calls of a chat stream, kept apart however their deltas come (text-relay section 7). */
export interface ToolCallItems {
  /** Takes an element of `tool_calls`. Gives the item that it added to, if that has begun. */
  push(delta: unknown): Entry | undefined
  /** Takes the older `function_call`, of which there is one. */
  pushLegacy(delta: ChunkObject): Entry | undefined
  /** Begins what has not begun yet. */
  end(): void
}

export const createToolCallItems = (output: Output): ToolCallItems => {
  const told: Told[] = []
  const taken = new Set<string>()

  /** The call that a delta without index goes on with: that of its id, which may come late, or the last. */
  const unnumbered = (id: string): Told | undefined => {
    const last = told.at(-1)
    return id === '' ? last : (told.find((call) => call.id === id) ?? (last?.id === '' ? last : undefined))
  }

  const find = (delta: ChunkObject): Told => {
    const index = typeof delta.index === 'number' ? delta.index : undefined
    const id = textOf(delta.id)
    const known = index === undefined ? unnumbered(id) : told.findLast((call) => call.index === index)
    if (known && !isAnother(known, id, delta)) return known
    if (told.length >= maxCalls) throw new StreamError(`more than ${maxCalls} calls in one answer`)
    const call: Told = { index, id: '', name: '', kind: 'function', held: '', entry: undefined }
    told.push(call)
    return call
  }

  const start = (call: Told): CallEntry => {
    // Two calls of one id could not be told apart by their answers.
    const callId = call.id !== '' && !taken.has(call.id) ? call.id : output.newId('call_')
    taken.add(callId)
    call.entry = new CallEntry(output, { kind: call.kind, name: call.name, callId })
    return call.entry
  }

  const add = (call: Told, delta: ChunkObject): Entry | undefined => {
    const custom = isChunkObject(delta.custom) ? delta.custom : undefined
    const body = custom ?? (isChunkObject(delta.function) ? delta.function : {})
    const text = textOf(custom ? custom.input : body.arguments)
    if (!call.entry) {
      if (custom || delta.type === 'custom') call.kind = 'custom'
      // A later empty string does not erase what was said.
      call.id = textOf(delta.id) || call.id
      call.name = textOf(body.name) || call.name
      call.held += text
      // Without an id a call waits for one until its arguments come.
      if (call.name === '' || (call.id === '' && call.held === '')) return undefined
      const entry = start(call)
      if (call.held !== '') entry.add(call.held)
    } else if (text !== '') {
      call.entry.add(text)
    }
    return call.entry
  }

  return {
    push(delta) {
      if (!isChunkObject(delta)) throw new StreamError('a call that is not an object')
      return add(find(delta), delta)
    },
    pushLegacy: (delta) => add(find({ index: -1 }), { function: delta }),
    end() {
      for (const call of told) {
        if (call.entry) continue
        const entry = start(call)
        if (call.held !== '') entry.add(call.held)
      }
    },
  }
}

/**
 * Whether a delta tells of another call than the one that its number or its lack of one leads to. Some upstreams number all calls 0, or none: after arguments
 * that are whole, a name makes another call, if it comes with another id, or with neither id nor number.
 */
const isAnother = (call: Told, id: string, delta: ChunkObject): boolean => {
  const name = isChunkObject(delta.function) ? textOf(delta.function.name) : ''
  if (name === '' || call.entry?.isWhole !== true) return false
  return id === '' ? typeof delta.index !== 'number' : id !== call.id
}
