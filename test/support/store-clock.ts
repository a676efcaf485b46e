import { setImmediate } from 'node:timers/promises'
import { VirtualClock } from './virtual-clock.ts'

/** A clock that only a test advances, and that waits for calls of stores: they take real time. */
export class StoreClock extends VirtualClock {
  #asked = 0

  constructor(start = Date.parse('2026-03-01T12:00:00Z')) {
    super(1, start)
  }

  /** The same store, whose calls the clock waits for. */
  watched<Store extends object>(store: Store): Store {
    const get = (target: Store, name: string | symbol): unknown => {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...given: readonly unknown[]) => {
        this.#asked++
        try {
          return await Reflect.apply(method, target, given)
        } finally {
          this.#asked--
        }
      }
    }
    return new Proxy(store, { get })
  }

  /** Waits until nothing happens without time. */
  override async settled(): Promise<void> {
    for (let quiet = 0; quiet < 4; quiet++) {
      await setImmediate()
      if (this.#asked > 0) quiet = 0
    }
  }

  override async pass(ms: number): Promise<void> {
    await super.pass(ms)
    await this.settled()
  }
}
