/** Events in order of their time; events of one time in order of their addition. */
export interface EventQueue<Event> {
  add(at: number, event: Event): void
  /** removes and returns the first event with a time up to `until` */
  next(until: number): { readonly at: number; readonly event: Event } | undefined
  /** time of the first event; Infinity when there is none */
  nextTime(): number
}

interface Entry<Event> {
  readonly at: number
  readonly number: number
  readonly event: Event
}

/** Creates a queue: a binary heap, so that tests can have many thousands of tasks. Events at Infinity are dropped. */
export const createEventQueue = <Event>(): EventQueue<Event> => {
  const heap: Entry<Event>[] = []
  let added = 0

  const isBefore = (a: Entry<Event> | undefined, b: Entry<Event> | undefined): boolean =>
    a !== undefined && b !== undefined && (a.at < b.at || (a.at === b.at && a.number < b.number))

  const swap = (i: number, j: number): void => {
    const [a, b] = [heap[i], heap[j]]
    if (a === undefined || b === undefined) return
    heap[i] = b
    heap[j] = a
  }

  return {
    add(at, event) {
      if (at === Number.POSITIVE_INFINITY) return
      heap.push({ at, number: added++, event })
      for (let i = heap.length - 1; i > 0 && isBefore(heap[i], heap[(i - 1) >> 1]); i = (i - 1) >> 1) {
        swap(i, (i - 1) >> 1)
      }
    },
    next(until) {
      const first = heap[0]
      if (first === undefined || first.at > until) return undefined
      const last = heap.pop()
      if (last !== undefined && heap.length > 0) heap[0] = last
      for (let i = 0; ; ) {
        const [left, right] = [2 * i + 1, 2 * i + 2]
        const child = isBefore(heap[right], heap[left]) ? right : left
        if (!isBefore(heap[child], heap[i])) break
        swap(i, child)
        i = child
      }
      return first
    },
    nextTime: () => heap[0]?.at ?? Number.POSITIVE_INFINITY,
  }
}
