import type { Position } from './order.ts'
import type { Start } from './portion.ts'

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

/** What was seen of one caller's list on the way: never an answer, only where to look for the next one. */
export interface Trail {
  /** By the source's id. */
  readonly anchors: Map<string, Anchor[]>
  readonly bookmarks: Bookmark[]
}

/** Trails of the lists that were read last; the rest is forgotten, and found again by reading. */
export class Trails {
  #trails = new Map<string, Trail>()
  #most: number

  /** @param most lists, default 1,000 */
  constructor(most = 1_000) {
    this.#most = most
  }

  /** The trail of a list, told apart by caller, endpoint, filters and sort. */
  of(list: string): Trail {
    const trail = this.#trails.get(list) ?? { anchors: new Map(), bookmarks: [] }
    this.#trails.delete(list)
    this.#trails.set(list, trail)
    const oldest = this.#trails.keys().next()
    if (this.#trails.size > this.#most && !oldest.done) this.#trails.delete(oldest.value)
    return trail
  }
}

/** Most anchors or bookmarks of a list: a hundred rows apart, enough for a million. */
const mostMarks = 10_000

/** Adds to a trail, in place of what is like it; the oldest goes when there are too many. */
export const remember = <Mark>(marks: Mark[], mark: Mark, isAlike: (other: Mark) => boolean): void => {
  const alike = marks.findIndex(isAlike)
  if (alike !== -1) marks.splice(alike, 1)
  else if (marks.length >= mostMarks) marks.shift()
  marks.push(mark)
}
