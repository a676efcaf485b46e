import { serverNow } from './clock.js'

/**
 * The console's own token. It lives in this closure and nowhere else: not in storage, not in a cookie, not in an address. It is short-lived, made when it is
 * first needed, and revoked when the page goes.
 */

/** @typedef {{ id: string, token: string, endsAt: number }} Credential */

const lifeMs = 3_600_000
/** A call that begins with it must not end without it. */
const marginMs = 120_000

export const label = 'console'

/**
 * Whether a token was made by a console, in this tab or another one.
 * @param {{ label: string | null, created_at: string, expires_at: string | null }} token
 */
export const isConsoles = (token) =>
  token.label === label && Date.parse(token.expires_at ?? '') - Date.parse(token.created_at) <= lifeMs + 60_000

/** @param {(path: string, asking?: import('./api.js').Asking) => Promise<any>} ask with the session */
export const createCredential = (ask) => {
  /** @type {Promise<Credential> | undefined} */
  let making
  /** @type {Credential | undefined} */
  let made

  const make = async () => {
    const endsAt = serverNow() + lifeMs
    const body = { label, expires_at: new Date(endsAt).toISOString() }
    const { token } = await ask('/api/tokens', { method: 'POST', body })
    return { id: String(token.id), token: String(token.token), endsAt }
  }

  /** Many may ask at once; one is made. */
  const renew = () => {
    making ??= make()
      .then((credential) => {
        made = credential
        return credential
      })
      .finally(() => {
        making = undefined
      })
    return making
  }

  return {
    get id() {
      return made?.id
    },
    /** The token, made anew when there is none or it is about to end. */
    async get() {
      const credential = made && made.endsAt - serverNow() > marginMs ? made : await renew()
      return credential.token
    },
    /**
     * Forgets a token that was refused, unless another one is here already.
     * @param {string} token
     */
    drop(token) {
      if (made?.token === token) made = undefined
    },
    /** Revokes it as the page goes: nobody waits for the answer. */
    leave() {
      const id = made?.id
      made = undefined
      if (id) ask(`/api/tokens/${encodeURIComponent(id)}`, { method: 'DELETE', keepalive: true }).catch(() => {})
    },
    /** Revokes it, and what other tabs and lost ones left behind. */
    async revokeAll() {
      const id = made?.id
      made = undefined
      const revoke = (/** @type {string} */ one) => ask(`/api/tokens/${encodeURIComponent(one)}`, { method: 'DELETE' })
      if (id) await revoke(id)
      const { tokens } = await ask('/api/tokens')
      await Promise.all(tokens.filter(isConsoles).map((/** @type {{ id: string }} */ token) => revoke(token.id)))
    },
  }
}
