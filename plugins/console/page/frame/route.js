import { useEffect, useMemo, useState } from 'preact/hooks'

/**
 * The route in the fragment of the address: `#/groups/AIGC/group-1` is the screen `groups` with the parts `AIGC` and
 * `group-1`. What follows a `?` are filters of the screen.
 * @typedef {{ screen: string, parts: readonly string[] }} Route
 */

/**
 * @param {string} hash
 * @returns {Route}
 */
export const readRoute = (hash) => {
  const [screen = '', ...parts] = hash.startsWith('#/')
    ? (hash.slice(2).split('?')[0] ?? '').split('/').map(decode)
    : []
  return { screen, parts: parts.filter((part) => part !== '') }
}

/** @param {string} part */
const decode = (part) => {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}

/** @param {string[]} parts */
export const linkTo = (...parts) => `#/${parts.map(encodeURIComponent).join('/')}`

/** @param {string[]} parts */
export const navigate = (...parts) => {
  location.hash = linkTo(...parts)
}

export const useRoute = () => {
  const [hash, setHash] = useState(() => location.hash)
  useEffect(() => {
    const onHashChange = () => setHash(location.hash)
    // It may have changed since the first rendering.
    onHashChange()
    addEventListener('hashchange', onHashChange)
    return () => removeEventListener('hashchange', onHashChange)
  }, [])
  return useMemo(() => readRoute(hash), [hash])
}
