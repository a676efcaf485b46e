import { serverNow } from './clock.js'
import { paths } from './paths.js'

/**
 * The console's own API token. It exists only in memory: not in storage, a cookie or an address. The console creates it
 * when it is first needed, with a short lifetime, and revokes it when the page is closed.
 */

/** @typedef {{ id: string, token: string, endsAt: number }} Credential */

const lifetimeMs = 3_600_000
/** A token that expires sooner is replaced, so that it does not expire during a request. */
const minRemainingMs = 120_000

export const label = 'console'

/**
 * Whether a console has created the token, in this tab or another one.
 * @param {{ label: string | null, created_at: string, expires_at: string | null }} token
 */
export const isConsoleToken = (token) =>
  token.label === label && Date.parse(token.expires_at ?? '') - Date.parse(token.created_at) <= lifetimeMs + 60_000

/**
 * @param {(path: string, options?: { method: string, body?: unknown, keepalive?: boolean }) => Promise<any>} request
 * sends a request with the session cookie
 */
export const createCredential = (request) => {
  /** @type {Promise<Credential> | undefined} */
  let pending
  /** @type {Credential | undefined} */
  let current

  const create = async () => {
    const endsAt = serverNow() + lifetimeMs
    const body = { label, expires_at: new Date(endsAt).toISOString() }
    const { token } = await request(paths.tokens, { method: 'POST', body })
    return { id: String(token.id), token: String(token.token), endsAt }
  }

  /** Creates a token. Concurrent calls share one. */
  const renew = () => {
    pending ??= create()
      .then((credential) => {
        current = credential
        return credential
      })
      .finally(() => {
        pending = undefined
      })
    return pending
  }

  return {
    get id() {
      return current?.id
    },
    /** Returns the token. Creates a new one when there is none or it expires soon. */
    async get() {
      const credential = current && current.endsAt - serverNow() > minRemainingMs ? current : await renew()
      return credential.token
    },
    /**
     * Drops a token that the server has rejected, unless there is a newer one already.
     * @param {string} token
     */
    drop(token) {
      if (current?.token === token) current = undefined
    },
    /** Revokes the token when the page is closed, without waiting for the response. */
    revokeOnClose() {
      const id = current?.id
      current = undefined
      if (id)
        request(`${paths.tokens}/${encodeURIComponent(id)}`, { method: 'DELETE', keepalive: true }).catch(() => {})
    },
    /** Revokes the token and the console tokens of other tabs, also of tabs that were closed without a revocation. */
    async revokeAll() {
      const id = current?.id
      current = undefined
      const revoke = (/** @type {string} */ one) =>
        request(`${paths.tokens}/${encodeURIComponent(one)}`, { method: 'DELETE' })
      if (id) await revoke(id)
      const { tokens } = await request(paths.tokens)
      await Promise.all(tokens.filter(isConsoleToken).map((/** @type {{ id: string }} */ token) => revoke(token.id)))
    },
  }
}
