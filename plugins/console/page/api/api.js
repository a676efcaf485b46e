import { uploadFile } from '../uploads/upload-file.js'
import { t } from '../words/words.js'
import { ApiError, isAbort, readApiError } from './api-error.js'
import { syncClock } from './clock.js'
import { lost, reached, setProbe } from './connection.js'
import { createCredential } from './credential.js'
import { paths } from './paths.js'

/**
 * @typedef {object} RequestOptions
 * @property {string} [method] default GET
 * @property {unknown} [body] sent as JSON
 * @property {readonly object[]} [lines] sent as JSON, one in each line, instead of a body
 * @property {string} [idempotencyKey] the server runs requests with the same key once
 * @property {AbortSignal} [signal]
 * @property {boolean} [keepalive] whether the request outlives the page
 * @property {RequestCache} [cache] default `no-store`
 */

/**
 * Sends a request. Throws ApiError for a status that is not a success, and when there is no response.
 * @param {string} path
 * @param {RequestOptions & { token?: string }} [options]
 * @returns {Promise<Response>}
 */
export const send = async (path, options = {}) => {
  const { method = 'GET', body, lines, idempotencyKey, signal, keepalive, cache = 'no-store', token } = options
  /** @type {Record<string, string>} */
  const headers = { accept: 'application/json, text/event-stream' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (lines !== undefined) headers['content-type'] = 'application/x-ndjson'
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
  if (token !== undefined) headers.authorization = `Bearer ${token}`
  // A request with a token is sent without the session cookie.
  const credentials = token === undefined ? 'same-origin' : 'omit'
  const json = body === undefined ? undefined : JSON.stringify(body)
  const sent = lines?.map((line) => JSON.stringify(line)).join('\n') ?? json
  const init = { method, headers, body: sent, signal, keepalive, credentials, cache, redirect: 'error' }
  const response = await fetch(path, /** @type {RequestInit} */ (init)).catch((error) => {
    if (isAbort(error)) throw error
    lost()
    throw new ApiError(0, t.errors.unreachable)
  })
  reached()
  syncClock(response.headers.get('date'))
  if (!response.ok) throw await readApiError(response)
  return response
}

setProbe(() => fetch(paths.session, { cache: 'no-store' }))

/**
 * Reads a response as JSON; an empty body counts as `{}`. Throws ApiError for anything else.
 * @param {Response} response
 */
const readJson = async (response) => {
  const text = await response.text().catch((error) => {
    throw isAbort(error) ? error : new ApiError(0, t.errors.unreachable)
  })
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    throw new ApiError(response.status, t.errors.unreadable)
  }
}

/** @typedef {ReturnType<typeof createApi>} Api */

/**
 * The API client for the session's user.
 * @param {{ onSessionEnd: () => void }} options `onSessionEnd` is called when a response shows that the session has
 * ended
 */
export const createApi = ({ onSessionEnd }) => {
  /**
   * @template T
   * @param {Promise<T>} response of a request with the session cookie
   */
  const watchSession = async (response) => {
    try {
      return await response
    } catch (error) {
      if (error instanceof ApiError && error.invalidCredential) onSessionEnd()
      throw error
    }
  }

  /**
   * Sends a request with the session cookie (tokens, usage, face verification), and reads the JSON response.
   * @param {string} path
   * @param {RequestOptions} [options]
   */
  const request = (path, options) => watchSession(send(path, options).then(readJson))

  const credential = createCredential(request)

  /**
   * Sends a request with the console's token: the asset library and text generation. After a 401 it retries once with a
   * new token.
   * @param {string} path
   * @param {RequestOptions} [options]
   */
  const sendWithToken = async (path, options) => {
    const token = await credential.get()
    try {
      return await send(path, { ...options, token })
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 401)) throw error
      credential.drop(token)
      return send(path, { ...options, token: await credential.get() })
    }
  }

  return {
    request,
    /**
     * Sends such a request, and leaves the response as it is.
     * @param {string} path
     * @param {RequestOptions} [options]
     */
    send: (path, options) => watchSession(send(path, options)),
    /**
     * Uploads a file with the session cookie, and reads the JSON response.
     * @param {string} path
     * @param {File} file
     * @param {import('../uploads/upload-file.js').UploadFileOptions} options
     */
    upload: (path, file, options) => watchSession(uploadFile(path, file, options).then(readJson)),
    sendWithToken,
    /**
     * The same, and reads the JSON response.
     * @param {string} path
     * @param {RequestOptions} [options]
     */
    requestWithToken: async (path, options) => readJson(await sendWithToken(path, options)),
    credential,
  }
}
