import { useEffect, useState } from 'preact/hooks'
import { paths } from '../api/paths.js'
import { useApi } from './hooks.js'

/** Whether a server has what the operators' screens need. */
const hasAdmin = paths.admin !== undefined && paths.account !== undefined

/**
 * The role of the user. Undefined until it is known. The admin API itself decides about every request: the role only
 * says what to show.
 * @returns {'user' | 'admin' | undefined}
 */
export const useRole = () => {
  const api = useApi()
  const [role, setRole] = useState(/** @type {'user' | 'admin' | undefined} */ (hasAdmin ? undefined : 'user'))
  useEffect(() => {
    if (!hasAdmin) return
    const loading = new AbortController()
    api.request(paths.account ?? '', { signal: loading.signal }).then(
      ({ account }) => setRole(account.role),
      () => loading.signal.aborted || setRole('user'),
    )
    return () => loading.abort()
  }, [api])
  return role
}
