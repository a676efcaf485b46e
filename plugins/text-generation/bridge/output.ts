import type { EventWriter, Item, ItemStatus } from './events.ts'

/** The output of a response: its items in the order in which they began. */
export interface Output {
  readonly emit: EventWriter['emit']
  readonly newId: (prefix: string) => string
  readonly items: ItemBuilder[]
}

/** Builds an output item and emits its events. The constructor emits `response.output_item.added`. */
export interface ItemBuilder {
  /** Emits the final events of the item. A second call of a reasoning item does nothing. */
  close(status: 'completed' | 'incomplete'): void
  /** The item so far. */
  item(): Item
  /** False if the item is certainly incomplete, such as half the arguments of a function. */
  readonly looksComplete: boolean
}

/** Adds an item to the output and emits `response.output_item.added`. Returns its index. */
export const addItem = (output: Output, builder: ItemBuilder): number => {
  const index = output.items.push(builder) - 1
  output.emit({ type: 'response.output_item.added', output_index: index, item: builder.item() })
  return index
}

/** The item of a response that failed: an item in progress becomes incomplete. */
export const withFinalStatus = (item: Item): Item => {
  const status: ItemStatus = item.status === 'in_progress' ? 'incomplete' : item.status
  return { ...item, status }
}
