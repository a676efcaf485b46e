import { useEffect, useState } from 'preact/hooks'

/**
 * Where one is, kept in the fragment of the address: `#/groups/AIGC/group-1` is screen `groups` and the parts after it.
 * @typedef {{ screen: string, parts: readonly string[] }} Route
 */

/**
 * @param {string} hash
 * @returns {Route}
 */
export const readRoute = (hash) => {
  const [screen = '', ...parts] = hash.startsWith('#/') ? hash.slice(2).split('/').map(decoded) : []
  return { screen, parts: parts.filter((part) => part !== '') }
}

/** @param {string} part */
const decoded = (part) => {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}

/** @param {string[]} parts */
export const to = (...parts) => `#/${parts.map(encodeURIComponent).join('/')}`

/** @param {string[]} parts */
export const go = (...parts) => {
  location.hash = to(...parts)
}

export const useRoute = () => {
  const [route, setRoute] = useState(() => readRoute(location.hash))
  useEffect(() => {
    const follow = () => setRoute(readRoute(location.hash))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return route
}
