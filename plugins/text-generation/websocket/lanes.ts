import { TextProblem } from '../protocol/problem.ts'

interface Lane<Item> {
  readonly queue: Item[]
  isActive: boolean
}

/** Limits of OpenAI's WebSocket mode (https://developers.openai.com/api/docs/guides/websocket-mode). */
const maxActive = 16
const maxNamed = 32
/** Bound of waiting items in all lanes. */
const maxWaiting = 256

/** Runs the items of each lane one after the other, and those of different lanes at the same time. */
export class Lanes<Item> {
  readonly #lanes = new Map<string | undefined, Lane<Item>>()
  readonly #run: (item: Item) => Promise<void>
  readonly #onEnd: () => void
  #active = 0
  #waiting = 0

  /** @param run must not reject @param onEnd called when an item has ended */
  constructor(run: (item: Item) => Promise<void>, onEnd: () => void) {
    this.#run = run
    this.#onEnd = onEnd
  }

  /** Number of items that run. */
  get active(): number {
    return this.#active
  }

  /**
   * Adds an item to a lane. Throws TextProblem 400 above the limit of named lanes, and 429 above that of waiting items.
   */
  add(name: string | undefined, item: Item): void {
    if (this.#waiting === maxWaiting) throw new TextProblem(429, 'too many messages at once')
    const lane = this.#lanes.get(name) ?? this.#create(name)
    lane.queue.push(item)
    this.#waiting++
    this.#start()
  }

  /** Removes and returns all items that do not run yet. */
  clear(): readonly Item[] {
    this.#waiting = 0
    return [...this.#lanes.values()].flatMap(({ queue }) => queue.splice(0))
  }

  #create(name: string | undefined): Lane<Item> {
    const named = this.#lanes.size - (this.#lanes.has(undefined) ? 1 : 0)
    if (name !== undefined && named === maxNamed) {
      const message = `this connection has ${maxNamed} different stream_id values; use one of them, or connect again`
      throw new TextProblem(400, message, { param: 'stream_id', code: 'websocket_stream_limit_reached' })
    }
    const lane: Lane<Item> = { queue: [], isActive: false }
    this.#lanes.set(name, lane)
    return lane
  }

  #start(): void {
    for (const lane of this.#lanes.values()) {
      if (this.#active === maxActive) return
      const item = lane.isActive ? undefined : lane.queue.shift()
      if (item === undefined) continue
      this.#waiting--
      this.#active++
      lane.isActive = true
      void this.#run(item).then(() => {
        this.#active--
        lane.isActive = false
        this.#start()
        this.#onEnd()
      })
    }
  }
}
