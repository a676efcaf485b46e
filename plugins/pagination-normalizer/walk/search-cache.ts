import type { Position } from '../order.ts'

/** All rows of a source, and the fingerprint that it had when they were read. */
interface SearchedRows {
  readonly rows: readonly Position[]
  readonly fingerprint: string
  /** As `performance.now()` gives it. */
  readonly readAt: number
}

/** Milliseconds. A fingerprint can miss a change, so rows live only for the next pages and the next search. */
const lifetimeMs = 30_000
/** Maximum number of cached rows, of all sources together. */
const maxCachedRows = 20_000

/** Caches the rows of recently searched sources, so that the next page, or another search in them, costs one call. */
export class SearchCache {
  readonly #searched = new Map<string, SearchedRows>()

  /** @param key identifies the list and the source, without the filters that are applied to the rows */
  put<Row extends Position>(key: string, rows: readonly Row[], fingerprint: string): void {
    const readAt = performance.now()
    this.#searched.delete(key)
    this.#searched.set(key, { rows, fingerprint, readAt })
    let count = 0
    for (const { rows } of this.#searched.values()) count += rows.length
    for (const [oldest, searched] of this.#searched) {
      if (count <= maxCachedRows && searched.readAt > readAt - lifetimeMs) break
      this.#searched.delete(oldest)
      count -= searched.rows.length
    }
  }

  /** The rows under a key, unless they have expired. The caller knows the row type of the key. */
  get<Row extends Position>(key: string): { readonly rows: readonly Row[]; readonly fingerprint: string } | undefined {
    const searched = this.#searched.get(key)
    if (!searched) return undefined
    if (searched.readAt > performance.now() - lifetimeMs) return searched as SearchedRows & { rows: readonly Row[] }
    this.#searched.delete(key)
    return undefined
  }
}
