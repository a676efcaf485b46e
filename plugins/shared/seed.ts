const numbers = new WeakMap<object, number>()
let last = 0

/**
 * A number that is the same for the same object and different for different ones. Elysia drops a plugin whose name and seed
 * it has seen, comparing seeds as JSON, where functions vanish: plugins that differ only by a collaborator are seeded with this.
 */
export const seedOf = (object: object): number => {
  let number = numbers.get(object)
  if (number === undefined) {
    number = ++last
    numbers.set(object, number)
  }
  return number
}
