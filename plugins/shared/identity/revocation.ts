import { type Clock, systemClock } from '../clock.ts'

/**
 * Registers a listener for the revocation of a credential. Returns a function that removes the listener.
 *
 * The listener is called once, when the credential was revoked or has expired, or its user was disabled.
 */
export type WhenRevoked = (listener: () => void) => () => void

/** Options of `RevocationWatch`. */
export interface RevocationWatchOptions {
  /** Whether a credential is valid; synchronous if the result is cached. A rejection has no effect. */
  readonly holds: (key: string) => boolean | Promise<boolean>
  /** Refreshes the cache before the checks. Default: nothing. */
  readonly refresh?: () => Promise<void> | undefined
  /** Milliseconds between two checks. Default 200. */
  readonly everyMs?: number
  readonly clock?: Clock
}

/**
 * Watches the credentials of long responses, and calls their listeners when a credential is no longer valid.
 *
 * It runs a timer only while it has listeners. While the store is unreachable, no listener is called.
 */
export class RevocationWatch {
  readonly #options: RevocationWatchOptions
  /** A set may be empty until the next check: most credentials soon have another call, which needs no new one. */
  readonly #listeners = new Map<string, Set<() => void>>()
  /** Credentials with a check in progress. */
  readonly #checking = new Set<string>()
  #running = false

  constructor(options: RevocationWatchOptions) {
    this.#options = options
  }

  /** Calls the listener once when the credential is no longer valid. Returns a function that removes the listener. */
  add(key: string, listener: () => void): () => void {
    let listeners = this.#listeners.get(key)
    if (!listeners) {
      listeners = new Set()
      this.#listeners.set(key, listeners)
    }
    const added = listeners.add(listener)
    if (!this.#running) void this.#checkRegularly()
    return () => void added.delete(listener)
  }

  /** Checks all credentials now. Never rejects. */
  async check(): Promise<void> {
    const { holds, refresh } = this.#options
    const failed: string[] = []
    for (const [key, { size }] of this.#listeners) if (size === 0) this.#listeners.delete(key)
    try {
      await refresh?.()
      let checks: Promise<boolean>[] = []
      for (const key of this.#listeners.keys()) {
        if (this.#checking.has(key)) continue
        const valid = holds(key)
        if (valid === true) continue
        checks.push(this.#notifyUnlessValid(valid, key, failed))
        if (checks.length < maxConcurrentChecks) continue
        const succeeded = await Promise.all(checks)
        checks = []
        // The store is unreachable: the next check tries again.
        if (!succeeded.includes(true)) break
      }
      await Promise.all(checks)
    } catch {
      // The same.
    }
    // To the end, so that the next check begins with others.
    for (const key of failed) {
      const listeners = this.#listeners.get(key)
      this.#listeners.delete(key)
      if (listeners) this.#listeners.set(key, listeners)
    }
  }

  /** Resolves with whether the check has succeeded. Never rejects: others do not wait for this one. */
  async #notifyUnlessValid(valid: boolean | Promise<boolean>, key: string, failed: string[]): Promise<boolean> {
    this.#checking.add(key)
    try {
      if (await valid) return true
    } catch {
      failed.push(key)
      return false
    } finally {
      this.#checking.delete(key)
    }
    const listeners = this.#listeners.get(key)
    this.#listeners.delete(key)
    for (const listener of listeners ?? []) listener()
    return true
  }

  async #checkRegularly(): Promise<void> {
    const { clock = systemClock, everyMs = 200 } = this.#options
    this.#running = true
    while (this.#listeners.size > 0) {
      await new Promise<void>((resolve) => clock.at(clock.now() + everyMs, resolve))
      await this.check()
    }
    this.#running = false
  }
}

/** Bound of concurrent queries, for a store that runs them one by one. */
const maxConcurrentChecks = 32
