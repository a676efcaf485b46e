/**
 * The place of an item in the order of its list: the time or text by which the list is ordered, and the id. A place of
 * another list gives an empty or another page, never an error.
 */
export interface PagePlace {
  readonly key: number | string
  readonly id: string
}

/** A page of a list. It costs the same wherever it begins. */
export interface PageRequest {
  /** Maximum number of items. At least 1. */
  readonly limit: number
  /** The `next` of the page before. Undefined: the first page. */
  readonly after?: PagePlace | undefined
}

/** The items of a page. */
export interface PageOf<Item> {
  readonly items: readonly Item[]
  /** The place of the last item. Undefined: this is the last page. */
  readonly next?: PagePlace
}
