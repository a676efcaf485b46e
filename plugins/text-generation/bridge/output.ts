import type { Events, Item, ItemStatus } from './events.ts'

/** The items of a response, in the order in which they began. */
export interface Output {
  readonly emit: Events['emit']
  readonly newId: (prefix: string) => string
  readonly entries: Entry[]
}

/** An item while it comes into being. It announces itself when it is made. */
export interface Entry {
  /** Says all that is to be said at its end. Nothing when that was said before. */
  close(status: 'completed' | 'incomplete'): void
  /** The item as it is now. */
  item(): Item
  /** Whether nothing is seen to be missing from it. */
  readonly isWhole: boolean
}

/** Joins the output, and says so. Gives the item's place. */
export const begin = (output: Output, entry: Entry): number => {
  const index = output.entries.push(entry) - 1
  output.emit({ type: 'response.output_item.added', output_index: index, item: entry.item() })
  return index
}

/** An item's status as it is shown in a response that breaks off: what was not done never will be. */
export const brokenOff = (item: Item): Item => {
  const status: ItemStatus = item.status === 'in_progress' ? 'incomplete' : item.status
  return { ...item, status }
}
