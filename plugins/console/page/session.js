import { useEffect, useMemo, useState } from 'preact/hooks'
import { createApi, send } from './api.js'
import { messageOf, Refusal } from './refusal.js'
import { t } from './strings.js'

/** @typedef {{ id: string, name: string }} User */
/** @typedef {{ at: 'asking' } | { at: 'failed', message: string } | { at: 'out', notice?: string } | { at: 'in', user: User, fresh: boolean }} State */

/** Whether somebody logged in here: spares a question whose answer is known. No secret; the session itself is in a cookie that no script can read. */
const memory = {
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
      // Storage is switched off: then the question is asked each time.
    }
  },
}

/** A session must not end under somebody who works with the token alone. */
const touchMs = 300_000

/** Who is here. */
export const useSession = () => {
  const [state, setState] = useState(/** @type {State} */ (memory.known ? { at: 'asking' } : { at: 'out' }))
  const user = state.at === 'in' ? state.user : undefined

  const leave = (/** @type {string | undefined} */ notice) => {
    memory.known = false
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
    memory.known = true
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
    let touched = Date.now()
    const touch = () => {
      if (Date.now() - touched < touchMs) return
      touched = Date.now()
      api.ask('/api/session').catch(() => {})
    }
    const go = () => api.credential.leave()
    addEventListener('pagehide', go)
    addEventListener('keydown', touch)
    addEventListener('pointerdown', touch)
    return () => {
      removeEventListener('pagehide', go)
      removeEventListener('keydown', touch)
      removeEventListener('pointerdown', touch)
    }
  }, [api, user])

  return { state, api, ask, login, logout }
}
