import { t } from '../words/words.js'
import { serverNow } from './clock.js'

/** A request that the server rejected, or that got no response. The message is a text for the user. */
export class ApiError extends Error {
  /**
   * @param {number} status 0: there was no response
   * @param {string} message
   * @param {{ retryAfter?: number | undefined, invalidCredential?: boolean, requestId?: string | undefined, reported?: string }} [details]
   * `retryAfter`: seconds. `invalidCredential`: whether it is the gateway's own 401, which means that the session or token
   * is not valid; a forwarded 401 of an upstream is not. `requestId`: by which the operator finds the request in the log.
   * `reported`: the message of the API alone, of which screens make words of their own
   */
  constructor(status, message, { retryAfter, invalidCredential = false, requestId, reported = '' } = {}) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
    /** When another try makes sense, in milliseconds of the server's clock. */
    this.retryAt = retryAfter === undefined ? undefined : serverNow() + 1000 * retryAfter
    this.invalidCredential = invalidCredential
    this.requestId = requestId
    this.reported = reported
  }
}

/**
 * Reads an error response. The message is that of the gateway, of text generation or of an upstream, in words of the
 * console; without one, a text with the status.
 * @param {Response} response
 */
export const readApiError = async (response) => {
  const { status, headers } = response
  const body = await response.json().catch(() => undefined)
  const reported = body?.error?.message ?? body?.ResponseMetadata?.Error?.Message ?? body?.message
  const message = typeof reported === 'string' && reported !== '' ? inWords(status, reported) : textOf(status)
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return new ApiError(status, message, {
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
    invalidCredential: status === 401 && headers.has('www-authenticate'),
    requestId: headers.get('x-request-id') ?? undefined,
    reported: typeof reported === 'string' ? reported : '',
  })
}

/** @param {number} status @param {string} reported the message of the API, which is in English */
const inWords = (status, reported) => {
  if (status === 429) return t.errors.tooMany(reported)
  return status >= 500 ? t.errors.failed(reported) : t.errors.refused(reported)
}

/** A proxy, or the runtime, rejects a body that is too large without a message. @param {number} status */
const textOf = (status) => (status === 413 ? t.errors.tooLarge : t.errors.status(status))

/**
 * Whether the server knows nothing of that id, or nothing that belongs to the user.
 * @param {unknown} error
 */
export const isUnknown = (error) => error instanceof ApiError && (error.status === 403 || error.status === 404)

/** @param {unknown} error */
export const isAbort = (error) => error instanceof DOMException && error.name === 'AbortError'

/**
 * The error to show for one that was caught.
 * @param {unknown} error
 */
export const shownError = (error) => (error instanceof ApiError ? error : new ApiError(0, t.errors.unexpected))

/**
 * The message to show for an error.
 * @param {unknown} error
 */
export const messageOf = (error) => shownError(error).message
