import type { Clock } from './clock.ts'

/** The codes of errors of a full file system and of a reached quota, as Node names them. Stores and storages of a host use them too. */
const codes: readonly unknown[] = ['ENOSPC', 'EDQUOT']

/** Whether an error, or one of its causes, says that there is no room for what should be written. */
export const hasNoSpace = (error: unknown): boolean => {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (codes.includes((cause as Coded).code)) return true
  return false
}

interface Coded {
  readonly code?: unknown
}

/** Remembers that there was no room, until a write succeeds again. */
export class SpaceCheck {
  readonly #write: () => Promise<unknown>
  readonly #clock: Pick<Clock, 'now'>
  #isFull = false
  #last: { readonly at: number; readonly written: Promise<unknown> } | undefined

  /** @param write writes something small, as other writes do */
  constructor(write: () => Promise<unknown>, clock: Pick<Clock, 'now'>) {
    this.#write = write
    this.#clock = clock
  }

  /** Call it with the errors of writes. */
  note(error: unknown): void {
    if (hasNoSpace(error)) this.#isFull = true
  }

  /** Rejects while there is no room. It writes only after an error, and at most once a second: callers need not be known. */
  async check(): Promise<void> {
    if (!this.#isFull) return
    const now = this.#clock.now()
    if (!this.#last || Math.abs(now - this.#last.at) >= betweenChecksMs)
      this.#last = { at: now, written: this.#write() }
    await this.#last.written
    this.#isFull = false
  }
}

const betweenChecksMs = 1_000
