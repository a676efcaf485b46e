/** Memoizes a function of an object. The result lives as long as the object, which must not change. */
export const memoize = <Key extends object, Value>(compute: (key: Key) => Value): ((key: Key) => Value) => {
  const cache = new WeakMap<Key, Value>()
  return (key) => {
    let value = cache.get(key)
    if (value === undefined) {
      value = compute(key)
      cache.set(key, value)
    }
    return value
  }
}
