import { useEffect, useMemo, useState } from 'preact/hooks'
import { createApi, send } from '../api/api.js'
import { ApiError, messageOf } from '../api/api-error.js'
import { paths } from '../api/paths.js'
import { t } from '../words/words.js'

/** @typedef {{ id: string, name: string }} User */
/**
 * @typedef {{ status: 'loading' } | { status: 'failed', message: string } | { status: 'logged out', notice?: string } |
 * { status: 'logged in', user: User, justLoggedIn: boolean }} State
 */

/** While the user is active, the page requests the session this often. Requests with the token do not extend it. */
const refreshMs = 300_000

/** The session of the page, with login and logout. */
export const useSession = () => {
  const [state, setState] = useState(/** @type {State} */ ({ status: 'loading' }))
  const user = state.status === 'logged in' ? state.user : undefined

  const showLogin = (/** @type {string | undefined} */ notice) => setState({ status: 'logged out', notice })
  const api = useMemo(() => createApi({ onSessionEnd: () => showLogin(t.login.sessionEnded) }), [user?.id])
  const tabs = useMemo(() => new BroadcastChannel('sluice-console'), [])

  const load = async () => {
    setState({ status: 'loading' })
    try {
      // The document has begun this request, which only one with this `cache` takes over. The response is never stored.
      const { user } = await (await send(paths.session, { cache: 'default' })).json()
      setState({ status: 'logged in', user, justLoggedIn: false })
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) showLogin(undefined)
      else setState({ status: 'failed', message: messageOf(error) })
    }
  }

  /**
   * @param {string} name
   * @param {string} password
   */
  const login = async (name, password) => {
    const { user } = await (await send(paths.session, { method: 'POST', body: { name, password } })).json()
    setState({ status: 'logged in', user, justLoggedIn: true })
  }

  const logout = async () => {
    await api.credential.revokeAll().catch(() => {})
    await send(paths.session, { method: 'DELETE' }).catch((error) => {
      if (!(error instanceof ApiError && error.status === 401)) throw error
    })
    tabs.postMessage('logged out')
    showLogin(undefined)
  }

  useEffect(() => {
    // Also at the first visit: the user may have logged in elsewhere. The session itself is in an HttpOnly cookie.
    void load()
    tabs.onmessage = () => showLogin(t.login.loggedOutElsewhere)
  }, [])

  useEffect(() => {
    if (!user) return
    let refreshedAt = Date.now()
    const refresh = () => {
      if (Date.now() - refreshedAt < refreshMs) return
      refreshedAt = Date.now()
      api.request(paths.session).catch(() => {})
    }
    const onPageHide = () => api.credential.revokeOnClose()
    addEventListener('pagehide', onPageHide)
    addEventListener('keydown', refresh)
    addEventListener('pointerdown', refresh)
    return () => {
      removeEventListener('pagehide', onPageHide)
      removeEventListener('keydown', refresh)
      removeEventListener('pointerdown', refresh)
    }
  }, [api, user])

  return { state, api, load, login, logout }
}
