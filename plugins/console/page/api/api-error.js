import { t } from '../words/words.js'

/** A request that the server rejected, or that got no response. The message is a text for the user. */
export class ApiError extends Error {
  /**
   * @param {number} status 0: there was no response
   * @param {string} message
   * @param {number} [retryAfter] seconds
   * @param {boolean} [invalidCredential] whether it is the gateway's own 401, which means that the session or token is
   * not valid; a forwarded 401 of an upstream is not
   */
  constructor(status, message, retryAfter, invalidCredential = false) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
    this.invalidCredential = invalidCredential
  }
}

/**
 * Reads an error response: the message of the gateway, of text generation or of an upstream; without a message, a text
 * with the status.
 * @param {Response} response
 */
export const readApiError = async (response) => {
  const body = await response.json().catch(() => undefined)
  const reported = body?.error?.message ?? body?.ResponseMetadata?.Error?.Message ?? body?.message
  const message = typeof reported === 'string' && reported !== '' ? reported : textOf(response.status)
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  const invalidCredential = response.status === 401 && response.headers.has('www-authenticate')
  return new ApiError(response.status, message, Number.isFinite(seconds) ? seconds : undefined, invalidCredential)
}

/** A proxy, or the runtime, rejects a body that is too large without a message. @param {number} status */
const textOf = (status) => (status === 413 ? t.errors.tooLarge : t.errors.status(status))

/** @param {unknown} error */
export const isAbort = (error) => error instanceof DOMException && error.name === 'AbortError'

/**
 * The message to show for an error.
 * @param {unknown} error
 */
export const messageOf = (error) => (error instanceof ApiError ? error.message : t.errors.unexpected)
