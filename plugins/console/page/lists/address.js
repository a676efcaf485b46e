import { useEffect, useState } from 'preact/hooks'
import { readQuery, writeQuery } from '../frame/route.js'

/**
 * Values that are a part of the address, such as filters: a link or a bookmark leads to the same list. A value that is
 * its default is not in the address.
 * @template {Readonly<Record<string, string>>} Values
 * @param {Values} defaults
 * @returns {readonly [Values, (changes: Partial<Values>) => void]}
 */
export const useAddress = (defaults) => {
  const read = () => {
    const query = readQuery(location.hash)
    const values = Object.entries(defaults).map(([name, value]) => [name, query.get(name) ?? value])
    return /** @type {Values} */ (Object.fromEntries(values))
  }
  const [values, setValues] = useState(read)
  useEffect(() => {
    const onHashChange = () => setValues(read())
    addEventListener('hashchange', onHashChange)
    return () => removeEventListener('hashchange', onHashChange)
  }, [])
  const change = (/** @type {Partial<Values>} */ changes) =>
    setValues((before) => {
      const after = { ...before, ...changes }
      const shown = Object.entries(after).filter(([name, value]) => value !== defaults[name])
      writeQuery(new URLSearchParams(shown))
      return after
    })
  return [values, change]
}
