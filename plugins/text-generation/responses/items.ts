import { parsedJson } from '../../shared/json/parsed.ts'
import {
  arrayIn,
  isMutableObject,
  isNonEmptyString,
  type MutableObject,
  mergeBuilt,
  readPosition,
  requireBounded,
} from './mutable-json.ts'

/** The output items of a response, assembled from events. */
export interface OutputItems {
  /** Handles `response.output_item.added`. */
  add(event: MutableObject): void
  /** Handles `response.output_item.done`: its item replaces what the deltas have built. */
  finish(event: MutableObject): void
  /** Adds the items of a response's `output` that are still unknown. */
  addMissing(output: unknown): void
  /** The item that an event is about. Created with that type where the upstream never added it. */
  itemOf(event: MutableObject, type: string): MutableObject
  /** In the order of the output. */
  all(): readonly ItemSlot[]
}

export interface ItemSlot {
  readonly item: MutableObject
  /** Whether the item is final. */
  readonly done: boolean
}

interface OpenSlot extends ItemSlot {
  item: MutableObject
  done: boolean
  /** Whether the item was created for an event, and the upstream has not added it yet. */
  implicit: boolean
}

/** @param newId makes the part of an id after `item_`, for created items */
export const createOutputItems = (newId: () => string): OutputItems => {
  // By output_index, with holes. Some upstreams change the item_id with each event, others give all items one index. So
  // an item is found by either.
  const slots: (OpenSlot | undefined)[] = []
  const byId = new Map<string, OpenSlot>()

  const find = (event: MutableObject, id: unknown): OpenSlot | undefined => {
    const position = readPosition(event, 'output_index')
    const known = isNonEmptyString(id) ? byId.get(id) : undefined
    return known ?? (position === undefined ? undefined : slots[position])
  }

  /** The last slot, for an event that names no item. */
  const last = (event: MutableObject): OpenSlot | undefined =>
    isNonEmptyString(event.item_id) || readPosition(event, 'output_index') !== undefined ? undefined : slots.at(-1)

  const insert = (event: MutableObject, slot: OpenSlot): OpenSlot => {
    const wanted = readPosition(event, 'output_index') ?? slots.length
    slots[requireBounded(slots[wanted] ? slots.length : wanted)] = slot
    return register(slot)
  }

  const register = (slot: OpenSlot): OpenSlot => {
    if (isNonEmptyString(slot.item.id)) byId.set(slot.item.id, slot)
    return slot
  }

  return {
    add(event) {
      const { item } = event
      if (!isMutableObject(item)) return
      const slot = find(event, item.id)
      if (!slot || (!slot.implicit && isOther(slot.item, item))) insert(event, { item, done: false, implicit: false })
      else if (!slot.done) register(Object.assign(slot, { item: mergeBuilt(item, slot.item), implicit: false }))
    },
    finish(event) {
      const { item } = event
      if (!isMutableObject(item)) return
      const slot = find(event, item.id) ?? unfinished(last(event))
      if (!slot || (slot.done && isOther(slot.item, item))) insert(event, { item, done: true, implicit: false })
      else register(Object.assign(slot, { item, done: true, implicit: false }))
    },
    addMissing(output) {
      if (!Array.isArray(output)) return
      for (const [position, item] of output.entries()) {
        if (!isMutableObject(item) || slots[requireBounded(position)]) continue
        if (isNonEmptyString(item.id) && byId.has(item.id)) continue
        insert({ output_index: position }, { item, done: item.status === 'completed', implicit: false })
      }
    },
    itemOf(event, type) {
      const slot = find(event, event.item_id) ?? last(event)
      // No event follows for an item that is done: another id means another item with the same index.
      if (slot && !(slot.done && isOther(slot.item, { id: event.item_id }))) return slot.item
      const id = isNonEmptyString(event.item_id) ? event.item_id : `item_${newId()}`
      const item = { id, type, status: 'in_progress', ...defaultsOf(type, id) }
      return insert(event, { item, done: false, implicit: true }).item
    },
    all: () => slots.flatMap((slot) => (slot ? [{ ...slot, item: withoutHoles(slot.item) }] : [])),
  }
}

const unfinished = (slot: OpenSlot | undefined): OpenSlot | undefined => (slot?.done ? undefined : slot)

const isOther = (one: MutableObject, other: MutableObject): boolean =>
  ['id', 'call_id'].some(
    (name) => isNonEmptyString(one[name]) && isNonEmptyString(other[name]) && one[name] !== other[name],
  )

/** Members that clients require of an item. */
const defaultsOf = (type: string, id: string): MutableObject =>
  ({
    message: { role: 'assistant', content: [] },
    reasoning: { summary: [] },
    function_call: { call_id: id, name: '', arguments: '' },
    custom_tool_call: { call_id: id, name: '', input: '' },
    mcp_call: { server_label: '', name: '', arguments: '' },
    code_interpreter_call: { container_id: '', code: null, outputs: null },
    file_search_call: { queries: [] },
    image_generation_call: { result: null },
    shell_call: { call_id: id, action: { commands: [] }, environment: null },
    shell_call_output: { call_id: id, max_output_length: null, output: [] },
  })[type] ?? {}

/** The part of an item that an event is about. Created where the upstream never added it. */
export const partOf = (
  event: MutableObject,
  item: MutableObject,
  list: PartList,
  create: () => MutableObject,
): MutableObject => {
  const parts = arrayIn(item, list)
  const position = readPosition(event, indexFields[list]) ?? Math.max(0, parts.length - 1)
  const part = parts[position]
  if (isMutableObject(part)) return part
  const created = create()
  parts[position] = created
  return created
}

/** Puts the event's part into its item. @param finished whether it replaces what the deltas have built */
export const putPart = (event: MutableObject, item: MutableObject, list: PartList, finished: boolean): void => {
  if (!isMutableObject(event.part)) return
  const parts = arrayIn(item, list)
  const position = readPosition(event, indexFields[list]) ?? (finished ? Math.max(0, parts.length - 1) : parts.length)
  const built = parts[position]
  parts[requireBounded(position)] = finished || !isMutableObject(built) ? event.part : mergeBuilt(event.part, built)
}

/** The members of an item that are arrays of parts. */
export type PartList = keyof typeof indexFields

const indexFields = { content: 'content_index', summary: 'summary_index' } as const

/** Removes the holes of the part arrays: the upstream skipped those indexes, and JSON would have nulls there. */
const withoutHoles = (item: MutableObject): MutableObject => {
  const whole = { ...item }
  for (const list of Object.keys(indexFields)) {
    const parts = whole[list]
    if (Array.isArray(parts)) whole[list] = parts.filter(() => true)
  }
  return whole
}

/**
 * Item types that are useful when incomplete, and whose status can be `incomplete`.
 *
 * Unfinished items of other types are left out. A client must not execute half a tool call. Part of an image, of a
 * compaction or of a tool list is useless, and looks like a whole one.
 */
const usefulIncomplete: ReadonlySet<unknown> = new Set([
  'message',
  'reasoning',
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'function_call_output',
  'computer_call_output',
  'shell_call_output',
  'tool_search_output',
])

/**
 * The items of a response that was cut off: finished items as they are, useful parts with status `incomplete`, never
 * half a tool call.
 */
export const truncateItems = (slots: readonly ItemSlot[]): readonly MutableObject[] =>
  slots.flatMap(({ item, done }) => {
    if (usefulIncomplete.has(item.type)) return [done ? item : { ...item, status: 'incomplete' }]
    return done && item.status !== 'incomplete' && hasCompleteArguments(item) ? [item] : []
  })

/** The items of a response whose final event has no output: as the events before it have built them. */
export const finalItems = (status: string, slots: readonly ItemSlot[]): readonly MutableObject[] =>
  slots.flatMap((slot) => {
    if (slot.done) return [slot.item]
    if (status !== 'completed') return truncateItems([slot])
    return [typeof slot.item.status === 'string' ? { ...slot.item, status } : slot.item]
  })

const hasCompleteArguments = ({ arguments: text }: MutableObject): boolean =>
  typeof text !== 'string' || parsedJson(text) !== undefined
