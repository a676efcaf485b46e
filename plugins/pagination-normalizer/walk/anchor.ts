import type { Position } from '../order.ts'

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
