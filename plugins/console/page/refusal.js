import { t } from './strings.js'

/** A request that was refused, or that nobody answered. The message is for people. */
export class Refusal extends Error {
  /**
   * @param {number} status 0: there was no answer
   * @param {string} message
   * @param {number} [retryAfter] seconds
   * @param {boolean} [asksWho] whether the gateway wants to know who is asking; an upstream's own 401, which is forwarded, does not
   */
  constructor(status, message, retryAfter, asksWho = false) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
    this.asksWho = asksWho
  }
}

/**
 * Why an answer refuses: in the words of the gateway, of text generation, or of an upstream; else in plain ones.
 * @param {Response} response
 */
export const refusalOf = async (response) => {
  const body = await response.json().catch(() => undefined)
  const said = body?.error?.message ?? body?.ResponseMetadata?.Error?.Message ?? body?.message
  const message = typeof said === 'string' && said !== '' ? said : t.errors.status(response.status)
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  const asksWho = response.status === 401 && response.headers.has('www-authenticate')
  return new Refusal(response.status, message, Number.isFinite(seconds) ? seconds : undefined, asksWho)
}

/** @param {unknown} error */
export const isAbort = (error) => error instanceof DOMException && error.name === 'AbortError'

/**
 * What to tell people about an error.
 * @param {unknown} error
 */
export const messageOf = (error) => (error instanceof Refusal ? error.message : t.errors.unexpected)
