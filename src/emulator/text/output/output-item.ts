/** A streaming event of an output item. `responseEvents` adds the item id, the output index and the sequence number. */
export interface ItemEvent {
  readonly type: string
  readonly fields: object
  /** whether it is a generated token */
  readonly isToken?: boolean
}

/** One item of a response's output. */
export interface OutputItem {
  readonly id: string
  /** the item in `response.output_item.added` */
  readonly added: object
  /** the complete item */
  readonly done: object
  readonly events: () => Iterable<ItemEvent>
}
