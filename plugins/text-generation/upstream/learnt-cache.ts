import type { Clock } from '../../shared/clock.ts'

export interface LearntCacheOptions {
  readonly clock: Pick<Clock, 'now'>
  /** Maximum number of entries; the oldest is removed first. Default 5000. */
  readonly maxEntries?: number
}

/** Milliseconds until the gateway tries again: the upstream may have been updated by then. */
const ttlMs = 3_600_000

/** Callers choose parts of the keys, such as names of models, of any length. */
const maxKeyLength = 2000

/**
 * Cache of what errors of upstreams have shown, for an hour. Its keys contain the user, see `createLearntCapabilities`.
 */
export class LearntCache<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly until: number }>()
  readonly #clock: Pick<Clock, 'now'>
  readonly #maxEntries: number

  constructor({ clock, maxEntries = 5000 }: LearntCacheOptions) {
    this.#clock = clock
    this.#maxEntries = maxEntries
  }

  /** Most gateways learn nothing: then callers need not compose a key. */
  get isEmpty(): boolean {
    return this.#entries.size === 0
  }

  get(key: string): Value | undefined {
    const found = this.#entries.get(key)
    return found && this.#clock.now() < found.until ? found.value : undefined
  }

  /** Returns false, and caches nothing, if the key is too long. */
  set(key: string, value: Value): boolean {
    if (key.length > maxKeyLength) return false
    this.#entries.delete(key)
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined && this.#entries.size >= this.#maxEntries) this.#entries.delete(oldest)
    this.#entries.set(key, { value, until: this.#clock.now() + ttlMs })
    return true
  }
}
