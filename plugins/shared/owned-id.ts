declare const proof: unique symbol

/**
 * An id that was checked to be the caller's. What changes or lists things upstream accepts nothing else, so a route that forgot the check does
 * not compile. Only `ownership` makes them,
 * and `face-verification` for its own tasks.
 */
export interface OwnedId<Kind extends string> {
  readonly id: string
  readonly [proof]: Kind
}
