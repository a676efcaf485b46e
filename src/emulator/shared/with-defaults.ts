/**
 * The options, with the defaults for those that are absent or undefined.
 *
 * Throws a `RangeError` for an option whose default is a number, if it is none, or below 0. It may be a function.
 *
 * @param at path of the options in an error, with a dot at its end
 */
export const withDefaults = <Settings extends object>(
  options: Partial<Settings>,
  defaults: Settings,
  at = '',
): Settings => {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  for (const [name, initial] of Object.entries(defaults)) {
    const value = given[name] ?? initial
    if (typeof initial === 'number' && typeof value !== 'function' && !(value >= 0))
      throw new RangeError(`${at}${name} must be a number from 0`)
  }
  return { ...defaults, ...given }
}
