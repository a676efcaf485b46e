/** A first-in, first-out list. An array shifts all of its items for each one that it removes. */
export class Fifo<Item> {
  #items: (Item | undefined)[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  /** Removes the oldest item. */
  shift(): Item | undefined {
    if (this.length === 0) return undefined
    const item = this.#items[this.#head]
    this.#items[this.#head++] = undefined
    // Each item is moved once on average.
    if (this.#head * 2 > this.#items.length) {
      this.#items.splice(0, this.#head)
      this.#head = 0
    }
    return item
  }

  /** Removes the newest item. */
  pop(): Item | undefined {
    return this.length === 0 ? undefined : this.#items.pop()
  }
}
