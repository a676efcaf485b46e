import type { Position } from './order.ts'
import type { RowRange, Start } from './range.ts'

/** A cut in a source between two keys, from which its cursor leads on. */
export interface Anchor {
  readonly cursor: string
  /** The last row before the cut, in exact order. */
  readonly last: Position
  /** How many rows come before the cut, if the source still has the fingerprint. */
  readonly place: number
  readonly fingerprint: string
}

/** A place in a list of several sources, and where each of them stood there. */
export interface Bookmark {
  readonly after: Position
  /** How many rows of the whole list came up to it, when it was made. */
  readonly rank: number
  readonly starts: readonly Start[]
}

/** A portion that took many calls, and the fingerprint that its source had before: as long as it has the same, the portion need not be read again. */
export interface CachedRange<Row> {
  readonly portion: RowRange<Row>
  readonly fingerprint: string
  /** By `performance.now()`. */
  readonly readAt: number
}

/** What was seen of one caller's list on the way: where to look for the next page. */
export interface Walk {
  /** By the source's id. */
  readonly anchors: Map<string, Anchor[]>
  readonly bookmarks: Bookmark[]
  /** How many rows of one key are to be expected, going by the pages read last. */
  longestRun: number
}

/** A fingerprint may overlook a change: nothing is kept for longer than the next pages of a walk need. */
const keptMs = 10_000
/** Most rows that are kept, of all lists together. */
const maxKept = 10_000

/** Trails of the lists that were read last; the rest is forgotten, and found again by reading. */
export class WalkCache {
  #trails = new Map<string, Walk>()
  #kept = new Map<string, CachedRange<Position>>()
  #most: number

  /** @param most lists, default 1,000 */
  constructor(most = 1_000) {
    this.#most = most
  }

  /** The trail of a list, told apart by caller, endpoint, filters and sort. */
  of(list: string): Walk {
    const trail = this.#trails.get(list) ?? { anchors: new Map(), bookmarks: [], longestRun: 1 }
    this.#trails.delete(list)
    this.#trails.set(list, trail)
    if (this.#trails.size <= this.#most) return trail
    const oldest = this.#trails.keys().next()
    if (!oldest.done) this.#trails.delete(oldest.value)
    return trail
  }

  /** Keeps a portion of a source of a list, under a key of theirs alone. */
  keep<Row extends Position>(key: string, kept: CachedRange<Row>): void {
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    let rows = 0
    for (const { portion } of this.#kept.values()) rows += portion.rows.length
    for (const [oldest, { portion, readAt }] of this.#kept) {
      if (rows <= maxKept && readAt > kept.readAt - keptMs) break
      this.#kept.delete(oldest)
      rows -= portion.rows.length
    }
  }

  /** What was kept under a key, which stands for rows of one type. */
  kept<Row extends Position>(key: string): CachedRange<Row> | undefined {
    const kept = this.#kept.get(key) as CachedRange<Row> | undefined
    return kept && kept.readAt > performance.now() - keptMs ? kept : undefined
  }

  forget(key: string): void {
    this.#kept.delete(key)
  }
}

/** Most anchors or bookmarks of a list: a hundred rows apart, enough for a million. */
const maxMarks = 10_000

/** Adds to a trail, in place of what is like it; the oldest goes when there are too many. */
export const remember = <Mark>(marks: Mark[], mark: Mark, isAlike: (other: Mark) => boolean): void => {
  const alike = marks.findIndex(isAlike)
  if (alike !== -1) marks.splice(alike, 1)
  else if (marks.length >= maxMarks) marks.shift()
  marks.push(mark)
}
