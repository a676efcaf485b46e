import { useEffect, useMemo, useState } from 'preact/hooks'
import { createApi, send } from './api.js'
import { messageOf, Refusal } from './refusal.js'
import { t } from './strings.js'

/** @typedef {{ id: string, name: string }} User */
/** @typedef {{ at: 'asking' } | { at: 'failed', message: string } | { at: 'out', notice?: string } | { at: 'in', user: User, fresh: boolean }} State */

/**
 * Remembers whether a user has logged in with this browser.
 *
 * Without that, the page shows the login form at once. The session itself is in an HttpOnly cookie.
 */
const loginMarker = {
  key: 'sluice-console',
  /** @returns {boolean} */
  get known() {
    try {
      return localStorage.getItem(this.key) !== null
    } catch {
      return true
    }
  },
  /** @param {boolean} known */
  set known(known) {
    try {
      if (known) localStorage.setItem(this.key, 'known')
      else localStorage.removeItem(this.key)
    } catch {
      // Storage is disabled: then the page requests the session each time.
    }
  },
}

/** While the user is active, the page requests the session this often. Requests with the token do not extend it. */
const touchMs = 300_000

/** The session of the page, with login and logout. */
export const useSession = () => {
  const [state, setState] = useState(/** @type {State} */ (loginMarker.known ? { at: 'asking' } : { at: 'out' }))
  const user = state.at === 'in' ? state.user : undefined

  const leave = (/** @type {string | undefined} */ notice) => {
    loginMarker.known = false
    setState({ at: 'out', notice })
  }
  const api = useMemo(() => createApi({ onEnd: () => leave(t.login.ended) }), [user?.id])
  const tabs = useMemo(() => new BroadcastChannel('sluice-console'), [])

  const ask = async () => {
    setState({ at: 'asking' })
    try {
      const { user } = await (await send('/api/session')).json()
      setState({ at: 'in', user, fresh: false })
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) leave(undefined)
      else setState({ at: 'failed', message: messageOf(error) })
    }
  }

  /**
   * @param {string} name
   * @param {string} password
   */
  const login = async (name, password) => {
    const { user } = await (await send('/api/session', { method: 'POST', body: { name, password } })).json()
    loginMarker.known = true
    setState({ at: 'in', user, fresh: true })
  }

  const logout = async () => {
    await api.credential.revokeAll().catch(() => {})
    await send('/api/session', { method: 'DELETE' }).catch((error) => {
      if (!(error instanceof Refusal && error.status === 401)) throw error
    })
    tabs.postMessage('out')
    leave(undefined)
  }

  useEffect(() => {
    if (state.at === 'asking') void ask()
    tabs.onmessage = () => leave(t.login.elsewhere)
  }, [])

  useEffect(() => {
    if (!user) return
    let touchedAt = Date.now()
    const touch = () => {
      if (Date.now() - touchedAt < touchMs) return
      touchedAt = Date.now()
      api.ask('/api/session').catch(() => {})
    }
    const onPageHide = () => api.credential.leave()
    addEventListener('pagehide', onPageHide)
    addEventListener('keydown', touch)
    addEventListener('pointerdown', touch)
    return () => {
      removeEventListener('pagehide', onPageHide)
      removeEventListener('keydown', touch)
      removeEventListener('pointerdown', touch)
    }
  }, [api, user])

  return { state, api, ask, login, logout }
}
