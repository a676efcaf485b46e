/** @typedef {'media' | 'text' | 'video' | 'read' | 'admin' | 'provision'} Scope */
/**
 * A token, as the admin API shows it.
 * @typedef {object} Token
 * @property {string} id
 * @property {string} user
 * @property {string} user_name
 * @property {string | null} label
 * @property {string} start
 * @property {string} created_at
 * @property {string | null} expires_at
 * @property {string | null} revoked_at
 * @property {string | null} last_used_at
 * @property {readonly Scope[]} scopes
 * @property {readonly string[] | null} models
 * @property {readonly import('../limits/limit.js').Limit[] | null} limits
 * @property {string | null} old_secret_until
 */
/** @typedef {Token & { token?: string }} IssuedToken */

/**
 * @param {Token} token
 * @param {number} now
 * @returns {'valid' | 'expired' | 'revoked'}
 */
export const stateOf = ({ revoked_at, expires_at }, now) => {
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && Date.parse(expires_at) <= now ? 'expired' : 'valid'
}

/** The label of a token, or its first characters. @param {Token | undefined} token */
export const nameOf = (token) => token?.label || token?.start || ''
