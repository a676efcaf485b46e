import { Problem } from '../../shared/problem.ts'
import type { FileStore } from '../store.ts'

/**
 * Counts the downloads by link that are open, by the owner of their files.
 *
 * A link needs no credential, so no other limit knows a user. Each open download holds a part of its file in memory
 * until the caller has read it, and is one of the streams of the process.
 */
export class OpenDownloads {
  readonly #store: Pick<FileStore, 'fileOwner'>
  readonly #max: number
  readonly #open = new Map<string, number>()

  constructor(store: Pick<FileStore, 'fileOwner'>, max: number) {
    this.#store = store
    this.#max = max
  }

  /** Counts a download until it ends. Returns a function that ends the counting. Throws Problem 429 above the limit. */
  async enter(key: string): Promise<() => void> {
    // Downloads go on without the database. Each file then counts for itself.
    const owner = (await this.#store.fileOwner?.(key).catch(() => undefined)) ?? `file ${key}`
    const open = this.#open.get(owner) ?? 0
    if (open >= this.#max) throw new Problem(429, 'too many downloads at once', { headers: { 'retry-after': '1' } })
    this.#open.set(owner, open + 1)
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      const others = (this.#open.get(owner) ?? 1) - 1
      if (others > 0) this.#open.set(owner, others)
      else this.#open.delete(owner)
    }
  }
}
