import type { Clock } from './clock.ts'

/**
 * The codes of errors of a full file system and of a reached quota, as Node names them. Stores and storages of a host
 * use them too.
 */
const codes: readonly unknown[] = ['ENOSPC', 'EDQUOT']

/**
 * The code of a resource that is in use by others, as Node names it: for example all connections of a database. Stores
 * of a host use it too.
 */
const inUse = 'EAGAIN'

/** Whether an error, or one of its causes, says that there is no room for what should be written. */
export const hasNoSpace = (error: unknown): boolean => hasCode(error, codes)

/**
 * Seconds after which a caller may try again, if an error, or one of its causes, says that there is no room, or that a
 * resource is in use. Undefined for any other error.
 */
export const retrySecondsOf = (error: unknown): number | undefined =>
  hasNoSpace(error) ? 30 : hasCode(error, [inUse]) ? 2 : undefined

const hasCode = (error: unknown, wanted: readonly unknown[]): boolean => {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (wanted.includes((cause as Coded).code)) return true
  return false
}

interface Coded {
  readonly code?: unknown
}

/** Options of `SpaceCheck`. */
export interface SpaceCheckOptions {
  readonly clock: Pick<Clock, 'now'>
  /**
   * The shortest time between two writes while there is room, in milliseconds. Infinity: it writes only after an error.
   * Default 10,000.
   */
  readonly everyMs?: number
}

/**
 * Knows whether there is room for what should be written: from the errors of writes, and from a small write of its own
 * from time to time.
 */
export class SpaceCheck {
  readonly #write: () => Promise<unknown>
  readonly #clock: Pick<Clock, 'now'>
  readonly #everyMs: number
  #isFull = false
  /** The last error of another write. */
  #noted: { readonly at: number; readonly error: unknown } | undefined
  #last: { readonly at: number; readonly written: Promise<unknown> } | undefined

  /** @param write writes something small, as other writes do */
  constructor(write: () => Promise<unknown>, { clock, everyMs = 10_000 }: SpaceCheckOptions) {
    this.#write = write
    this.#clock = clock
    this.#everyMs = everyMs
  }

  /** Call it with the errors of writes. */
  note(error: unknown): void {
    if (!hasNoSpace(error)) return
    this.#noted = { at: this.#clock.now(), error }
    if (this.#isFull) return
    this.#isFull = true
    this.#last = undefined
  }

  /** Like `check`, but writes nothing while there seems to be room: undefined. */
  require(): Promise<void> | undefined {
    return this.#isFull ? this.check() : undefined
  }

  /** Rejects while there is no room. It writes seldom, however often it is called: callers need not be known. */
  async check(): Promise<void> {
    if (!this.#isFull && this.#everyMs === Number.POSITIVE_INFINITY) return
    const now = this.#clock.now()
    if (!this.#last || Math.abs(now - this.#last.at) >= (this.#isFull ? whileFullMs : this.#everyMs))
      this.#last = { at: now, written: this.#write() }
    try {
      await this.#last.written
      // The write may have found room that others do not find, such as that of the write before it.
      if (this.#noted && Math.abs(now - this.#noted.at) < calmMs) throw this.#noted.error
      this.#isFull = false
    } catch (error) {
      this.#isFull ||= hasNoSpace(error)
      // Any other error says nothing about the room, so it changes nothing.
      if (this.#isFull) throw error
    }
  }
}

const whileFullMs = 1_000
/** How long no other write must have failed. */
const calmMs = 10_000
