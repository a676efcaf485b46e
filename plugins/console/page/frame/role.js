import { useEffect, useState } from 'preact/hooks'
import { paths } from '../api/paths.js'
import { useApi } from './hooks.js'

/** @typedef {'user' | 'admin'} Role */

/** Whether a server has what the operators' screens need. */
const hasAdmin = paths.admin !== undefined && paths.account !== undefined

/** Where the tab keeps the role that it has read last. @param {string} user */
const keyOf = (user) => `sluice-role-${user}`

/** @param {string} user @returns {Role | undefined} */
const remembered = (user) => {
  try {
    return sessionStorage.getItem(keyOf(user)) === 'admin' ? 'admin' : undefined
  } catch {
    return undefined
  }
}

/** @param {string} user @param {Role} role */
const remember = (user, role) => {
  try {
    sessionStorage.setItem(keyOf(user), role)
  } catch {
    // The browser has no storage, or refuses it.
  }
}

/** The first screen is loaded before the role, which only adds a link to it. */
const laterMs = 1_000

/**
 * The role of the user. Undefined until it is known. The admin API itself decides about every request: the role only
 * says what to show.
 * @param {string} user id
 * @param {boolean} isNeeded whether the screen depends on it
 * @returns {Role | undefined}
 */
export const useRole = (user, isNeeded) => {
  const api = useApi()
  const [role, setRole] = useState(() => (hasAdmin ? remembered(user) : 'user'))
  useEffect(() => {
    if (!hasAdmin) return
    const loading = new AbortController()
    const load = () =>
      api.request(paths.account ?? '', { signal: loading.signal }).then(
        ({ account }) => {
          remember(user, account.role)
          setRole(account.role)
        },
        () => loading.signal.aborted || setRole('user'),
      )
    const timer = setTimeout(load, isNeeded ? 0 : laterMs)
    return () => {
      clearTimeout(timer)
      loading.abort()
    }
  }, [api, isNeeded])
  return role
}
