const forbidden = /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}/\\?#%,"\ufffd]/u

const encoder = new TextEncoder()

/**
 * An id as the gateway knows ids: 1 to 256 bytes of text without control characters, blanks, or any of `/ \ ? # % , "`, and not a dot segment. Undefined
 * for anything else, which nobody owns. So an id can stand in a path, in a comma-separated list and in a log line and stay one id.
 */
export const readId = (text: unknown): string | undefined => {
  if (typeof text !== 'string' || text === '' || text === '.' || text === '..') return undefined
  if (text.length > 256 || forbidden.test(text) || !text.isWellFormed()) return undefined
  // A unit of UTF-16 is at most three bytes.
  return text.length <= 85 || encoder.encode(text).length <= 256 ? text : undefined
}
