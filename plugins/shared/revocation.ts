import { type Clock, systemClock } from './clock.ts'

/** Calls `end` once, when a credential has ceased to hold: it was revoked or has expired, or its user was disabled. The answer calls that off, when there is nothing to end any more. */
export type WhenRevoked = (end: () => void) => () => void

export interface RevocationWatchOptions {
  /** Whether a credential holds; at once where that is remembered. A rejection says nothing. */
  readonly holds: (key: string) => boolean | Promise<boolean>
  /** Makes what is remembered fresh, before anybody looks. Default there is nothing to be done. */
  readonly refresh?: () => Promise<void> | undefined
  /** Milliseconds between two looks. Default 200. */
  readonly everyMs?: number
  readonly clock?: Clock
}

/**
 * Tells whatever goes on in the name of a credential when that has ceased to hold: answers that last longer than it. It costs one entry for each of them, and
 * nothing while there are none. As long as nobody can be asked, everything goes on.
 */
export class RevocationWatch {
  readonly #options: RevocationWatchOptions
  readonly #ends = new Map<string, Set<() => void>>()
  /** Credentials that somebody is being asked about. */
  readonly #asking = new Set<string>()
  #looking = false

  constructor(options: RevocationWatchOptions) {
    this.#options = options
  }

  add(key: string, end: () => void): () => void {
    const ends = this.#ends.get(key) ?? new Set()
    ends.add(end)
    this.#ends.set(key, ends)
    if (!this.#looking) void this.#lookRegularly()
    return () => {
      ends.delete(end)
      if (ends.size === 0 && this.#ends.get(key) === ends) this.#ends.delete(key)
    }
  }

  /** Looks now. Never rejects. */
  async look(): Promise<void> {
    const { holds, refresh } = this.#options
    try {
      await refresh?.()
      let asked: Promise<void>[] = []
      for (const key of this.#ends.keys()) {
        if (this.#asking.has(key)) continue
        const held = holds(key)
        if (held === true) continue
        asked.push(this.#endUnless(held, key))
        if (asked.length < atOnce) continue
        await Promise.all(asked)
        asked = []
      }
      await Promise.all(asked)
    } catch {
      // Nobody could be asked: the next look will tell.
    }
  }

  async #endUnless(held: boolean | Promise<boolean>, key: string): Promise<void> {
    this.#asking.add(key)
    try {
      if (await held) return
      const ends = this.#ends.get(key)
      this.#ends.delete(key)
      for (const end of ends ?? []) end()
    } finally {
      this.#asking.delete(key)
    }
  }

  async #lookRegularly(): Promise<void> {
    const { clock = systemClock, everyMs = 200 } = this.#options
    this.#looking = true
    while (this.#ends.size > 0) {
      await new Promise<void>((resolve) => clock.at(clock.now() + everyMs, resolve))
      await this.look()
    }
    this.#looking = false
  }
}

/** Questions to a store that answers one by one. */
const atOnce = 32
