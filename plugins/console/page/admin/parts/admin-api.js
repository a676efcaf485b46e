import { useMemo, useRef } from 'preact/hooks'
import { ApiError } from '../../api/api-error.js'
import { paths } from '../../api/paths.js'
import { useApi } from '../../frame/hooks.js'
import { t } from '../../words/words.js'
import { w } from '../words/words.js'

/**
 * Parameters. An empty one is omitted, but `group_by`: without it, usage is summed by everything.
 * @typedef {Readonly<Record<string, string | undefined>>} Query
 */

/**
 * An address of the admin API.
 * @param {string} path below the base path
 * @param {Query} [query]
 */
export const addressOf = (path, query = {}) => {
  const given = Object.entries(query).filter(
    ([name, value]) => value !== undefined && (value !== '' || name === 'group_by'),
  )
  const text = new URLSearchParams(/** @type {[string, string][]} */ (given)).toString()
  return `${paths.admin}${path}${text === '' ? '' : `?${text}`}`
}

/**
 * A path with ids in it.
 * @param {TemplateStringsArray} strings
 * @param {string[]} ids
 */
export const pathWith = (strings, ...ids) =>
  strings.reduce((path, string, at) => path + encodeURIComponent(ids[at - 1] ?? '') + string)

/** The admin API, with the session of the user. */
export const useAdminApi = () => {
  const api = useApi()
  return useMemo(
    () => ({
      /**
       * @param {string} path
       * @param {Query} [query]
       * @param {AbortSignal} [signal]
       */
      read: (path, query, signal) => inWords(api.request(addressOf(path, query), { signal })),
      /**
       * @param {'POST' | 'PATCH' | 'DELETE'} method
       * @param {string} path
       * @param {unknown} [body]
       * @param {string} [idempotencyKey] the server runs creates with the same key once
       */
      send: (method, path, body, idempotencyKey) =>
        inWords(
          api.request(addressOf(path), { method, body, ...(idempotencyKey !== undefined && { idempotencyKey }) }),
        ),
    }),
    [api],
  )
}

/**
 * Sends what creates something. All attempts with one body have one key, until one succeeds: so they create one thing.
 */
export const useCreate = () => {
  const admin = useAdminApi()
  const key = useRef({ body: '', id: '' })
  return async (/** @type {string} */ path, /** @type {object} */ body) => {
    const text = JSON.stringify(body)
    if (key.current.body !== text) key.current = { body: text, id: crypto.randomUUID() }
    const created = await admin.send('POST', path, body, key.current.id)
    key.current = { body: '', id: '' }
    return created
  }
}

/**
 * The response of a request. What any of them can be rejected for gets words of the console.
 * @param {Promise<any>} response
 */
const inWords = (response) =>
  response.catch((error) => {
    if (!(error instanceof ApiError)) throw error
    // The user may have been an admin when the page was opened.
    if (error.status === 403) throw new ApiError(403, t.onlyAdmins)
    throw error.status === 404 ? new ApiError(404, w.faults.gone) : error
  })
