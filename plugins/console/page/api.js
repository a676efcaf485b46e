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
 * Sends a request. Throws Refusal for a status that is not a success, and when there is no response.
 * @param {string} path
 * @param {Asking & { token?: string }} [asking]
 * @returns {Promise<Response>}
 */
export const send = async (path, { method = 'GET', body, signal, keepalive, token } = {}) => {
  /** @type {Record<string, string>} */
  const headers = { accept: 'application/json, text/event-stream' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (token !== undefined) headers.authorization = `Bearer ${token}`
  // A request with a token is sent without the session cookie.
  const credentials = token === undefined ? 'same-origin' : 'omit'
  const json = body === undefined ? undefined : JSON.stringify(body)
  const init = { method, headers, body: json, signal, keepalive, credentials, cache: 'no-store', redirect: 'error' }
  const response = await fetch(path, /** @type {RequestInit} */ (init)).catch((error) => {
    throw isAbort(error) ? error : new Refusal(0, t.errors.unreachable)
  })
  learnTime(response.headers.get('date'))
  if (!response.ok) throw await refusalOf(response)
  return response
}

/**
 * Reads a response as JSON; an empty body counts as `{}`. Throws Refusal for anything else.
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
 * Calls as the user of the session.
 * @param {{ onEnd: () => void }} options `onEnd` is called when a response shows that the session has ended
 */
export const createApi = ({ onEnd }) => {
  /**
   * Calls with the session cookie: tokens, usage, face verification.
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
   * Calls with the console's token: the asset library and text generation. After a 401 it retries once with a new token.
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
