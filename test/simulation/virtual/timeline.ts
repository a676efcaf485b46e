/** Something that happens at a virtual time. */
interface Event {
  readonly time: number
  /** Breaks ties: what was planned first happens first. */
  readonly number: number
  readonly run: () => void
  cancelled: boolean
}

const realSetImmediate = setImmediate

/** A turn of the event loop, in which all work runs that waits for nothing else. */
const turn = (): Promise<void> => new Promise((resolve) => realSetImmediate(resolve))

/**
 * Virtual time: a queue of events, in the order of their times. Time passes only from one event to the next, so a
 * minute with few events takes a few milliseconds.
 */
export class Timeline {
  now: number
  #number = 0
  /** A binary heap: the earliest event is first. */
  readonly #events: Event[] = []

  /** @param start in milliseconds since 1970 */
  constructor(start: number) {
    this.now = start
  }

  /** Plans an event after so many milliseconds. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void {
    const event = { time: this.now + Math.max(0, ms), number: this.#number++, run, cancelled: false }
    this.#push(event)
    return () => {
      event.cancelled = true
    }
  }

  delay(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve))
  }

  /** Lets time pass until `isOver` returns true, or until `ms` milliseconds have passed. */
  async run(ms: number, isOver: () => boolean = () => false): Promise<void> {
    const end = this.now + ms
    for (;;) {
      // The work after an event may need two turns: writes of one turn are committed together in the next one.
      await turn()
      await turn()
      if (isOver()) return
      const next = this.#events[0]
      if (!next || next.time > end) break
      this.#pop()
      if (next.cancelled) continue
      this.now = next.time
      next.run()
    }
    this.now = end
  }

  #push(event: Event): void {
    const events = this.#events
    let at = events.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(event, events[parent])) break
      events[at] = events[parent] as Event
      at = parent
    }
    events[at] = event
  }

  #pop(): void {
    const events = this.#events
    const last = events.pop() as Event
    if (events.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= events.length) break
      if (isBefore(events[child + 1], events[child])) child++
      if (!isBefore(events[child], last)) break
      events[at] = events[child] as Event
      at = child
    }
    events[at] = last
  }
}

const isBefore = (a: Event | undefined, b: Event | undefined): boolean =>
  a !== undefined && b !== undefined && (a.time - b.time || a.number - b.number) < 0
