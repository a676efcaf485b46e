import { announced, isMutableObject, isText, listIn, type MutableObject, positionIn, within } from './mutable-json.ts'

/** The items of an answer, while events put them together. */
export interface Items {
  /** `response.output_item.added`. */
  announce(event: MutableObject): void
  /** `response.output_item.done`: replaces whatever the deltas have built. */
  finish(event: MutableObject): void
  /** Takes over items from a snapshot that nothing has been heard of yet. */
  adopt(output: unknown): void
  /** The item that an event is about; one of that type is made up where the upstream never announced it. */
  of(event: MutableObject, type: string): MutableObject
  /** In their order. */
  all(): readonly Slot[]
}

export interface Slot {
  readonly item: MutableObject
  /** Whether the upstream has said that nothing is missing from it. */
  readonly done: boolean
}

interface OpenSlot extends Slot {
  item: MutableObject
  done: boolean
  /** Not announced so far. */
  madeUp: boolean
}

/** @param newId the part of an id behind its prefix, for items that have to be made up without one */
export const createItems = (newId: () => string): Items => {
  // By output_index, with holes. Some upstreams give each event another item_id, others all items one index: one of the two always helps.
  const slots: (OpenSlot | undefined)[] = []
  const byId = new Map<string, OpenSlot>()

  const find = (event: MutableObject, id: unknown): OpenSlot | undefined => {
    const position = positionIn(event, 'output_index')
    const known = isText(id) ? byId.get(id) : undefined
    return known ?? (position === undefined ? undefined : slots[position])
  }

  /** The last one, for an event that does not say which it is about. */
  const last = (event: MutableObject): OpenSlot | undefined =>
    isText(event.item_id) || positionIn(event, 'output_index') !== undefined ? undefined : slots.at(-1)

  const put = (event: MutableObject, slot: OpenSlot): OpenSlot => {
    const wanted = positionIn(event, 'output_index') ?? slots.length
    slots[within(slots[wanted] ? slots.length : wanted)] = slot
    return name(slot)
  }

  const name = (slot: OpenSlot): OpenSlot => {
    if (isText(slot.item.id)) byId.set(slot.item.id, slot)
    return slot
  }

  return {
    announce(event) {
      const { item } = event
      if (!isMutableObject(item)) return
      const slot = find(event, item.id)
      if (!slot || (!slot.madeUp && isOther(slot.item, item))) put(event, { item, done: false, madeUp: false })
      else if (!slot.done) name(Object.assign(slot, { item: announced(item, slot.item), madeUp: false }))
    },
    finish(event) {
      const { item } = event
      if (!isMutableObject(item)) return
      const slot = find(event, item.id) ?? unfinished(last(event))
      if (!slot || (slot.done && isOther(slot.item, item))) put(event, { item, done: true, madeUp: false })
      else name(Object.assign(slot, { item, done: true, madeUp: false }))
    },
    adopt(output) {
      if (!Array.isArray(output)) return
      for (const [position, item] of output.entries()) {
        if (!isMutableObject(item) || slots[within(position)] || (isText(item.id) && byId.has(item.id))) continue
        put({ output_index: position }, { item, done: item.status === 'completed', madeUp: false })
      }
    },
    of(event, type) {
      const slot = find(event, event.item_id) ?? last(event)
      // Nothing is said of an item that is done, so that one must be another with the same index.
      if (slot && !(slot.done && isOther(slot.item, { id: event.item_id }))) return slot.item
      const id = isText(event.item_id) ? event.item_id : `item_${newId()}`
      return put(event, { item: { id, type, status: 'in_progress', ...blank(type, id) }, done: false, madeUp: true })
        .item
    },
    all: () => slots.flatMap((slot) => (slot ? [{ ...slot, item: withoutHoles(slot.item) }] : [])),
  }
}

const unfinished = (slot: OpenSlot | undefined): OpenSlot | undefined => (slot?.done ? undefined : slot)

const isOther = (one: MutableObject, other: MutableObject): boolean =>
  ['id', 'call_id'].some((name) => isText(one[name]) && isText(other[name]) && one[name] !== other[name])

/** What clients rely on in an item of the type. */
const blank = (type: string, id: string): MutableObject =>
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

/** The part of an item that an event is about; one is made up where the upstream never announced it. */
export const partOf = (
  event: MutableObject,
  item: MutableObject,
  list: PartList,
  madeUp: () => MutableObject,
): MutableObject => {
  const parts = listIn(item, list)
  const position = positionIn(event, positions[list]) ?? Math.max(0, parts.length - 1)
  const part = parts[position]
  if (isMutableObject(part)) return part
  const first = madeUp()
  parts[position] = first
  return first
}

/** Puts a part in its place; `finished`: replaces whatever the deltas have built. */
export const placePart = (event: MutableObject, item: MutableObject, list: PartList, finished: boolean): void => {
  if (!isMutableObject(event.part)) return
  const parts = listIn(item, list)
  const position = positionIn(event, positions[list]) ?? (finished ? Math.max(0, parts.length - 1) : parts.length)
  const built = parts[position]
  parts[within(position)] = finished || !isMutableObject(built) ? event.part : announced(event.part, built)
}

export type PartList = keyof typeof positions

const positions = { content: 'content_index', summary: 'summary_index' } as const

/** Parts that the upstream left out of its count would be nulls in JSON. */
const withoutHoles = (item: MutableObject): MutableObject => {
  const whole = { ...item }
  for (const list of Object.keys(positions)) {
    const parts = whole[list]
    if (Array.isArray(parts)) whole[list] = parts.filter(() => true)
  }
  return whole
}
