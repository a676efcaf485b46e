declare const proof: unique symbol

/**
 * An id of an object that belongs to the caller, as a check has proved.
 *
 * Functions that change or list objects at the upstream accept only this type, so a route without the check does not
 * compile. They also check it when they run, because a host app in JavaScript has no types. Only `ownership` creates
 * these ids, and `face-verification` for its tasks. A copy of one, or an object with the same fields, is no proof.
 *
 * The kind of what another user lends to the caller begins with `lent `: so functions that change something do not
 * accept it.
 */
export interface OwnedId<Kind extends string> {
  readonly id: string
  /**
   * The account of the upstream that has the object. The clients of other accounts do not send its id. Undefined: there
   * is one account, without a name.
   */
  readonly account?: string | undefined
  readonly [proof]: Kind
}

/** An id of an object that the caller may see: it is the caller's own, or its owner lends it to the caller. */
export type ReadableId<Kind extends string> = OwnedId<Kind> | OwnedId<`lent ${Kind}`>

/** The objects that a check has proved, with their kinds. */
const proved = new WeakMap<object, string>()

/**
 * Marks a checked object as owned, and freezes it: it proves the id that it has now. Only the code that has checked the
 * owner may call it.
 */
export const declareOwned = <Kind extends string, Checked extends Pick<OwnedId<string>, 'id' | 'account'>>(
  kind: Kind,
  checked: Checked,
): Checked & OwnedId<Kind> => {
  proved.set(checked, kind)
  return Object.freeze(checked) as Checked & OwnedId<Kind>
}

/** Throws TypeError unless `declareOwned` has marked this object, with this kind. */
export const requireOwned = (kind: string, value: unknown): void => {
  if (typeof value !== 'object' || value === null || proved.get(value) !== kind)
    throw new TypeError(`the ${kind} is not one that a check of its owner has returned`)
}

/** Throws TypeError unless `declareOwned` has marked this object, as one of this kind or as a lent one. */
export const requireReadable = (kind: string, value: unknown): void => {
  if (typeof value === 'object' && value !== null && proved.get(value) === `lent ${kind}`) return
  requireOwned(kind, value)
}
