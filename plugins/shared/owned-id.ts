declare const proof: unique symbol

/**
 * An id of an object that belongs to the caller, as a check has proved.
 *
 * Functions that change or list objects at the upstream accept only this type, so a route without the check does not compile. Only `ownership`
 * creates these ids, and `face-verification` for its tasks.
 */
export interface OwnedId<Kind extends string> {
  readonly id: string
  readonly [proof]: Kind
}
