const forbidden = /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}/\\?#%,"\ufffd]/u

const encoder = new TextEncoder()

/**
 * Validates an id: 1 to 256 bytes of text without control characters, spaces, or any of `/ \ ? # % , "`, and not a dot
 * segment.
 *
 * Returns undefined for anything else, which no user owns. A valid id is safe in a path, a comma-separated list and a
 * log line.
 */
export const readId = (text: unknown): string | undefined => {
  if (typeof text !== 'string' || text === '' || text === '.' || text === '..') return undefined
  if (text.length > 256 || forbidden.test(text) || !text.isWellFormed()) return undefined
  // A UTF-16 unit has at most three bytes in UTF-8.
  return text.length <= 85 || encoder.encode(text).length <= 256 ? text : undefined
}
