import { useEffect, useMemo, useState } from 'preact/hooks'

/**
 * The route in the fragment of the address: `#/groups/AIGC/group-1?q=cat` is the screen `groups` with the parts `AIGC`
 * and `group-1`. What follows the question mark is the screen's own: see `useAddress`.
 * @typedef {{ screen: string, parts: readonly string[] }} Route
 */

/**
 * @param {string} hash
 * @returns {Route}
 */
export const readRoute = (hash) => {
  const [path = ''] = hash.split('?')
  const [screen = '', ...parts] = path.startsWith('#/') ? path.slice(2).split('/').map(decode) : []
  return { screen, parts: parts.filter((part) => part !== '') }
}

/** @param {string} part */
const decode = (part) => {
  try {
    return decodeURIComponent(part)
  } catch {
    // No id contains a percent sign.
    return part
  }
}

/** The values after the question mark. @param {string} hash */
export const readQuery = (hash) => new URLSearchParams(hash.split('?').slice(1).join('?'))

/** Changes the values after the question mark, without a new entry in the history. @param {URLSearchParams} query */
export const writeQuery = (query) => {
  const [path] = location.hash.split('?')
  const text = query.toString()
  history.replaceState(history.state, '', text === '' ? path || '#' : `${path || '#/'}?${text}`)
}

/** @param {string[]} parts */
export const linkTo = (...parts) => `#/${parts.map(encodeURIComponent).join('/')}`

/** @param {string[]} parts */
export const navigate = (...parts) => {
  location.hash = linkTo(...parts)
}

/** The fragment of the address before the last change of the route. */
let previous = ''
addEventListener('hashchange', ({ oldURL }) => {
  previous = new URL(oldURL).hash
})

/** Where the user has come from, with its values after the question mark. Empty at the first route of a visit. */
export const previousHash = () => previous

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
