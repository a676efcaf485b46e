const numbers = new WeakMap<object, number>()
let last = 0

/**
 * A seed for an Elysia plugin: a number that identifies an object, such as the plugin's options.
 *
 * Elysia ignores a second plugin with the same name and seed. It compares seeds as JSON, which omits functions: options
 * that differ only in a function would be equal.
 */
export const seedOf = (object: object): number => {
  let number = numbers.get(object)
  if (number === undefined) {
    number = ++last
    numbers.set(object, number)
  }
  return number
}
