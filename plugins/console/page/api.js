import { learnTime } from './clock.js'
import { createCredential } from './credential.js'
import { isAbort, Refusal, refusalOf } from './refusal.js'
import { t } from './strings.js'

/**
 * @typedef {object} Asking
 * @property {string} [method] default GET
 * @property {unknown} [body] sent as JSON
 * @property {AbortSignal} [signal]
 * @property {boolean} [keepalive] whether the request outlives the page
 */

/**
 * The one way to call. Throws Refusal for any answer that is not a success, and when there is none.
 * @param {string} path
 * @param {Asking & { token?: string }} [asking]
 * @returns {Promise<Response>}
 */
export const send = async (path, { method = 'GET', body, signal, keepalive, token } = {}) => {
  /** @type {Record<string, string>} */
  const headers = { accept: 'application/json, text/event-stream' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (token !== undefined) headers.authorization = `Bearer ${token}`
  // A token speaks for itself, without the cookie.
  const credentials = token === undefined ? 'same-origin' : 'omit'
  const sent = body === undefined ? undefined : JSON.stringify(body)
  const given = { method, headers, body: sent, signal, keepalive, credentials, cache: 'no-store', redirect: 'error' }
  const response = await fetch(path, /** @type {RequestInit} */ (given)).catch((error) => {
    throw isAbort(error) ? error : new Refusal(0, t.errors.unreachable)
  })
  learnTime(response.headers.get('date'))
  if (!response.ok) throw await refusalOf(response)
  return response
}

/**
 * An answer's JSON.
 * @param {Response} response
 */
const read = async (response) => {
  const text = await response.text().catch((error) => {
    throw isAbort(error) ? error : new Refusal(0, t.errors.unreachable)
  })
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    throw new Refusal(response.status, t.errors.unreadable)
  }
}

/** @typedef {ReturnType<typeof createApi>} Api */

/**
 * Calls on behalf of who has the session.
 * @param {{ onEnd: () => void }} options told once when the session turns out to be over
 */
export const createApi = ({ onEnd }) => {
  /**
   * With the session: tokens, usage, face verification.
   * @param {string} path
   * @param {Asking} [asking]
   */
  const ask = async (path, asking) => {
    try {
      return await read(await send(path, asking))
    } catch (error) {
      if (error instanceof Refusal && error.asksWho) onEnd()
      throw error
    }
  }

  const credential = createCredential(ask)

  /**
   * With the token: the asset library and text generation. One that has stopped working is replaced, once.
   * @param {string} path
   * @param {Asking} [asking]
   */
  const stream = async (path, asking) => {
    const token = await credential.get()
    try {
      return await send(path, { ...asking, token })
    } catch (error) {
      if (!(error instanceof Refusal && error.status === 401)) throw error
      credential.drop(token)
      return send(path, { ...asking, token: await credential.get() })
    }
  }

  return {
    ask,
    stream,
    /**
     * @param {string} path
     * @param {Asking} [asking]
     */
    askWithToken: async (path, asking) => read(await stream(path, asking)),
    credential,
  }
}

/** The product word in `/api/media/…`. */
export const segment = document.documentElement.dataset.segment ?? 'media'
