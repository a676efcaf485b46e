import type { RequestCaller } from './callers.ts'
import { Fifo } from './fifo.ts'

/**
 * A bounded queue that serves callers in turn, whatever the number of their items is.
 *
 * Users and callers who are not known as users yet alternate: credentials can be invented in any number, so all of them
 * together get half of the turns while users wait.
 */
export class TurnQueue<Item> {
  readonly #maxSize: number
  readonly #users = new Circle<Item>()
  readonly #others = new Circle<Item>()
  #size = 0
  #resumed = 0
  #wasUser = false

  /** @param maxSize maximum number of items of all callers */
  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  /** Number of items without those that were resumed. */
  get size(): number {
    return this.#size
  }

  get isEmpty(): boolean {
    return this.#size === 0 && this.#resumed === 0
  }

  /** Whether there are items, and none of this caller. */
  hasOnlyOthers({ key, isUser }: RequestCaller): boolean {
    return !this.isEmpty && !(isUser ? this.#users : this.#others).has(key)
  }

  /**
   * Adds an item at the end of its caller's. Returns the item for which there is no room: the newest of the caller who
   * has most.
   */
  add({ key, isUser }: RequestCaller, item: Item): Item | undefined {
    const circle = isUser ? this.#users : this.#others
    if (this.#size < this.#maxSize) {
      this.#size++
      circle.add(key, item)
      return undefined
    }
    const longest = longestOf(this.#users.longest(), this.#others.longest())
    if (longest === undefined || longest.length <= circle.lengthOf(key) + 1) return item
    const dropped = longest.pop()
    circle.add(key, item)
    return dropped
  }

  /** Adds an item of a user before all that were added with `add`. There is always room for it. */
  resume(user: string, item: Item): void {
    this.#resumed++
    this.#users.resume(user, item)
  }

  /** Removes the item whose turn it is. */
  take(): Item | undefined {
    const next = this.#wasUser
      ? (this.#others.take() ?? this.#users.take())
      : (this.#users.take() ?? this.#others.take())
    if (next === undefined) return undefined
    this.#wasUser = !this.#wasUser
    if (next.isResumed) this.#resumed--
    else this.#size--
    return next.item
  }

  /** The user of a credential is known from now on. Its items come after those of the user that wait already. */
  identified(credential: string, user: string): void {
    const items = this.#others.remove(credential)
    for (let item = items?.shift(); item !== undefined; item = items?.shift()) this.#users.add(user, item)
  }
}

/** What waits of a caller. */
class CallerItems<Item> {
  /** They come first. */
  readonly resumed = new Fifo<Item>()
  readonly added = new Fifo<Item>()

  get isEmpty(): boolean {
    return this.resumed.length === 0 && this.added.length === 0
  }
}

/** Items of callers who are served one after the other. */
class Circle<Item> {
  readonly #items = new Map<string, CallerItems<Item>>()
  /** The items of callers in the order of their turns, and perhaps some that were removed. */
  readonly #order = new Fifo<readonly [key: string, items: CallerItems<Item>]>()

  add(key: string, item: Item): void {
    this.#of(key).added.push(item)
  }

  resume(key: string, item: Item): void {
    this.#of(key).resumed.push(item)
  }

  take(): { readonly item: Item; readonly isResumed: boolean } | undefined {
    for (let next = this.#order.shift(); next !== undefined; next = this.#order.shift()) {
      const [key, items] = next
      if (this.#items.get(key) !== items) continue
      const isResumed = items.resumed.length > 0
      const item = (isResumed ? items.resumed : items.added).shift()
      if (!items.isEmpty) this.#order.push(next)
      else this.#items.delete(key)
      return item && { item, isResumed }
    }
    return undefined
  }

  /** Only of a caller of whom nothing was resumed. */
  remove(key: string): Fifo<Item> | undefined {
    const items = this.#items.get(key)
    this.#items.delete(key)
    return items?.added
  }

  has(key: string): boolean {
    return this.#items.has(key)
  }

  lengthOf(key: string): number {
    return this.#items.get(key)?.added.length ?? 0
  }

  longest(): Fifo<Item> | undefined {
    let longest: Fifo<Item> | undefined
    for (const { added } of this.#items.values()) longest = longestOf(longest, added)
    return longest
  }

  #of(key: string): CallerItems<Item> {
    let items = this.#items.get(key)
    if (!items) {
      items = new CallerItems()
      this.#items.set(key, items)
      this.#order.push([key, items])
    }
    return items
  }
}

const longestOf = <Item>(one: Fifo<Item> | undefined, other: Fifo<Item> | undefined): Fifo<Item> | undefined =>
  (other?.length ?? 0) > (one?.length ?? 0) ? other : one
