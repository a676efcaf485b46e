import { useEffect, useState } from 'preact/hooks'

/**
 * The filters of a screen, in the address after its path: `#/admin/users?role=admin`. So a link shows the same, and
 * Back leads to it.
 * @template {string} Name
 * @param {readonly Name[]} names
 * @returns {[Partial<Record<Name, string>>, (changes: Partial<Record<Name, string>>) => void]}
 */
export const useQuery = (names) => {
  const [query, setQuery] = useState(() => readQuery(names))
  useEffect(() => {
    const onHashChange = () => setQuery(readQuery(names))
    addEventListener('hashchange', onHashChange)
    return () => removeEventListener('hashchange', onHashChange)
  }, [])
  const change = (/** @type {Partial<Record<Name, string>>} */ changes) => {
    const next = { ...readQuery(names), ...changes }
    const given = Object.entries(next).filter(([, value]) => value)
    const text = new URLSearchParams(/** @type {[string, string][]} */ (given)).toString()
    const [path = ''] = location.hash.split('?')
    // A change of a filter is no step of the history.
    history.replaceState(history.state, '', `${path}${text && `?${text}`}`)
    setQuery(readQuery(names))
  }
  return [query, change]
}

/**
 * @template {string} Name
 * @param {readonly Name[]} names
 * @returns {Partial<Record<Name, string>>}
 */
const readQuery = (names) => {
  const given = new URLSearchParams(location.hash.split('?').slice(1).join('?'))
  return /** @type {Partial<Record<Name, string>>} */ (
    Object.fromEntries(names.flatMap((name) => (given.get(name) ? [[name, given.get(name)]] : [])))
  )
}

/**
 * A link to an operators' screen.
 * @param {readonly string[]} parts
 * @param {Readonly<Record<string, string>>} [query]
 */
export const linkToAdmin = (parts, query = {}) => {
  const text = new URLSearchParams(query).toString()
  return `#/${['admin', ...parts].map(encodeURIComponent).join('/')}${text && `?${text}`}`
}

/**
 * Goes to an operators' screen.
 * @param {readonly string[]} parts
 */
export const navigateTo = (parts) => {
  location.hash = linkToAdmin(parts)
}
