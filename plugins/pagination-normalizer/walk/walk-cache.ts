import type { Position } from '../order.ts'
import type { RowRange, Start } from './range.ts'

/** A position in a list of several sources, and the corresponding start in each source. */
export interface Bookmark {
  readonly after: Position
  /** Number of rows of the whole list up to and including the position, when the bookmark was set. */
  readonly rank: number
  readonly starts: readonly Start[]
}

/**
 * A range that took many calls. It stays valid as long as the source has the fingerprint that it had before the read.
 */
export interface CachedRange<Row> {
  readonly range: RowRange<Row>
  readonly fingerprint: string
  /** As `performance.now()` gives it. */
  readonly readAt: number
}

/** What is cached about one list of one caller, to find the next pages. */
export interface Walk {
  /** By source id. */
  readonly anchors: Map<string, Anchor[]>
  readonly bookmarks: Bookmark[]
  /** How many rows are expected to have equal keys, according to the latest pages. */
  expectedTies: number
}

/** Milliseconds. A fingerprint can miss a change, so a range lives only long enough for the next pages of a walk. */
const rangeLifetimeMs = 10_000
/** Maximum number of cached rows, of all lists together. */
const maxCachedRows = 10_000

/**
 * Caches positions in recently read lists, from which the next pages are found. Without an entry, a page takes more
 * upstream calls.
 */
export class WalkCache {
  #walks = new Map<string, Walk>()
  #ranges = new Map<string, CachedRange<Position>>()
  #maxWalks: number

  /** @param maxWalks maximum number of lists; default 1,000 */
  constructor(maxWalks = 1_000) {
    this.#maxWalks = maxWalks
  }

  /**
   * @param list identifies the list: caller, endpoint, filters and sort order
   * @param sources of the list now. They change, for example with the groups of a user: the anchors of others are
   * removed
   */
  walkOf(list: string, sources: readonly { readonly id: string }[]): Walk {
    const walk = this.#walks.get(list) ?? { anchors: new Map(), bookmarks: [], expectedTies: 1 }
    if (walk.anchors.size > sources.length)
      for (const id of walk.anchors.keys()) if (!sources.some((source) => source.id === id)) walk.anchors.delete(id)
    this.#walks.delete(list)
    this.#walks.set(list, walk)
    if (this.#walks.size <= this.#maxWalks) return walk
    const oldest = this.#walks.keys().next()
    if (!oldest.done) this.#walks.delete(oldest.value)
    return walk
  }

  /** @param key identifies the list and the source */
  cacheRange<Row extends Position>(key: string, cached: CachedRange<Row>): void {
    this.#ranges.delete(key)
    this.#ranges.set(key, cached)
    let rows = 0
    for (const { range } of this.#ranges.values()) rows += range.rows.length
    for (const [oldest, { range, readAt }] of this.#ranges) {
      if (rows <= maxCachedRows && readAt > cached.readAt - rangeLifetimeMs) break
      this.#ranges.delete(oldest)
      rows -= range.rows.length
    }
  }

  /** The range under a key, unless it has expired. The caller knows the row type of the key. */
  cachedRange<Row extends Position>(key: string): CachedRange<Row> | undefined {
    const cached = this.#ranges.get(key) as CachedRange<Row> | undefined
    return cached && cached.readAt > performance.now() - rangeLifetimeMs ? cached : undefined
  }

  deleteRange(key: string): void {
    this.#ranges.delete(key)
  }
}

/** Maximum number of anchors or bookmarks of a list. A hundred rows apart, they cover a million rows. */
const maxMarks = 10_000

/** Adds an anchor or bookmark and removes the one that it replaces. When there are too many, the oldest is removed. */
export const addMark = <Mark>(marks: Mark[], mark: Mark, isReplaced: (other: Mark) => boolean): void => {
  const replaced = marks.findIndex(isReplaced)
  if (replaced !== -1) marks.splice(replaced, 1)
  else if (marks.length >= maxMarks) marks.shift()
  marks.push(mark)
}

/** A point between two keys of a source, and the cursor that continues there. */
export interface Anchor {
  readonly cursor: string
  /** The last row before this point, in exact order. */
  readonly last: Position
  /** Number of rows before this point. It is exact only while the source has the same fingerprint. */
  readonly offset: number
  /** Empty when the offset was not counted from the front, and so may be wrong. */
  readonly fingerprint: string
}

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
const maxSearchedRows = 20_000

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
      if (count <= maxSearchedRows && searched.readAt > readAt - lifetimeMs) break
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
